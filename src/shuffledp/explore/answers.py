"""What the accountant says of a scene, in texts that a page shows as they are."""

from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any

from shuffledp.accounting.account import account
from shuffledp.accounting.closed_form import closed_form_epsilons
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.privacy_profile import privacy_profile
from shuffledp.errors import InvalidInputError
from shuffledp.explore.exports import command_of, python_of
from shuffledp.explore.scene import Scene
from shuffledp.explore.task import task_of
from shuffledp.format_number import plain
from shuffledp.planning.frequency_plan import plan_frequency
from shuffledp.planning.mean_plan import plan_mean
from shuffledp.planning.protocol_plan import Wish

# Points of several rounds take long.
_PROFILE_POINTS = 17


def guarantee_of(scene: Scene) -> Guarantee:
    """Returns what `account` says: there is no other way to a number here."""
    return account(
        scene.protocol,
        scene.people,
        delta=scene.delta,
        absent=scene.absent,
        rounds=scene.rounds,
    )


def quick(scene: Scene) -> dict[str, Any]:
    """Returns what the page shows until `answer` is there: certified, but not tight."""
    found = closed_form_epsilons(
        scene.protocol,
        scene.people,
        delta=scene.delta,
        absent=scene.absent,
        rounds=scene.rounds,
    )
    levels = [
        {"level": plain(level), "people": people, "certified": plain(epsilon)}
        for (level, people), epsilon in zip(scene.levels, found, strict=True)
    ]
    return _around(scene) | {"levels": levels}


def answer(scene: Scene) -> dict[str, Any]:
    """Returns what the page shows first: certificate, attack, expected error, exports."""
    guarantee = guarantee_of(scene)
    return _around(scene) | {
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
    """Returns the certificate, as `shuffledp verify` reads it."""
    return guarantee_of(scene).to_dict()


def profiles(scene: Scene) -> dict[str, Any]:
    """Returns the privacy profile of every level, certified and attacked."""
    found = []
    for level, _ in scene.levels:
        profile = privacy_profile(
            scene.protocol,
            scene.people,
            level,
            num_points=_PROFILE_POINTS,
            absent=scene.absent,
            rounds=scene.rounds,
        )
        found.append(
            {
                "level": plain(level),
                "epsilons": profile.epsilons.tolist(),
                "certified": profile.certified.tolist(),
                "attacked": profile.attacked.tolist(),
            }
        )
    return {"query": scene.query, "profiles": found}


def plan(scene: Scene) -> dict[str, Any]:
    """Returns what the planner would choose for these people in one round, and why."""
    wish = Wish(levels=dict(scene.levels), delta=scene.delta, absent=scene.absent)
    terms = dict(scene.terms)
    if scene.statistic == "frequency":
        found = plan_frequency(
            wish, num_categories=int(terms["categories"]), share=scene.value
        )
    else:
        found = plan_mean(wish, low=terms["low"], high=terms["high"], mean=scene.value)
    return {
        "query": scene.query,
        "reason": found.reason,
        "options": [
            {
                "name": option.name,
                "mode": option.mode,
                "error": f"{option.error:.3g}",
                "worst": plain(option.guarantee.worst.epsilon_central),
            }
            for option in found.options
        ],
        "left_out": list(found.left_out),
    }


def _around(scene: Scene) -> dict[str, Any]:
    """Returns what stands around certified numbers and needs none."""
    return {
        "query": scene.query,
        "statistic": scene.statistic,
        "delta": plain(scene.delta),
        "num_users": scene.people.num_users,
        "error": _expected(scene),
        "python": python_of(scene),
        "command": command_of(scene),
    }


# What the page may ask for, by the path it asks at.
ANSWERS: Mapping[str, Callable[[Scene], dict[str, Any]]] = {
    "quick": quick,
    "answer": answer,
    "certificate.json": certificate,
    "task": task_of,
    "profiles": profiles,
    "plan": plan,
}


def _expected(scene: Scene) -> dict[str, Any]:
    """Returns the standard error to expect, and a 95% interval around the value."""
    protocol, people = scene.protocol, scene.people
    frequency = scene.statistic == "frequency"
    low, high = (0.0, 1.0) if frequency else (protocol.low, protocol.high)
    known = {"share" if frequency else "mean": scene.value}
    try:
        error = float(protocol.predicted_error(people, **known))
        bias = 0.0 if frequency else float(protocol.predicted_bias(people, **known))
    except InvalidInputError as refused:
        return {"refused": str(refused)}
    reach = NormalDist().inv_cdf(0.975) * error
    return {
        "standard_error": error,
        "bias": bias,
        "value": scene.value,
        "interval": [scene.value - reach, scene.value + reach],
        "range": [low, high],
    }
