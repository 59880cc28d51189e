"""Exact pairs of noise on a count, against known values and two-dimensional sums."""

import math

import pytest
from covering import covering
from oracles.bucket_counts import (
    exact_divergence,
    in_two_buckets,
    negative_binomial,
    plus_and_minus,
    with_one_plus,
)

from shuffledp.accounting.counts.count_noise import (
    CountNoise,
    PoissonNoise,
)
from shuffledp.accounting.counts.counts_profile import CountsProfile
from shuffledp.accounting.counts.geometric_noise import GeometricNoise
from shuffledp.accounting.epsilon_solver import smallest_certified_epsilon
from shuffledp.errors import CertificationError

DELTA = 1e-6
# What masses in units of 1e-50 leave out, thousands of them.
UNITS = 1e-44
# e', shape, F, rate, epsilon of one of k, deviation of A - B: known to all these digits.
KNOWN = [
    (0.45, 4, 800, 1.0, 0.956327, 3.1163),
    (0.45, 4, 400, 0.5, 0.485132, 3.1163),
    (0.2, 8, 2000, 1.0, 0.409552, 7.0593),
    (0.9, 4, 200, 1.0, 2.252471, 1.5195),
    (0.4, 4, 60, 0.4, 0.527410, 3.5121),
]
# epsilon, F, shape, (deviation over that of discrete Laplace if two buckets change, one).
COSTS = [
    (1.0, 100, 12, (1.47, 1.59)),
    (1.0, 200, math.inf, (1.40, 1.45)),
    (1.0, 400, 4, (1.175, 1.25)),
    (1.0, 800, 8, (1.033, 1.041)),
    (0.1, 1600, 12, (1.135, 1.16)),
    (0.1, 3200, 8, (1.053, 1.065)),
    (0.1, 6400, math.inf, (1.62, 1.70)),
]


def profile(
    noise: CountNoise, rate: float, *, moved: bool, times: int = 1
) -> CountsProfile:
    certified = noise.certified(rate, buckets=9, moved=moved, times=times)
    attacked = noise.attacked(rate, buckets=9, moved=moved, times=times)
    return CountsProfile((certified,), (attacked,), DELTA)


def solved(noise: CountNoise, rate: float, *, moved: bool) -> float:
    upper = profile(noise, rate, moved=moved).upper
    return smallest_certified_epsilon(upper, DELTA, ceiling=50.0, guess=1.0)


@pytest.mark.parametrize(("e", "shape", "pairs", "rate", "epsilon", "deviation"), KNOWN)
def test_epsilon_is_the_known_one(
    e: float, shape: float, pairs: float, rate: float, epsilon: float, deviation: float
) -> None:
    noise = GeometricNoise(math.exp(-e), pairs, shape)

    # Rounded up in the sixth digit, of values that are rounded there.
    assert solved(noise, rate, moved=True) == pytest.approx(epsilon, rel=4e-6)
    assert profile(noise, rate, moved=True).lower(epsilon * (1.0 - 4e-6)) > DELTA
    assert math.sqrt(noise.variance) == pytest.approx(deviation, rel=4e-5)


@pytest.mark.parametrize(("epsilon", "pairs", "shape", "ratios"), COSTS)
def test_noise_costs_what_is_known(
    epsilon: float, pairs: float, shape: float, ratios: tuple[float, float]
) -> None:
    for changed, ratio in zip((2, 1), ratios, strict=True):
        least = math.exp(-epsilon / changed)
        deviation = math.sqrt(2.0 * least) / (1.0 - least)
        # Ratios are known to three digits: 1% more is enough, 1% less is not.
        for factor, enough in ((1.01, True), (0.99, False)):
            wanted = max(ratio * factor * deviation, 1.0001 * deviation)
            # 2 p / (1 - p)^2 = sd^2 for p.
            p = 1.0 + (1.0 - math.sqrt(1.0 + 2.0 * wanted**2)) / wanted**2
            bounds = profile(GeometricNoise(p, pairs, shape), 1.0, moved=changed == 2)
            assert (bounds.upper(epsilon) <= DELTA) == enough
            assert (bounds.lower(epsilon) > DELTA) != enough


@pytest.mark.few_cases(2)
@covering(
    (
        ("decay", "pairs", "shape"),
        [(0.3, 5.0, 4.0), (0.4, 4.0, 1.5), (0.2, 6.0, math.inf)],
    ),
    ("rate", [1.0, 0.4, 1e-3]),
)
def test_bounds_enclose_sums_over_plus_and_minus(
    decay: float, pairs: float, shape: float, rate: float
) -> None:
    # Beyond the last cell there is less than 1e-21.
    law = plus_and_minus(decay, pairs, shape, 160 if shape == 1.5 else 110)
    more = with_one_plus(law, rate)
    bounds = profile(GeometricNoise(decay, pairs, shape), rate, moved=False)

    for epsilon in (0.0, 0.2, 0.8, 1.5):
        exact = max(
            exact_divergence(more, law, epsilon), exact_divergence(law, more, epsilon)
        )
        assert bounds.lower(epsilon) <= exact + 1e-20
        assert exact <= bounds.upper(epsilon) + UNITS
        assert bounds.upper(epsilon) <= bounds.lower(epsilon) + 1e-11


@pytest.mark.parametrize(
    ("decay", "pairs", "shape", "cells"),
    [
        (0.2, 0.8, 3.0, 18),
        pytest.param(0.3, 1.5, 8.0, 26, marks=pytest.mark.slow),
        pytest.param(0.25, 1.0, math.inf, 24, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_bounds_enclose_sums_over_two_buckets(
    decay: float, pairs: float, shape: float, cells: int, rate: float
) -> None:
    law = plus_and_minus(decay, pairs, shape, cells)
    here, there = in_two_buckets(with_one_plus(law, rate), law)
    left_out = 1.0 - float(here.sum() / 10**50)
    bounds = profile(GeometricNoise(decay, pairs, shape), rate, moved=True)

    assert left_out < 1e-8
    for epsilon in (0.0, 0.5, 1.5, 3.0):
        exact = exact_divergence(here, there, epsilon)
        assert bounds.lower(epsilon) <= exact + left_out
        assert exact <= bounds.upper(epsilon) + UNITS


@covering(("mean", [0.7, 6.0, 25.0]), ("rate", [1.0, 0.2]))
def test_bounds_enclose_sums_of_poisson_noise(mean: float, rate: float) -> None:
    law = negative_binomial(mean, math.inf, 150)
    more = with_one_plus(law, rate)
    here, there = in_two_buckets(more, law)

    for epsilon in (0.0, 0.4, 2.0):
        one = profile(PoissonNoise(mean), rate, moved=False)
        two = profile(PoissonNoise(mean), rate, moved=True)
        exact = max(
            exact_divergence(more, law, epsilon), exact_divergence(law, more, epsilon)
        )
        assert one.lower(epsilon) <= exact + UNITS
        assert exact <= one.upper(epsilon) + UNITS
        exact = exact_divergence(here, there, epsilon)
        assert two.lower(epsilon) <= exact + UNITS
        assert exact <= two.upper(epsilon) + UNITS


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("surplus", [1.5, 3.0])
def test_more_people_than_needed_hide_no_less(surplus: float) -> None:
    noise = GeometricNoise(0.35, 4.0, 4.0).scaled(surplus)
    law = plus_and_minus(0.35, 4.0 * surplus, 4.0 * surplus, 130, surplus)
    more = with_one_plus(law, 0.8)
    bounds = profile(noise, 0.8, moved=False)

    assert noise.surplus == surplus
    for epsilon in (0.0, 0.3, 0.7, 1.0):
        exact = max(
            exact_divergence(more, law, epsilon), exact_divergence(law, more, epsilon)
        )
        assert bounds.lower(epsilon) <= exact <= bounds.upper(epsilon)
    assert bounds.lower(0.7) > 0.0


def test_fewer_people_than_needed_are_refused() -> None:
    with pytest.raises(CertificationError, match="at least as many honest people"):
        GeometricNoise(0.5, 100.0, 8.0).scaled(0.999)
    assert GeometricNoise(0.5, 100.0, 8.0).scaled(1.0) == GeometricNoise(
        0.5, 100.0, 8.0
    )


@pytest.mark.parametrize("shape", [8.0, math.inf])
@pytest.mark.parametrize("factor", [300.0, 5000.0])
def test_many_more_people_are_certified_for_as_many_as_can_be(
    shape: float, factor: float
) -> None:
    noise = GeometricNoise(0.6, 400.0, shape)

    scaled = noise.scaled(factor)

    # Jumps of pairs are no more frequent than those of so many people.
    rates, of_all = scaled.jumps().pairs, noise.jumps().pairs * factor
    size = min(rates.size, of_all.size)
    assert all(rates[:size] <= of_all[:size] * (1.0 + 1e-9))
    assert scaled.variance == pytest.approx(noise.variance * factor)
    assert solved(scaled, 1.0, moved=True) <= solved(noise, 1.0, moved=True)


@pytest.mark.parametrize("noise", [GeometricNoise(0.3, 5.0, 4.0), PoissonNoise(4.0)])
def test_moments_are_those_of_jumps(noise: GeometricNoise | PoissonNoise) -> None:
    jumps = noise.jumps()

    def moment(k: int) -> float:
        return math.fsum(
            float(rate) * float(size) ** k
            for rates in (jumps.plus, jumps.minus)
            for size, rate in enumerate(rates.tolist(), start=1)
        )

    pairs = sum(j * rate for j, rate in enumerate(jumps.pairs.tolist(), start=1))
    assert noise.variance == pytest.approx(moment(2), rel=1e-12)
    assert noise.fourth_cumulant == pytest.approx(moment(4), rel=1e-12)
    assert noise.messages == pytest.approx(moment(1) + 2.0 * pairs, rel=1e-12)
    assert 0.0 <= jumps.omitted <= 1e-18
