import math

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shuffledp.types import Floats
from shuffledp_papers.hypothesis_testing.type_one_errors import (
    gaussian_clone_probabilities,
    gaussian_target_error,
    laplace_clone_probabilities,
    laplace_target_error,
)

budgets = st.floats(0.05, 8.0)


def mistaken(z: Floats, own: Floats, zero: Floats, one: Floats) -> float:
    """The smaller chance of U_0 and U_1, from densities at the middles of cells."""
    width = z[1] - z[0]
    for_zero = own[(own <= zero) & (one < zero)].sum()
    for_one = own[(own <= one) & (zero < one)].sum()
    return float(width * min(for_zero, for_one))


@pytest.mark.slow
@given(budgets, budgets)
@settings(max_examples=50, deadline=None)
def test_laplace_errors_are_areas(own: float, victim: float) -> None:
    reach = 40.0 / own
    z = np.linspace(-reach, reach, 400_000) + 1e-9

    def density(rate: float, value: float) -> Floats:
        return 0.5 * rate * np.exp(-rate * np.abs(z - value))

    expected = mistaken(z, density(own, 0), density(victim, 0), density(victim, 1))

    # At most four ends of intervals, each within one cell.
    error = 4.0 * own * (z[1] - z[0]) + 1e-9
    found = laplace_clone_probabilities(np.array([own]), victim)[0]
    assert found == pytest.approx(expected, abs=error)
    assert 0.0 <= found <= 0.5


@pytest.mark.slow
@given(budgets, budgets, st.floats(1e-12, 0.3))
@settings(max_examples=50, deadline=None)
def test_gaussian_errors_are_areas(own: float, victim: float, delta: float) -> None:
    # Densities of nearly equal budgets differ by less than they are rounded.
    assume(own == victim or abs(own - victim) > 1e-6 * own)
    sigma, other = 1.0 / own, 1.0 / victim
    z = np.linspace(-9.0 * sigma, 9.0 * sigma, 400_000) + 1e-9

    def density(deviation: float, value: float) -> Floats:
        scale = deviation * math.sqrt(2.0 * math.pi)
        return np.exp(-0.5 * ((z - value) / deviation) ** 2) / scale

    mine = density(sigma, 0)
    # Her tails of mass delta / 2 do not count.
    tail = -sigma * float(mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(delta) - 1))
    kept = np.where(np.abs(z) <= tail, mine, 0.0)
    victim_zero, victim_one = density(other, 0), density(other, 1)
    width = z[1] - z[0]
    zero = kept[(mine <= victim_zero) & (victim_one < victim_zero)].sum() * width
    one = kept[(mine <= victim_one) & (victim_zero < victim_one)].sum() * width

    error = 6.0 * own * width + 1e-9
    found = gaussian_clone_probabilities(np.array([sigma]), other, tail=delta / 2.0)[0]
    if own != victim:
        assert found == pytest.approx(min(zero, one), abs=error)


@pytest.mark.parametrize("budget", [1e-3, 0.5, 2.0, 30.0])
def test_equal_budgets(budget: float) -> None:
    sigma = 1.0 / budget
    tail = float(mpmath.erfc(mpmath.mpf(budget) / 2 / mpmath.sqrt(2)) / 2)

    assert laplace_target_error(budget) == pytest.approx(math.exp(-budget / 2) / 2)
    assert gaussian_target_error(sigma) == pytest.approx(tail)
    own = np.array([budget])
    assert laplace_clone_probabilities(own, budget)[0] == laplace_target_error(budget)
    assert gaussian_clone_probabilities(1.0 / own, sigma)[0] == gaussian_target_error(
        sigma
    )
    # As printed, nobody with the same budget is a clone.
    assert laplace_clone_probabilities(own, budget, strict=True)[0] == 0.0
    assert gaussian_clone_probabilities(1.0 / own, sigma, strict=True)[0] == 0.0


@given(budgets)
def test_nearly_equal_budgets_keep_their_digits(budget: float) -> None:
    near = np.array([budget * (1 - 1e-13), budget * (1 + 1e-13)])
    wider, narrower = laplace_clone_probabilities(near, budget)

    # With |z| at most, or at least, 1 / eps: the two parts of the noise.
    inner = (
        1.0 - math.exp(-1.0) - 0.5 * (math.exp(-min(1.0, budget / 2)) - math.exp(-1.0))
    )
    assert wider <= inner + 1e-9
    assert 0.0 < narrower <= 0.5
    assert np.all(np.isfinite(gaussian_clone_probabilities(1.0 / near, 1.0 / budget)))
