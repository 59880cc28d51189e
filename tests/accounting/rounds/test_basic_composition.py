"""Large levels that hold with a delta add up where their losses are no doubles."""

import math
from fractions import Fraction

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp import Gaussian, Population, account
from shuffledp.accounting.rounds.basic_composition import basic_composition
from shuffledp.accounting.sums.rounding import rounded_up
from shuffledp.randomizers.normal_divergence import sensitivity_per_deviation

TIMES, LEVEL = 650, 700.0
PEOPLE = Population.from_counts({LEVEL: 1_000})
DEVICE = Gaussian(0.0, 1.0)


def normal_divergence(mu: float, epsilon: float) -> mp.mpf:
    """Of two normal distributions of variance 1 at a distance of mu (Balle, Wang 2018)."""
    with mp.workdps(50):
        mean, width = mp.mpf(epsilon) / mu, mp.mpf(mu) / 2
        return mp.ncdf(width - mean) - mp.exp(epsilon) * mp.ncdf(-width - mean)


@pytest.mark.parametrize("shuffles", [2, 3, 650])
def test_deltas_and_epsilons_add_up_and_are_rounded_upward(shuffles: int) -> None:
    def falls(epsilon: float) -> Fraction:
        return (Fraction(1, 2) - Fraction(epsilon) / 4096) / 1000

    together = basic_composition(lambda epsilon: rounded_up(falls(epsilon)), shuffles)

    for epsilon in (0.0, 0.1, 3.0, 1e3):
        exact = shuffles * falls(0.0) - Fraction(epsilon) / 4_096_000
        assert exact <= together(epsilon) <= exact * (1 + Fraction(1, 10**12))
    assert basic_composition(lambda _epsilon: 0.9, shuffles)(1.0) == 1.0


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3])
def test_a_large_level_with_a_delta_keeps_what_devices_keep(delta: float) -> None:
    level = account(DEVICE, PEOPLE, delta=delta, coordinates=TIMES).levels[0]

    # All messages of a device are one normal message, as if nobody hid it.
    (mu,) = sensitivity_per_deviation(np.array([LEVEL]), DEVICE.delta_local)
    truth = normal_divergence(mu * math.sqrt(TIMES), level.epsilon_central)
    each = normal_divergence(mu, level.epsilon_central / TIMES)
    assert truth <= delta
    # By basic composition, up to the six digits of a certificate.
    assert 0.99 * delta <= TIMES * each <= delta


def test_the_shuffle_keeps_at_least_what_a_coalition_is_held_to() -> None:
    (level,) = account(DEVICE, PEOPLE, epsilon=TIMES * LEVEL, coordinates=TIMES).levels

    assert level.delta_central <= level.delta_coalition * (1.0 + 1e-5)


def test_small_levels_are_composed_as_ever() -> None:
    people = Population.from_counts({1.0: 1_000})

    composed = account(DEVICE, people, delta=1e-6, coordinates=TIMES).levels[0]

    assert composed.epsilon_central == 0.883427


def test_more_rounds_than_a_million_of_epsilon_are_certified() -> None:
    level = account(DEVICE, PEOPLE, delta=1e-6, rounds=7_850).levels[0]

    assert 7_850 * LEVEL < level.epsilon_central < 1.1 * 7_850 * LEVEL
