"""Answers of the accountant for a scene, as texts that the page shows unchanged."""

from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any

from shuffledp.accounting.account import account
from shuffledp.accounting.closed_form import closed_form_epsilons
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.privacy_profile import privacy_profile
from shuffledp.errors import InvalidInputError
from shuffledp.format_number import plain
from shuffledp.planning.protocol_plan import Wish
from shuffledp_services.explore.exports import command_of, python_of
from shuffledp_services.explore.scene import Scene
from shuffledp_services.explore.task_export import task_of

# Few points: with several rounds, each of them takes long to compute.
_PROFILE_POINTS = 17


def guarantee_of(scene: Scene) -> Guarantee:
    """Computes the guarantee of a scene with `account`."""
    # Every certified number of `answer` and the certificate come from this call.
    return account(
        scene.protocol,
        scene.people,
        delta=scene.delta,
        absent=scene.absent,
        rounds=scene.rounds,
    )


def quick(scene: Scene) -> dict[str, Any]:
    """Computes closed-form bounds: certified, but not tight."""
    # The page shows these until `answer` arrives, which takes longer.
    epsilons = closed_form_epsilons(
        scene.protocol,
        scene.people,
        delta=scene.delta,
        absent=scene.absent,
        rounds=scene.rounds,
    )
    levels = [
        {"level": plain(level), "people": people, "certified": plain(epsilon)}
        for (level, people), epsilon in zip(scene.levels, epsilons, strict=True)
    ]
    return _common_fields(scene) | {"levels": levels}


def answer(scene: Scene) -> dict[str, Any]:
    """Computes certificate, attack, expected error and exports for the page."""
    guarantee = guarantee_of(scene)
    return _common_fields(scene) | {
        "levels": [
            {
                "level": plain(entry.chosen),
                "people": entry.count,
                "hides_among": entry.hides_among,
                "certified": plain(entry.epsilon_central),
                "attack": plain(entry.epsilon_central_lower),
            }
            for entry in guarantee.levels
        ],
        "cautions": list(guarantee.cautions),
        "theorem": guarantee.theorem,
        "assumptions": list(guarantee.assumptions),
    }


def certificate(scene: Scene) -> dict[str, Any]:
    """Returns the certificate in the format of `shuffledp verify`."""
    return guarantee_of(scene).to_dict()


def profiles(scene: Scene) -> dict[str, Any]:
    """Computes the privacy profile of every level: upper bound and attack."""
    profiles_by_level = []
    for level, _ in scene.levels:
        profile = privacy_profile(
            scene.protocol,
            scene.people,
            level,
            num_points=_PROFILE_POINTS,
            absent=scene.absent,
            rounds=scene.rounds,
        )
        profiles_by_level.append(
            {
                "level": plain(level),
                "epsilons": profile.epsilons.tolist(),
                "certified": profile.certified.tolist(),
                "attacked": profile.attacked.tolist(),
            }
        )
    return {"query": scene.query, "profiles": profiles_by_level}


def plan(scene: Scene) -> dict[str, Any]:
    """Returns the planner's choice for these users in one round, with its reason."""
    wish = Wish(levels=dict(scene.levels), delta=scene.delta, absent=scene.absent)
    protocol_plan = scene.exploration.plan(wish, dict(scene.terms), scene.value)
    return {
        "query": scene.query,
        "reason": protocol_plan.reason,
        "options": [
            {
                "name": option.name,
                "mode": option.mode,
                "error": f"{option.error:.3g}",
                "worst": plain(option.guarantee.worst.epsilon_central),
            }
            for option in protocol_plan.options
        ],
        "left_out": list(protocol_plan.left_out),
    }


def _common_fields(scene: Scene) -> dict[str, Any]:
    """Returns the fields of an answer that need no certified number."""
    return {
        "query": scene.query,
        "statistic": scene.statistic,
        "delta": plain(scene.delta),
        "num_users": scene.people.num_users,
        "error": _expected(scene),
        "python": python_of(scene),
        "command": command_of(scene),
    }


# The answers that the page may request, by the path of the request.
ANSWERS: Mapping[str, Callable[[Scene], dict[str, Any]]] = {
    "quick": quick,
    "answer": answer,
    "certificate.json": certificate,
    "task": task_of,
    "profiles": profiles,
    "plan": plan,
}


def _expected(scene: Scene) -> dict[str, Any]:
    """Computes the expected standard error and a 95% interval around the value."""
    try:
        error, bias = scene.exploration.predict(
            scene.protocol, scene.people, scene.value
        )
    except InvalidInputError as refused:
        # The page shows the reason; the guarantee beside it still holds.
        return {"refused": str(refused)}
    # The normal approximation: the interval is for orientation, not certified.
    display = scene.exploration.words.display
    half_width = NormalDist().inv_cdf(0.975) * error
    return {
        "standard_error": error,
        "bias": bias,
        "value": scene.value,
        "interval": [scene.value - half_width, scene.value + half_width],
        "range": list(scene.value_range),
        "factor": display.factor,
        "suffix": display.suffix,
    }
