"""Sums over cells of two-sided exponential noise, from integrals over the line.

A cell's probability is the integral of e^{-b s} over it, and its middle is D, at a
distance from where the noise is centered, an edge. Given the cell, s - D has a
distribution that is the same for all cells, independent of D: so the sums of D^k
P(cell) follow from the integrals of s^k e^{-b s}, however few cells there are.
"""

import math

import numpy as np
from scipy.special import gammainc

from shuffledp.types import Floats


def cell_powers(
    rates: Floats, near: Floats, far: Floats, width: float
) -> tuple[Floats, Floats, Floats]:
    """Returns the sums of D^k P(cell), k = 0, 1, 2, over cells with near < D < far.

    Args:
        rates: b > 0.
        near: Where the first cell begins.
        far: Where the last one ends.
        width: Of a cell.
    """
    mass, first, second = (
        # The integral of s^k e^{-b s} from near to far.
        math.factorial(k)
        * (gammainc(k + 1, rates * far) - gammainc(k + 1, rates * near))
        / rates ** (k + 1)
        for k in range(3)
    )
    shift = width * middle_beyond_mean(rates * width)
    first = first + shift * mass
    square = width**2 * _square_off_middle(rates * width)
    # As D - s is independent of D, the mean of D^2 is that of s^2, and twice the
    # product of the means of D and D - s, less the mean of (D - s)^2.
    second = second + 2.0 * shift * first - square * mass
    return mass, first, second


def middle_beyond_mean(rates: Floats) -> Floats:
    """Returns by how much 1/2 exceeds the mean of a density e^{-a s} on [0, 1].

    Args:
        rates: a.
    """
    # For small a nearly all digits of the closed form cancel: there its series.
    series = rates / 12.0 * (1.0 - rates**2 / 60.0 + rates**4 / 2520.0)
    safe = np.maximum(rates, 0.1)
    exact = 0.5 / np.tanh(0.5 * safe) - 1.0 / safe
    excess: Floats = np.where(rates < 0.1, series, exact)
    return excess


def _square_off_middle(rates: Floats) -> Floats:
    """Returns the mean of (s - 1/2)^2 for a density e^{-a s} on [0, 1]."""
    series = 1.0 / 12.0 + rates**2 / 360.0 - rates**4 / 15_120.0
    safe = np.maximum(rates, 0.1)
    exact = 0.25 + 2.0 / safe**2 - 1.0 / (safe * np.tanh(0.5 * safe))
    square: Floats = np.where(rates < 0.1, series, exact)
    return square
