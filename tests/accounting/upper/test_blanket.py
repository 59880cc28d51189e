import itertools
import math
from fractions import Fraction

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.multiprecision import BlanketSum

from shuffledp import Population
from shuffledp.accounting.upper import blanket
from shuffledp.accounting.upper.blanket import UpperBound, blanket_bounds
from shuffledp.accounting.upper.blanket_population import others_of
from shuffledp.accounting.upper.contour import ContourBound
from shuffledp.accounting.upper_profiles import upper_profiles
from shuffledp.cover import LocalRandomizer
from shuffledp.randomizers.kary_response import KRandomizedResponse

POPULATIONS = [
    (2, {1.0: 60}, 1.0),
    (2, {0.3: 12, 1.0: 9, 2.5: 9}, 2.5),
    (2, {0.3: 12, 1.0: 9, 2.5: 9}, 0.3),
    (3, {0.3: 10, 1.0: 10, 2.5: 10}, 1.0),
    (3, {0.5: 20, 4.0: 10}, 4.0),
    (17, {0.5: 10, 1.0: 10, 2.0: 10}, 2.0),
    (17, {1.0: 40}, 1.0),
]


def blanket_of(
    device: LocalRandomizer, people: Population, victim: int, delta: float
) -> UpperBound:
    """The blanket bound alone, even where another one is better."""
    (upper,) = upper_profiles(device, people, [victim], delta=delta)
    return upper.bounds["blanket"]


@pytest.mark.slow
@pytest.mark.parametrize(("num_categories", "counts", "victim"), POPULATIONS)
def test_delta_is_just_above_the_double_sum_in_fifty_digits(
    num_categories: int, counts: dict[float, int], victim: float
) -> None:
    oracle = BlanketSum(counts, victim, num_categories)
    people, position = Population.from_counts(counts), sorted(counts).index(victim)

    deltas = []
    for share in (0.0, 0.1, 0.3, 0.6, 0.85, 0.97):
        epsilon = share * victim
        exact = oracle.delta(epsilon)
        device = KRandomizedResponse(num_categories)
        bound = blanket_of(device, people, position, float(exact))
        deltas.append((exact, bound.delta(epsilon)))

    for exact, upper in deltas:
        # Hardly anything is lost at this size.
        assert exact <= upper <= exact * (1 + mp.mpf("1e-4"))


@pytest.mark.slow
def test_delta_far_out_in_the_tail_is_just_above_the_double_sum() -> None:
    oracle = BlanketSum({0.3: 150}, 0.3, 2)
    people = Population.from_counts({0.3: 150})
    epsilons = [0.27, 0.29, 0.295, 0.299, 0.2999]

    bound = blanket_of(KRandomizedResponse(2), people, 0, 1e-45)
    deltas = [bound.delta(epsilon) for epsilon in epsilons]

    assert min(deltas) < 1e-40 < max(deltas) < 1e-20
    for epsilon, upper in zip(epsilons, deltas, strict=True):
        assert oracle.delta(epsilon) <= upper <= oracle.delta(epsilon) * (1 + 1e-4)


@pytest.mark.slow
@given(
    losses=st.tuples(*[st.integers(-20, 20)] * 3),
    parts=st.tuples(*[st.integers(1, 9)] * 3),
)
def test_expected_positive_mean_loss_never_increases_with_the_count(
    losses: tuple[int, int, int], parts: tuple[int, int, int]
) -> None:
    chances = [Fraction(part, sum(parts)) for part in parts]

    means = []
    for m in range(1, 6):
        mean = Fraction(0)
        for drawn in itertools.product(range(3), repeat=m):
            weight = Fraction(1)
            for index in drawn:
                weight *= chances[index]
            mean += weight * max(sum(losses[index] for index in drawn), 0) / m
        means.append(mean)

    assert all(a >= b for a, b in itertools.pairwise(means))


@pytest.mark.parametrize(
    ("count", "kind"), [(100, blanket._Prepared), (10**5, ContourBound)]
)
def test_few_messages_are_counted_and_many_integrated(
    count: int, kind: type[object]
) -> None:
    crowd = Population.from_counts({0.5: count, 2.0: count})
    covers = KRandomizedResponse(5).covers([0.5, 2.0], crowd, delta=1e-8)

    bounds = blanket_bounds(covers, crowd.counts, [0, 1], tail=1e-20)

    assert [type(bound) for bound in bounds] == [kind, kind]


def test_a_victim_does_not_hide_behind_herself() -> None:
    crowd = Population.from_counts({0.5: 1, 2.0: 3})
    covers = KRandomizedResponse(5).covers([0.5, 2.0], crowd, delta=1e-8)

    bounds = blanket_bounds(covers, crowd.counts, [0, 1], tail=1e-20)

    for victim, bound in zip([0.5, 2.0], bounds, strict=True):
        oracle = BlanketSum({0.5: 1, 2.0: 3}, victim, 5)
        # Nothing is rounded but the arithmetic itself.
        assert oracle.delta(0.1) <= bound.delta(0.1) <= oracle.delta(0.1) * (1 + 1e-6)


def test_spread_is_that_of_a_normal_loss_with_the_certified_delta() -> None:
    people = Population.from_counts({0.5: 1000, 2.0: 1000})

    profiles = upper_profiles(KRandomizedResponse(17), people, [0, 1], delta=1e-6)

    for profile in profiles:
        # Of a normal loss, delta at 0 is P(|Z| < spread / 2), Z standard normal.
        normal = math.erf(profile.spread / math.sqrt(8.0))
        assert profile.falling_delta(0.0) == pytest.approx(normal, rel=0.01)


@pytest.mark.parametrize("seed", range(20))
def test_those_who_give_most_are_absent(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    gammas = rng.choice([0.1, 0.2, 0.3, 0.3, 0.5], size)
    counts = rng.integers(1, 4, size)
    target = int(rng.integers(size))
    others = [
        (-gamma, level)
        for level, (gamma, count) in enumerate(zip(gammas, counts, strict=True))
        for _ in range(count - (level == target))
    ]

    for absent in range(len(others) + 1):
        left = others_of(gammas, counts, target, absent)

        levels = [level for _, level in sorted(others)[absent:]]
        assert left.tolist() == np.bincount(levels, minlength=size).tolist()
