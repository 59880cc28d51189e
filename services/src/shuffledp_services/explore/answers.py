"""Answers of the accountant for a query, as texts that the page shows unchanged."""

from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any

from shuffledp.accounting.account import account
from shuffledp.accounting.closed_form import closed_form_epsilons
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.privacy_profile import privacy_profile
from shuffledp.errors import InvalidInputError
from shuffledp.format_number import plain
from shuffledp.planning.wish import Wish
from shuffledp_services.explore.explore_query import ExploreQuery
from shuffledp_services.explore.exports import command_of, python_of
from shuffledp_services.explore.task_export import task_of

# Few points: with several rounds, each of them takes long to compute.
_PROFILE_POINTS = 17


def guarantee_of(query: ExploreQuery) -> Guarantee:
    """Computes the guarantee of a query with `account`."""
    # Every certified number of `answer` and the certificate come from this call.
    return account(
        query.protocol,
        query.people,
        delta=query.delta,
        absent=query.absent,
        rounds=query.rounds,
    )


def quick(query: ExploreQuery) -> dict[str, Any]:
    """Computes closed-form bounds: certified, but not tight."""
    # The page shows these until `answer` arrives, which takes longer.
    epsilons = closed_form_epsilons(
        query.protocol,
        query.people,
        delta=query.delta,
        absent=query.absent,
        rounds=query.rounds,
    )
    levels = [
        {"level": plain(level), "people": people, "certified": plain(epsilon)}
        for (level, people), epsilon in zip(query.levels, epsilons, strict=True)
    ]
    return _common_fields(query) | {"levels": levels}


def answer(query: ExploreQuery) -> dict[str, Any]:
    """Computes certificate, attack, expected error and exports for the page."""
    guarantee = guarantee_of(query)
    return _common_fields(query) | {
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


def certificate(query: ExploreQuery) -> dict[str, Any]:
    """Returns the certificate in the format of `shuffledp verify`."""
    return guarantee_of(query).to_dict()


def profiles(query: ExploreQuery) -> dict[str, Any]:
    """Computes the privacy profile of every level: upper bound and attack."""
    profiles_by_level = []
    for level, _ in query.levels:
        profile = privacy_profile(
            query.protocol,
            query.people,
            level,
            num_points=_PROFILE_POINTS,
            absent=query.absent,
            rounds=query.rounds,
        )
        profiles_by_level.append(
            {
                "level": plain(level),
                "epsilons": profile.epsilons.tolist(),
                "certified": profile.certified.tolist(),
                "attacked": profile.attacked.tolist(),
            }
        )
    return {"query": query.query_string, "profiles": profiles_by_level}


def plan(query: ExploreQuery) -> dict[str, Any]:
    """Returns the planner's choice for these users in one round, with its reason."""
    wish = Wish(levels=dict(query.levels), delta=query.delta, absent=query.absent)
    protocol_plan = query.exploration.plan(wish, dict(query.terms), query.value)
    return {
        "query": query.query_string,
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


def _common_fields(query: ExploreQuery) -> dict[str, Any]:
    """Returns the fields of an answer that need no certified number."""
    return {
        "query": query.query_string,
        "statistic": query.statistic,
        "delta": plain(query.delta),
        "num_users": query.people.num_users,
        "error": _expected(query),
        "python": python_of(query),
        "command": command_of(query),
    }


# The answers that the page may request, by the path of the request.
ANSWERS: Mapping[str, Callable[[ExploreQuery], dict[str, Any]]] = {
    "quick": quick,
    "answer": answer,
    "certificate.json": certificate,
    "task": task_of,
    "profiles": profiles,
    "plan": plan,
}


def _expected(query: ExploreQuery) -> dict[str, Any]:
    """Computes the expected standard error and a 95% interval around the value."""
    try:
        error, bias = query.exploration.predict(
            query.protocol, query.people, query.value
        )
    except InvalidInputError as refused:
        # The page shows the reason; the guarantee beside it still holds.
        return {"refused": str(refused)}
    # The normal approximation: the interval is for orientation, not certified.
    display = query.exploration.words.display
    half_width = NormalDist().inv_cdf(0.975) * error
    return {
        "standard_error": error,
        "bias": bias,
        "value": query.value,
        "interval": [query.value - half_width, query.value + half_width],
        "range": list(query.value_range),
        "factor": display.factor,
        "suffix": display.suffix,
    }
