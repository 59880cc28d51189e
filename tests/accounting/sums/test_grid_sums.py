"""Sums of e^{z L} - 1 on a grid are those at each of its points."""

import numpy as np
import pytest

from shuffledp.accounting.sums.grid_sums import grid_sums


@pytest.mark.parametrize("num_sums", [1, 2])
def test_sums_are_those_at_each_point(num_sums: int) -> None:
    rng = np.random.default_rng(5)
    losses, weights = rng.normal(size=300), rng.random((num_sums, 300))
    # Steps to either side, the first half conjugates of the last.
    steps = 1j * 0.1 * np.array([-1.5, -0.5, 0.5, 1.5])
    outer = 0.7 + 1j * np.arange(3.0)

    sums = grid_sums(outer, steps, losses, weights, mirrored=2)

    points = outer[:, np.newaxis] + steps
    expected = np.expm1(points[..., np.newaxis] * losses) @ weights.T
    # Off by the rounding of 300 terms of size 10 at most.
    assert sums == pytest.approx(np.moveaxis(expected, 2, 0), rel=1e-12, abs=1e-12)


def test_small_sums_keep_their_digits() -> None:
    losses = np.array([1e-12, -2e-12])

    ((total,),) = grid_sums(
        np.array([1.0 + 0.0j]), np.array([0.5j]), losses, np.ones((1, 2))
    )[0:1, 0]

    # The sum of z L, and of its square over 2.
    z = 1.0 + 0.5j
    assert total == pytest.approx(-1e-12 * z + 2.5e-24 * z**2, rel=1e-12)
