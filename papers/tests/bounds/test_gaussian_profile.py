import math

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp_papers.bounds.gaussian_profile import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_trade_off,
    largest_distance,
)


@pytest.mark.slow
@given(st.floats(1e-3, 20.0), st.floats(0.0, 20.0))
@settings(max_examples=150, deadline=None)
def test_delta_to_fifty_digits(mu: float, epsilon: float) -> None:
    with mpmath.workdps(400):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        above = mpmath.ncdf(m / 2 - e / m)
        exact = above - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)

        if exact > 1e-290:
            # eps / mu is rounded, and squared in the exponent.
            rtol = 1e-12 / mu + 1e-15 * (epsilon / mu) ** 2
            assert abs(gaussian_delta(mu, epsilon) / exact - 1) < rtol


def test_delta_at_zero_is_total_variation() -> None:
    assert gaussian_delta(1.0, 0.0) == pytest.approx(math.erf(0.5 / math.sqrt(2.0)))
    assert gaussian_delta(0.0, 0.0) == 0.0


@given(st.floats(0.01, 5.0), st.floats(0.0, 3.0), st.floats(0.0, 1.0))
@settings(max_examples=100, deadline=None)
def test_the_profile_lies_above_the_trade_off_everywhere(
    mu: float, epsilon: float, alpha: float
) -> None:
    beta = gaussian_trade_off(mu, alpha)

    assert beta >= 1.0 - gaussian_delta(mu, epsilon) - math.exp(epsilon) * alpha - 1e-12


def test_the_largest_distance_spends_delta() -> None:
    epsilons = np.array([0.05, 1.0, 8.0])

    found = largest_distance(epsilons, 1e-7)

    for mu, epsilon in zip(found, epsilons, strict=True):
        assert gaussian_delta(float(mu), float(epsilon)) == pytest.approx(
            1e-7, rel=1e-6
        )


def test_the_epsilon_is_known_for_mu_one() -> None:
    # Dong, Roth, Su (2022): 1-GDP is (1, 0.1269)-private, as 0.126936737507 by mpmath.
    assert gaussian_epsilon(1.0, 0.126936737507) == pytest.approx(1.0, rel=1e-6)
