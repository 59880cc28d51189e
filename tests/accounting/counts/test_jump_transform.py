"""Transforms of compound numbers: what is beyond the range, and exact angles."""

import math

import numpy as np
import pytest
from scipy import stats

from shuffledp.accounting.counts.jump_transform import (
    FAR,
    cells_of,
    rounding_error,
    turns_of,
)


@pytest.mark.parametrize("mean", [0.01, 1.0, 50.0, 3e4])
@pytest.mark.parametrize("size", [1, 7])
def test_a_poisson_number_is_hardly_ever_out_of_range(mean: float, size: int) -> None:
    half = (cells_of(np.array([mean]), np.array([size])) - 4) // 2

    # With one message more, and a mean between two whole numbers.
    above = stats.poisson.logsf((mean * size + half - 2) // size, mean)
    below = stats.poisson.logcdf((mean * size - half + 2) // size, mean)

    assert np.logaddexp(above, below) <= math.log(2.0) - FAR
    # Neither is the range much wider than needed.
    assert stats.poisson.logsf((mean * size + 0.8 * half) // size, mean) > -2.0 * FAR


def test_a_difference_is_hardly_ever_out_of_range() -> None:
    rates, sizes = np.full(2, 40.0), np.array([1, -1])

    half = (cells_of(rates, sizes) - 4) // 2

    assert 2.0 * stats.skellam.sf(half - 2, 40.0, 40.0) <= 2.0 * math.exp(-FAR)
    # A normal number of this variance is within 8.1 deviations, one far from that not.
    assert half < 10.0 * math.sqrt(80.0)


@pytest.mark.parametrize("cells", [15, 1_000, 6_561])
def test_transforms_invert_the_characteristic_function_of_a_sum(cells: int) -> None:
    mean = 0.1 * cells
    exponent = mean * (turns_of(np.arange(cells), np.array([-1]), cells)[:, 0] - 1.0)

    masses = np.fft.ifft(np.exp(exponent)).real

    exact = np.zeros(cells)
    # Numbers that wrap around are added: there are none beyond seven rounds.
    for turn in range(7):
        exact += stats.poisson.pmf(np.arange(cells) + turn * cells, mean)
    assert np.abs(masses - exact).sum() <= rounding_error(masses, 8.0 * mean)
    assert rounding_error(masses, 8.0 * mean) < 1e-7


def test_angles_of_large_products_are_exact() -> None:
    (turn,) = turns_of(np.array([10**6]), np.array([3 * 10**6 + 1]), 4 * 10**6)[:, 0]

    # 10^6 (3 10^6 + 1) / (4 10^6) is a quarter of a turn beyond a whole number.
    assert abs(turn - 1j) < 1e-15
