"""Bounds of what reports of constant size cut, against sums over numbers of jumps."""

import math

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp.accounting.account import account
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import (
    CountGroup,
    CountsParameters,
    Noise,
)
from shuffledp.accounting.counts.geometric_noise import GeometricNoise
from shuffledp.accounting.counts.noise_truncation import cut_bound
from shuffledp.accounting.counts.slot_noise import SlotNoise
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.statistic_catalog import protocol_of

NOISES: list[Noise] = [
    PoissonNoise(40.0),
    GeometricNoise(0.5, 12.0),
    GeometricNoise(0.3, 5.0, 4.0),
]
PEOPLE = Population.from_counts({1.0: 1000})


def exact_cut(noise: Noise, *, buckets: int, honest: int, cap: int) -> mpmath.mpf:
    """P(M > cap) at 50 digits: 1 minus a sum over how many jumps there are."""
    jumps = noise.jumps()
    with mpmath.workdps(50):
        single = [mpmath.mpf(0)] * (cap + 1)
        for rates, width in ((jumps.plus, 1), (jumps.minus, 1), (jumps.pairs, 2)):
            for size, rate in enumerate(rates.tolist(), start=1):
                if size * width <= cap:
                    single[size * width] += mpmath.mpf(rate) * buckets / honest
        total = mpmath.mpf(jumps.total) * buckets / honest
        power = [mpmath.mpf(1)] + [mpmath.mpf(0)] * cap
        inside = mpmath.mpf(0)
        # Each jump has at least one message: more than `cap` of them never fit.
        for number in range(cap + 1):
            inside += sum(power) / mpmath.factorial(number)
            power = [
                mpmath.fsum(power[m - k] * single[k] for k in range(1, m + 1))
                for m in range(cap + 1)
            ]
        return 1 - mpmath.exp(-total) * inside


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("cap", [0, 1, 8, 14])
def test_the_bound_holds_and_is_close(noise: Noise, cap: int) -> None:
    exact = exact_cut(noise, buckets=5, honest=200, cap=cap)

    bound = cut_bound([(5, 1, noise)], num_honest=200, cap=cap)

    assert exact <= bound
    # Long jumps are added up, which costs their square: little where sizes are of use.
    assert exact > 0.01 or bound <= 1.01 * exact


def test_many_jumps_are_bounded_too() -> None:
    bound = cut_bound([(1, 1, PoissonNoise(500.0))], num_honest=1, cap=700)

    with mpmath.workdps(50):
        exact = mpmath.gammainc(701, 0, 500, regularized=True)
    assert exact <= bound <= 100.0 * exact


def sized(noise: Noise, size: int | None, *, honest: int = 1000) -> CountsParameters:
    return CountsParameters((CountGroup(8, 1, noise),), (1.0,), (1.0,), honest, size)


@pytest.mark.parametrize("noise", [PoissonNoise(100.0), GeometricNoise(0.5, 200.0)])
def test_what_is_cut_is_paid_in_delta(noise: Noise) -> None:
    def delta(size: int | None) -> float:
        known = sized(noise, size)
        (level,) = account(known, PEOPLE, epsilon=1.0).levels
        assert level.delta_central_lower <= level.delta_central
        return level.delta_central

    free, ample = delta(None), delta(60)
    tight = next(size for size in range(2, 60) if _accepted(noise, size))
    cap = tight - 1
    cut = 1000 * cut_bound([(8, 1, noise)], num_honest=1000, cap=cap)

    assert ample == pytest.approx(free, rel=1e-4)  # What is cut is below 1e-20.
    # A bound at a smaller epsilon holds, too, where a cut costs at least twice itself.
    assert 2.0 * cut <= delta(tight) <= (free + (1.0 + math.e) * cut) * (1.0 + 1e-4)


def _accepted(noise: Noise, size: int) -> bool:
    try:
        sized(noise, size)
    except InvalidInputError:
        return False
    return True


def test_other_sizes_are_refused() -> None:
    for noise, size in (
        (PoissonNoise(100.0), 2),
        (PoissonNoise(100.0), 0),
        (PoissonNoise(100.0), 5000),
        (GeometricNoise(0.6, 800.0, 10.0), 50),
        (SlotNoise(1000, 0.5, 4, 5.0), 5),
    ):
        with pytest.raises(InvalidInputError, match=r"size|messages"):
            sized(noise, size)


def test_only_sizes_that_are_given_are_named() -> None:
    assert "report_size" not in sized(NOISES[0], None).identity.record["parameters"]
    assert sized(NOISES[0], 9).identity != sized(NOISES[0], 10).identity

    counts = Counts((CountGroup(8, 1, NOISES[0]),), (1.0,), (1.0,), 1000, 9)
    assert protocol_of(counts.identity) == counts


def test_reports_are_cut_to_their_size_and_no_further() -> None:
    # Of 20,000 reports, far fewer than 10 are cut; means are checked at 5 deviations.
    noise, n = GeometricNoise(0.5, 50.0), 20_000
    counts = Counts((CountGroup(4, 1, noise),), (1.0,), (1.0,), 20_000, 9)
    answers = np.full((n, 1), 2)

    reports = counts.randomize(answers, np.ones(n), rng=np.random.default_rng(3))

    assert reports.messages.shape == (n, 9)
    hits = np.bincount(reports.messages.ravel(), minlength=9)
    plus, minus = hits[0:8:2], hits[1:8:2]
    deviation = 5.0 * math.sqrt(noise.variance)
    difference = plus - minus - n * (np.arange(4) == 2)
    assert np.all(np.abs(difference) <= deviation)
    assert hits[8] == 9 * n - hits[:8].sum()
