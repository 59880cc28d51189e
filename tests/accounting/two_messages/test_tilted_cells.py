"""Bounds between the centers of cells of tau, against a dense grid in 30 digits."""

import math
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp.accounting.two_messages.binary_population import BinaryPopulation
from shuffledp.accounting.two_messages.tilted import CELLS, TiltedPopulation
from shuffledp.accounting.two_messages.tilted_bounds import _amplitudes, cell_bounds

GAP, STRAY = 0.6, 0.2
PER_CELL = 8


@pytest.mark.parametrize(
    ("num_users", "flip", "part"), [(1, 0.02, 0.3), (3, 0.5, 0.9), (10, 0.2, 0.9)]
)
def test_no_tau_within_a_cell_exceeds_its_bound(
    num_users: int, flip: float, part: float
) -> None:
    epsilon = part * math.log((GAP + STRAY) / STRAY)
    crowd = BinaryPopulation(
        np.array([flip]), np.array([flip]), np.array([float(num_users)]), GAP, STRAY
    )
    tilted = TiltedPopulation(crowd, epsilon)
    # Of at most ten users, the variance is at most 4.
    grid = tilted.grid(2)

    terms = _amplitudes(grid, np.zeros((1, 1)))[0] * grid.kernel
    (bounds,) = cell_bounds(grid, terms, np.zeros(1))

    with mp.workdps(30):
        theta, exact = precise_terms(num_users, flip, epsilon, int(grid.size))
        for cell, bound in enumerate(bounds.tolist()):
            start = mp.mpf(2 * cell) / CELLS
            values = [
                fourier_sum(exact, start + mp.mpf(2 * step) / (CELLS * PER_CELL))
                for step in range(PER_CELL + 1)
            ]
            bend = mp.fsum(abs(term) * abs(z) ** 2 for z, term in exact)
            bend *= mp.exp(-theta * start)
            # The tangent at the center leaves at most half of that, and adds no more.
            room = mp.mpf(1) / CELLS**2 * bend
            assert max(values) <= bound * (1 + 1e-12)
            assert bound <= max(values) + room * (1 + 1e-9) + 1e-12


def precise_terms(
    num_users: int, flip: float, epsilon: float, size: int
) -> tuple[Any, list[tuple[Any, Any]]]:
    """Returns theta, and exponents z and factors of e^(-z tau) in the sum."""
    rise = mp.expm1(mp.mpf(epsilon))
    top = mp.mpf(GAP) - rise * mp.mpf(STRAY)
    theta = mp.log((top + rise) / top)
    one = mp.mpf(flip) * mp.exp(theta)
    one /= one + 1 - mp.mpf(flip)
    terms = []
    for index in range(1, (size - 1) // 2 + 1):
        angle = 2 * mp.pi * index / size
        turn = mp.expj(angle)
        z = mp.mpc(theta, angle)
        centered = ((1 - one + one * turn) * mp.expj(-angle * one)) ** num_users
        # Differences of neighboring probabilities, summed with weights e^(-theta u).
        weights = (1 - mp.exp(-z * (size - 1) / 2)) / (1 - mp.exp(-z))
        terms.append((z, 2 * centered * (turn - 1) * weights / size))
    return theta, terms


def fourier_sum(terms: list[tuple[Any, Any]], tau: Any) -> Any:
    return mp.fsum(mp.re(term * mp.exp(-z * tau)) for z, term in terms)
