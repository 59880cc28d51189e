"""Divergences under a tilt, against sums of the definition's own terms."""

import math
from fractions import Fraction

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from oracles.bits import Crowd, random_crowd

from shuffledp.accounting.two_messages.binary_population import BinaryPopulation, wider
from shuffledp.accounting.two_messages.tilted import TiltedPopulation
from shuffledp.accounting.two_messages.tilted_bounds import box_bounds, data_bounds
from shuffledp.errors import CertificationError


def log_budget(crowd: Crowd) -> float:
    return math.log(crowd.first / crowd.second)


@pytest.mark.parametrize("seed", range(16))
def test_data_lie_between_their_two_ends(seed: int) -> None:
    rng = np.random.default_rng(seed)
    crowd = random_crowd(rng)
    holders = rng.integers(0, crowd.counts + 1)
    epsilon = float(rng.uniform(0.0, 0.98)) * log_budget(crowd)

    tilted = TiltedPopulation(wider(crowd.bits, crowd.counts), epsilon)
    (lower,), (upper,) = data_bounds(tilted, holders[None, :].astype(float))

    exact = crowd.precise_divergence(holders.tolist(), epsilon)
    assert mp.exp(lower) <= exact * (1 + mp.mpf("1e-12"))
    assert exact <= mp.exp(upper)
    # Sums below e^-50 of the law are not resolved.
    assert mp.exp(upper) - mp.exp(lower) <= mp.mpf("3e-9") * exact + mp.mpf("1e-15")


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 3e-3])
@pytest.mark.parametrize("agree", [True, False])
def test_ten_million_people_who_agree_against_the_beta_function(
    epsilon: float, *, agree: bool
) -> None:
    n, level = 10**7, 1.0
    flip = 1.0 / (math.exp(level) + 1.0)
    crowd = BinaryPopulation(
        np.array([flip]),
        np.array([flip]),
        np.array([float(n)]),
        math.tanh(level / 2.0),
        flip,
    )

    (lower,), (upper,) = data_bounds(
        TiltedPopulation(crowd, epsilon), np.array([[float(n) * agree]])
    )

    chance = mp.mpf(flip) if not agree else 1 - mp.mpf(flip)
    gap = math.tanh(level / 2.0)
    exact = divergence_of_equal_coins(n, chance, gap, flip, epsilon)
    assert mp.exp(lower) <= exact <= mp.exp(upper)
    assert upper - lower < 1e-6


@pytest.mark.parametrize("seed", range(30))
def test_no_data_of_a_box_exceed_its_bound(seed: int) -> None:
    rng = np.random.default_rng(1_000 + seed)
    crowd = random_crowd(rng, most=(30, 7, 4))
    epsilon = float(rng.uniform(0.0, 0.95)) * log_budget(crowd)
    low = rng.integers(0, crowd.counts + 1)
    high = rng.integers(low, crowd.counts + 1)
    tilted = TiltedPopulation(wider(crowd.bits, crowd.counts), epsilon)

    (upper,), (doubt,), _ = box_bounds(
        tilted, low[None, :].astype(float), high[None, :].astype(float)
    )

    inside = [
        crowd.divergence(data, epsilon)
        for data in crowd.all_data()
        if np.all(low <= data) and np.all(data <= high)
    ]
    assert max(inside) <= math.exp(upper) * (1.0 + 1e-12) + 1e-15
    assert np.all((doubt == 0.0) == (low == high))


@pytest.mark.parametrize("radius", [200.0, 800.0, 2_000.0])
def test_a_box_is_hardly_worse_than_its_worst_data(radius: float) -> None:
    users = np.full(3, 4_000.0)
    population = BinaryPopulation(
        np.array([0.1, 0.2, 0.3]), np.array([0.15, 0.2, 0.25]), users, 0.6, 0.2
    )
    tilted = TiltedPopulation(population, 0.05)
    middle = users[None, :] / 2.0

    (upper,), _, rise = box_bounds(tilted, middle - radius, middle + radius)

    worst = middle + np.copysign(radius, rise)
    (least, most), _ = data_bounds(tilted, np.vstack([2.0 * middle - worst, worst]))
    # The growth of exponent and sum with the data is no error.
    assert most <= upper <= most + 0.03 * (most - least)


def test_values_between_the_ends_are_no_worse() -> None:
    # Somebody may hold a value whose chance lies anywhere between.
    crowd = Crowd(np.array([0.2]), np.array([0.7]), np.array([6]), 0.8, 0.2)
    rng = np.random.default_rng(3)
    for epsilon in (0.0, 0.3, 0.9):
        worst = max(crowd.divergence(data, epsilon) for data in crowd.all_data())
        for _ in range(50):
            between = rng.uniform(0.2, 0.7, 6)
            mixed = Crowd(between, between, np.ones(6, dtype=np.int64), 0.8, 0.2)
            assert mixed.divergence([0] * 6, epsilon) <= worst * (1.0 + 1e-12)


def test_nothing_is_said_beyond_the_victims_own_budget() -> None:
    crowd = random_crowd(np.random.default_rng(0))
    with pytest.raises(CertificationError, match="Nothing is left"):
        TiltedPopulation(wider(crowd.bits, crowd.counts), log_budget(crowd) + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("zeros", [0.05, 0.49, 0.5, 0.6, 0.8])
@pytest.mark.parametrize("holders", [0.0, 1.0])
def test_many_people_of_any_chance_are_rounded_outward(
    zeros: float, holders: float
) -> None:
    n, ones = 10**7, 0.05
    crowd = BinaryPopulation(
        np.array([ones]), np.array([zeros]), np.array([n + 0.0]), 0.1, 0.05
    )

    for epsilon in (4e-5, 1e-4, 2e-4):
        (lower,), (upper,) = data_bounds(
            TiltedPopulation(crowd, epsilon), np.array([[n * holders]])
        )
        chance = mp.mpf(ones) if holders == 0.0 else 1 - mp.mpf(zeros)
        exact = divergence_of_equal_coins(n, chance, 0.1, 0.05, epsilon)
        assert mp.exp(lower) <= exact <= mp.exp(upper)


def divergence_of_equal_coins(
    n: int, p: mp.mpf, gap: float, stray: float, epsilon: float
) -> mp.mpf:
    """The divergence if n others send a 1 with this chance each, term by term."""
    rise = mp.expm1(mp.mpf(epsilon))
    top = mp.mpf(gap) - rise * mp.mpf(stray)
    r = top / (top + rise)
    best = int(mp.floor((n + 1) * p / (p + (1 - p) * r))) + 1

    def at(t: int) -> mp.mpf:
        logs = mp.loggamma(n + 1) - mp.loggamma(t) - mp.loggamma(n - t + 2)
        weight = mp.exp(logs + (t - 1) * mp.log(p) + (n - t + 1) * mp.log(1 - p))
        # P(S >= t) term by term: each is a known multiple of the one before.
        term, tail, k = weight * (n - t + 1) / t * p / (1 - p), mp.mpf(0), t
        while term > weight * mp.mpf("1e-18"):
            tail += term
            k += 1
            term *= mp.mpf(n - k + 1) / k * p / (1 - p)
        return top * weight - rise * tail

    # The ratio of neighboring terms is r there; those beside it are no better.
    return max(at(t) for t in (best - 1, best, best + 1))


@pytest.mark.parametrize("bands", [1, 64, 256])
def test_sums_over_bands_are_off_by_no_more_than_is_stated_in_any_order(
    bands: int,
) -> None:
    rng = np.random.default_rng(bands)
    crowd = BinaryPopulation(
        ones=rng.uniform(0.01, 0.4, bands),
        zeros=rng.uniform(0.01, 0.4, bands),
        counts=rng.integers(1, 10**7, bands).astype(float),
        gap=0.4,
        stray=0.1,
    )
    tilted = TiltedPopulation(crowd, 0.01)
    holders = np.floor(rng.random((20, bands)) * crowd.counts)
    sizes = np.abs(tilted.low_exponent) + np.abs(tilted.high_exponent)

    exponents = tilted.exponents(holders)
    for row, exponent in zip(holders, exponents.tolist(), strict=True):
        products = [
            Fraction(count) * Fraction(size)
            for count, size in zip(
                [*(crowd.counts - row).tolist(), *row.tolist()],
                [*tilted.low_exponent.tolist(), *tilted.high_exponent.tolist()],
                strict=True,
            )
        ]
        assert abs(Fraction(exponent) - sum(products)) <= tilted.exponent_error

    # One after the other, a sum of n products may lose n times half a digit.
    worst = 2 * bands * 2.0**-53 * float(crowd.counts @ sizes)
    assert tilted.exponent_error >= worst


@pytest.mark.filterwarnings("error")
def test_an_epsilon_next_to_a_huge_budget_is_refused_without_a_warning() -> None:
    # What is left of the gap is so little that the tilt overflows.
    crowd = BinaryPopulation(
        np.array([0.06]), np.array([0.06]), np.array([5.0]), np.float64(1e-5), 0.0
    )

    with pytest.raises(CertificationError, match="too close to the budget"):
        TiltedPopulation(crowd, 699.99)
