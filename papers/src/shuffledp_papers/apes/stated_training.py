"""Guarantees of a training as APES states them, per coordinate and user: not proven.

Per coordinate: the two counts of its Lemma 6, evaluated numerically, with clones averaged
over budgets (APES) or with all users at the largest budget (UniS); without a shuffle, the
local budget. For a whole update: advanced composition, over 2 b coordinates for S-APES.
At 10,000 users of Uniform2 and delta 3.6e-5 Table 3 prints 57.6 (APES), 25.6 (S-APES),
76.9 (UniS) and 40.1 (LDP-Min); from the same formulas we get 57.1, 25.4, 75.6 and 40.2.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Lemmas 2 and 6,
Proposition 1, Table 3.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp_papers.apes.amplification import ApesNumerical
from shuffledp_papers.apes.tables_program import DELTA_SHUFFLE, DELTA_USER
from shuffledp_papers.apes.user_level import composed_epsilon
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.outside_preconditions import OutsidePreconditions

# The tables have delta_s = 1e-8 for each of 7850 coordinates, out of 3.6e-5; advanced
# composition gets the remainder after tanh(e / 2) delta_s of each, at least 1e-8.
_COUNTS_DELTA_PART = 7850 * DELTA_SHUFFLE / DELTA_USER
_MIN_DELTA_PART = DELTA_SHUFFLE / DELTA_USER


class PublishedEpsilons(NamedTuple):
    """Epsilons that the paper states; None where it states none.

    Attributes:
        coordinate: Central epsilon of one coordinate in one round.
        user: Of all messages of one user in the whole training, at its delta.
    """

    coordinate: float | None
    user: float | None


def stated_by_apes(
    framework: str,
    people: Population,
    *,
    coordinates: int,
    rounds: int,
    delta: float,
    share: float,
) -> Callable[[float], PublishedEpsilons]:
    """Returns a function from a local budget to the stated guarantees of its users.

    >>> people = Population.from_counts({0.1: 500, 1.0: 500})
    >>> stated = stated_by_apes(
    ...     "pldp", people, coordinates=10, rounds=2, delta=1e-5, share=0.2
    ... )
    >>> stated(0.1)
    PublishedEpsilons(coordinate=0.1, user=2.0)

    Args:
        framework: "pldp" and "ldp-min", without a shuffle; "unis", "apes", "s-apes". For
            others the paper states nothing.
        people: The levels of all users.
        coordinates: d.
        rounds: T; d T coordinates are composed.
        delta: Of the whole training.
        share: b / d.

    Returns:
        A function of the local budget of one message.
    """
    num_steps = coordinates * rounds
    no_statement = PublishedEpsilons(None, None)

    if framework == "pldp":
        # Added up, as in Table 4, also where advanced composition states less.
        return lambda level: PublishedEpsilons(level, num_steps * level)
    if framework == "ldp-min":

        def smallest(level: float) -> PublishedEpsilons:
            advanced = composed_epsilon(level, times=num_steps, slack=delta)
            return PublishedEpsilons(level, min(num_steps * level, advanced))

        return smallest
    if framework not in ("apes", "s-apes", "unis"):
        return lambda _: no_statement
    # S-APES is stated for 2 b coordinates, with the same delta for each as APES.
    num_composed = num_steps
    if framework == "s-apes":
        num_composed = 2 * max(1, round(share * coordinates)) * rounds
    # The two counts' delta, which the largest budget is stated to reduce by tanh(e / 2).
    scale = math.tanh(float(people.epsilons[-1]) / 2.0)
    # 2 b may exceed d.
    max_steps = max(num_steps, num_composed)
    delta_per_step = (
        min(_COUNTS_DELTA_PART * scale, 1.0 - _MIN_DELTA_PART) * delta / max_steps
    )
    slack = delta - num_composed * delta_per_step
    counts_delta = delta_per_step / scale if scale > 0.0 else 1.0
    # Exact counts: the tables' are coarser, and up to 2 percent larger
    # (`tables_program`).
    bound = ApesNumerical(clones="uniform" if framework == "unis" else "personal")
    try:
        coordinate_epsilon = bound.epsilon(Setting(people, ClipLaplace()), counts_delta)
        user_epsilon = composed_epsilon(
            coordinate_epsilon, times=num_composed, slack=slack
        )
    # Where a premise fails, the paper states nothing.
    except (InvalidInputError, OutsidePreconditions):
        return lambda _: no_statement
    return lambda _: PublishedEpsilons(coordinate_epsilon, user_epsilon)
