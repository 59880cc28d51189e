"""The worst of all data of few people, against fifty digits at every data set."""

import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from oracles.bits import Crowd, random_crowd

from shuffledp.accounting.two_messages.all_data import num_products, worst_of_all
from shuffledp.accounting.two_messages.binary_population import wider
from shuffledp.accounting.two_messages.branch_and_bound import likely_worst
from shuffledp.accounting.two_messages.tilted import TiltedPopulation


def tilted_at(crowd: Crowd, part: float) -> tuple[TiltedPopulation, float]:
    """Returns a population at a part of its target user's budget, and the epsilon."""
    epsilon = part * math.log(crowd.first / crowd.second)
    return TiltedPopulation(wider(crowd.bits, crowd.counts), epsilon), epsilon


def of_levels(levels: list[float], counts: list[int], victim: float) -> Crowd:
    flips = 1.0 / (np.exp(levels) + 1.0)
    flip = 1.0 / (math.exp(victim) + 1.0)
    return Crowd(flips, 1.0 - flips, np.array(counts), 1.0 - flip, flip)


def worst_by_enumeration(crowd: Crowd, epsilon: float) -> mp.mpf:
    """Returns the largest divergence: of the likeliest worst in doubles, precisely."""
    data = sorted(crowd.all_data(), key=lambda each: -crowd.divergence(each, epsilon))
    return max(crowd.precise_divergence(each, epsilon) for each in data[:3])


@pytest.mark.parametrize("seed", range(24))
def test_no_data_are_worse_and_some_are_as_bad(seed: int) -> None:
    rng = np.random.default_rng(8_000 + seed)
    crowd = random_crowd(rng)
    tilted, epsilon = tilted_at(crowd, float(rng.uniform(0.0, 0.95)))

    data, upper = worst_of_all(tilted, likely_worst(tilted).lower)

    exact = worst_by_enumeration(crowd, epsilon)
    assert exact <= mp.exp(upper)
    # Whole bands of a population are wider by some units in the last place.
    assert mp.exp(upper) <= exact * (1 + mp.mpf("2e-8")) + mp.mpf("1e-250")
    seen = crowd.precise_divergence([int(n) for n in data], epsilon)
    assert seen >= exact * (1 - mp.mpf("1e-9"))


@pytest.mark.parametrize(
    ("levels", "counts", "victim", "part"),
    [
        # Draws that are nearly certain, and a tilt of e^12: 1e-60 and less.
        ([12.0, 15.0, 18.0], [9, 3, 2], 12.0, 0.9),
        ([30.0, 0.02], [6, 7], 30.0, 0.95),
        # Near the budget, where the tilt is largest.
        ([0.5, 2.0, 6.0], [4, 5, 6], 6.0, 0.9999),
        ([0.1, 0.2, 0.3, 0.4], [2, 3, 2, 3], 0.4, 0.999),
        # Nobody's holders matter, or one person's only.
        ([1e-9, 1.0], [5, 1], 1.0, 0.5),
        ([1.0], [17], 1.0, 0.3),
        ([1.0], [1], 1.0, 0.3),
    ],
)
def test_extreme_draws_keep_their_digits(
    levels: list[float], counts: list[int], victim: float, part: float
) -> None:
    crowd = of_levels(levels, counts, victim)
    tilted, epsilon = tilted_at(crowd, part)

    _, upper = worst_of_all(tilted, likely_worst(tilted).lower)

    exact = max(crowd.precise_divergence(data, epsilon) for data in crowd.all_data())
    assert exact <= mp.exp(upper)
    # Near the budget a tilt is rounded by more than elsewhere.
    assert mp.exp(upper) <= exact * (1 + mp.mpf("1e-6"))


@pytest.mark.parametrize("seed", range(6))
def test_data_that_are_left_out_are_no_worse(seed: int) -> None:
    rng = np.random.default_rng(9_000 + seed)
    tilted, _ = tilted_at(random_crowd(rng), float(rng.uniform(0.0, 0.95)))

    of_all = worst_of_all(tilted, -math.inf)[1]
    of_some = worst_of_all(tilted, likely_worst(tilted).lower)[1]

    assert of_some == pytest.approx(of_all, rel=1e-12)


def test_products_are_counted_before_they_are_made() -> None:
    few, many = np.array([5.0, 4.0, 3.0]), np.array([60.0, 60.0, 59.0])

    # Six by twenty data of up to 7 and 5 people; tiles take longer.
    assert 120 * 6 <= num_products(few) <= 3e6
    assert num_products(many) > 1e8
    assert num_products(np.full(256, 5_000.0)) == math.inf
