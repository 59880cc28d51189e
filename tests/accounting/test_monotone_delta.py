"""A delta that is certified at an epsilon is certified at every larger one."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp import Frequency, Population, account
from shuffledp.accounting.monotone_delta import MonotoneDelta
from shuffledp.accounting.upper_profiles import upper_profiles
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.laplace import Laplace
from shuffledp.statistics.single_message import SingleMessage


def unknown(_epsilon: float) -> float:
    return math.nan


@pytest.mark.parametrize("fails_from", [0.3, 1e-2])
@pytest.mark.parametrize("epsilon", [0.3, 0.7, 4.0])
def test_the_best_rung_below_is_used(fails_from: float, epsilon: float) -> None:
    def bound(place: float) -> float:
        return math.exp(-place) if place < fails_from else math.inf

    found = MonotoneDelta(bound, unknown).least(epsilon, 1.0)

    # Fine rungs are 1.1% apart.
    assert math.exp(-fails_from) <= found <= math.exp(-fails_from / 1.011)


def test_rungs_are_computed_once_and_only_where_they_are_needed() -> None:
    asked = []

    def bound(place: float) -> float:
        asked.append(place)
        return 1.0 / place

    ladder = MonotoneDelta(bound, unknown)

    assert [ladder.least(5.0, 0.1) for _ in range(3)] == [0.1, 0.1, 0.1]
    assert len(asked) == 2
    assert ladder.least(5.0, 0.9) == 1.0 / max(asked)
    assert 4.94 <= max(asked) <= 5.0


def test_flat_bounds_end_the_search_and_are_used() -> None:
    asked = []

    def bound(epsilon: float) -> float:
        asked.append(epsilon)
        return 0.5 * (1.0 + 1e-9 * epsilon)

    least = MonotoneDelta(bound, unknown).least(64.0, 0.5 * (1.0 + 1e-7))

    assert least == 0.5 * (1.0 + 1e-9 * min(asked))
    assert len(asked) == 2


def test_one_bound_is_evaluated_where_estimates_are_well_above_it() -> None:
    asked = []

    def bound(epsilon: float) -> float:
        asked.append(epsilon)
        return math.exp(-10.0 * epsilon)

    least = MonotoneDelta(bound, bound).least(1.5, bound(1.5))
    evaluated = MonotoneDelta(bound, unknown).least(1.5, bound(1.5))

    assert least == evaluated == bound(1.5)
    # Two estimates and a bound, two bounds where no estimate is known, and those that are
    # asked for here.
    assert len(asked) == 2 + 1 + 2 + 3


def test_each_point_is_estimated_once() -> None:
    asked = []

    def estimate(epsilon: float) -> float:
        asked.append(epsilon)
        return 1e-6

    ladder = MonotoneDelta(lambda _: math.inf, estimate)
    epsilons = [1.01, 1.02, 1.03]

    assert [ladder.least(epsilon, 0.5) for epsilon in epsilons] == [0.5] * 3
    # Forty points of one grid, and the epsilons themselves.
    assert len(asked) == len(set(asked)) == 40 + 3


def test_estimates_are_not_trusted_where_they_exceed_a_bound() -> None:
    def bound(epsilon: float) -> float:
        return 1e-9 * (1.0 + epsilon)

    least = MonotoneDelta(bound, lambda _: 0.5).least(4.0, bound(4.0))

    assert least < 0.1 * bound(4.0) + 0.9 * bound(3.0)


@given(epsilon=st.floats(5e-324, 1e308), found=st.floats(0.0, 1.0))
def test_where_nothing_is_known_the_number_stays(epsilon: float, found: float) -> None:
    rungs: list[float] = []

    def bound(place: float) -> float:
        rungs.append(place)
        return math.inf

    assert MonotoneDelta(bound, unknown).least(epsilon, found) == found
    assert all(0.0 < place <= epsilon for place in rungs)


CASES: list[tuple[Any, dict[float, int], float]] = [
    (Frequency(17), {2.0: 10**9}, 1e-300),
    (SingleMessage(Laplace()), {1.0: 10**5, 10.0: 10}, 1e-300),
    (SingleMessage(ClipLaplace(1.0)), {1.0: 10**5, 10.0: 10}, 1e-300),
    (SingleMessage(Gaussian()), {8.0: 10**5}, 1e-11),
]


@pytest.mark.parametrize(
    ("protocol", "counts", "at_half"),
    [CASES[0], *(pytest.param(*case, marks=pytest.mark.slow) for case in CASES[1:])],
    ids=str,
)
def test_delta_falls_with_epsilon_and_is_never_vacuous(
    protocol: Any, counts: dict[float, int], at_half: float
) -> None:
    people, victim = Population.from_counts(counts), max(counts)

    answers = [
        account(protocol, people, epsilon=part * victim, levels=[victim]).levels[0]
        for part in (0.01, 0.1, 0.2, 0.35, 0.5, 0.6, 0.8, 0.99)
    ]

    deltas = [answer.delta_central for answer in answers]
    # Within the last hundredth before it stops being known delta may fall by so much.
    assert all(later <= 2.0 * earlier for earlier, later in itertools.pairwise(deltas))
    assert deltas[4] <= at_half
    assert all(answer.delta_central_lower <= answer.delta_central for answer in answers)


def test_a_profile_that_is_refused_is_that_of_a_smaller_epsilon() -> None:
    people = Population.from_counts({2.0: 10**9})
    (profile,) = upper_profiles(Frequency(17).randomizer, people, [0], delta=1e-300)

    known = profile.delta(0.1)

    for epsilon in np.linspace(0.1, 1.99, 12).tolist():
        assert profile.delta(epsilon) <= known


def test_a_bound_that_falls_all_the_way_is_refined_where_it_ends() -> None:
    asked = []

    def bound(epsilon: float) -> float:
        asked.append(epsilon)
        # Least between two coarse points, which are 2^(1 / 4) apart.
        return 1e-6 + abs(math.log(epsilon / 0.107))

    least = MonotoneDelta(bound, unknown).least(64.0, 10.0)

    assert least <= bound(0.107) + 0.02
    # Coarse points down to there and two more, and a few between the last three.
    assert len(asked) <= 40 + 2 + 10
