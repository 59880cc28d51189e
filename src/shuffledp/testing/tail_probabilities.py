"""Probabilities of deviations, of which each comparison of draws is made.

`sum_tail` and `count_tail` are never too small; `chi_square_tails` is the usual
approximation, for expectations that are large.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, chi2

from shuffledp.types import Floats, Ints


@dataclass(frozen=True)
class DrawComparison:
    """Draws compared with what they should be.

    Attributes:
        chance: The probability of as large a deviation if all is right.
        about: What is wrong if it is not, as a sentence.
    """

    chance: float
    about: str


def sum_tail(total: float, size: float, bound: float) -> float:
    """Returns a bound of the probability of so large a sum, on both sides.

    Bernstein's inequality: P(|sum| >= s) <= 2 exp(-s^2 / 2 / (n + b s / 3)).

    >>> round(sum_tail(30.0, 100.0, 1.0), 4)
    0.0334

    Args:
        total: The sum of independent terms with mean 0.
        size: The sum of their variances.
        bound: The largest absolute value of a term.
    """
    away = abs(total)
    if away == 0.0:
        return 1.0
    return min(2.0 * math.exp(-away * away / 2.0 / (size + bound * away / 3.0)), 1.0)


def count_tail(hits: Ints, size: Ints, chances: Floats) -> Floats:
    """Returns exact two-sided probabilities of counts, of the shape of `hits`.

    >>> count_tail(np.array([0]), np.array([10]), np.array([0.5])).round(4)
    array([0.002])

    Args:
        hits: How often something happened.
        size: In how many independent trials.
        chances: The probability of it in each.
    """
    below = binom.cdf(hits, size, chances)
    above = binom.sf(hits - 1, size, chances)
    tails: Floats = np.minimum(2.0 * np.minimum(below, above), 1.0)
    return tails


def chi_square_tails(distance: float, freedom: float) -> tuple[float, float]:
    """Returns the probabilities of so small, and of so large, a sum of squares.

    Args:
        distance: The sum of squares.
        freedom: The degrees of freedom, > 0.
    """
    return float(chi2.cdf(distance, freedom)), float(chi2.sf(distance, freedom))
