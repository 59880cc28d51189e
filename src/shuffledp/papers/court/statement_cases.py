"""Statements behind the theorems: numbers that are said to be at most so large, and are not.

Where a case has no epsilon, its setting says what the numbers are. What is exact is computed
here once more, from what the statement is about.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import quad

from shuffledp.papers.court.case import Case, Claim, CourtVerdict
from shuffledp.papers.court.noise import cell_chances, clip_laplace_tails
from shuffledp.papers.court.worlds import hockey_stick
from shuffledp.papers.eapes.imitation import printed_weight
from shuffledp.papers.eapes.normal_limit import normal_distances
from shuffledp.papers.eapes.process import counted_trade_off
from shuffledp.papers.hypothesis_testing.any_mechanism import mechanism_confusion
from shuffledp.randomizers.clip_laplace import ClipLaplace

_EAPES = "Chen, Cao, Ge (2023)"
_TESTING = "Liu, Liu, Xiong, Gu, Chen (2024)"
_NOTHING = "a statement, not a collection"
_CELLS = 20_000


def statement_cases() -> list[Case]:
    """Returns the cases of statements."""
    return [_imitation(), _places(), _normal(), _worst_value()]


def _imitation() -> Case:
    first, other = np.array([0.6, 0.4]), np.array([0.6 / math.e, 1.0 - 0.6 / math.e])
    return statement_case(
        "V14",
        f"{_EAPES}, Lemma 2, eq. (9)",
        "ln of how many times likelier R(x) or R(x') is than R(x''), where R(x) = R(x') = "
        "(0.6, 0.4) and R(x'') = (0.6, e - 0.6) / e, which is 1-private",
        lambda: -math.log(printed_weight(1.0)),
        lambda _: float(np.log(2.0 * first / other).max()),
    )


def _places() -> Case:
    places, liberal, rest = 200, 6.0, 0.1
    lie = 1.0 / (math.exp(liberal) + 2.0)

    def attack(epsilon: float) -> float:
        # The message at the liberal place is x. The victim is there once in 200 times;
        # the others hold a third value.
        truth = (1.0 - 2.0 * lie + (places - 1) * lie) / places
        here, there = (np.array([p, 1.0 - p]) for p in (truth, lie))
        return hockey_stick(here, there, epsilon)

    budgets = np.append(np.full(places - 1, rest), liberal)
    return statement_case(
        "V15",
        f"{_EAPES}, Theorem 1",
        f"three-ary response at {places} places, one with budget {liberal:g}, the others "
        f"with {rest:g}; people are shuffled over places",
        lambda: counted_trade_off(budgets).delta(1.0),
        attack,
        epsilon=1.0,
    )


def _normal() -> Case:
    return statement_case(
        "V16",
        f"{_EAPES}, Lemma 3, eq. (15)",
        "total variation distance of counts of 49 people at 0.1 from a normal law: they "
        "are whole numbers, and a normal law has no whole number",
        lambda: normal_distances(50, 0.1, delta=1 / 50).printed,
        lambda epsilon: hockey_stick(
            np.array([1.0, 0.0]), np.array([0.0, 1.0]), epsilon
        ),
        epsilon=0.0,
    )


def _worst_value() -> Case:
    edges = np.linspace(-1.0, 1.0, _CELLS + 1)[1:-1]
    tails = clip_laplace_tails(np.array([1.0]))

    def spared(_: float) -> float:
        first, second, other = (
            cell_chances(tails, edges, value)[0] for value in (-1.0, 1.0, -0.75)
        )
        pairs = ((first, second), (second, first))
        return 1.0 - min(other[(other <= a) & (b < a)].sum() for a, b in pairs)

    def stated() -> float:
        found, _ = mechanism_confusion(
            ClipLaplace(), np.array([1.0]), 1.0, value=-1.0
        )
        return 1.0 - float(found[0])

    return statement_case(
        "V17",
        f"{_TESTING}, Section 3.2.2",
        "1 - p_i under Clip-Laplace noise at 1: said to be largest where the other person "
        "holds -1 or 1; she holds -0.75",
        stated,
        spared,
    )


def statement_case(
    name: str,
    source: str,
    setting: str,
    stated: Callable[[], float],
    attack: Callable[[float], float],
    *,
    epsilon: float | None = None,
) -> Case:
    """Returns the case of a number that exceeds what is stated of it.

    Args:
        name: Of the case.
        source: Authors, year and number of the statement.
        setting: What the numbers are.
        stated: What the number is said to be at most.
        attack: (epsilon) -> what it is at least.
        epsilon: Where, if the numbers are deltas.
    """
    return Case(
        name=name,
        bound="statement",
        source=source,
        setting=setting,
        claim=lambda: Claim(epsilon, stated()),
        attack=attack,
        certificate=_NOTHING,
        expected=CourtVerdict.VIOLATED,
    )
