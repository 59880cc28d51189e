"""Tail probabilities for comparisons of draws with a distribution.

`sum_tail` and `count_tail` are upper bounds; `chi_square_tails` is the usual approximation,
which needs large expected counts.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, chi2

from shuffledp.types import Floats, Ints


@dataclass(frozen=True)
class DrawComparison:
    """Comparison of draws with their stated distribution.

    Attributes:
        p_value: Probability of a deviation at least as large under the stated distribution.
        about: The alternative hypothesis as a sentence: the defect that it reveals.
    """

    p_value: float
    about: str


def sum_tail(total: float, size: float, bound: float) -> float:
    """Returns an upper bound on the two-sided tail probability of a sum.

    >>> round(sum_tail(30.0, 100.0, 1.0), 4)
    0.0334

    Args:
        total: The sum of independent terms with mean 0.
        size: The sum of their variances.
        bound: The largest absolute value of a term.
    """
    deviation = abs(total)
    if deviation == 0.0:
        return 1.0
    # Bernstein's inequality: P(|sum| >= s) <= 2 exp(-s^2 / 2 / (n + b s / 3)).
    return min(
        2.0 * math.exp(-deviation * deviation / 2.0 / (size + bound * deviation / 3.0)),
        1.0,
    )


def compare_products(
    first: Floats, second: Floats, defect: str, *, bound: float
) -> DrawComparison:
    """Compares a sum of products with 0: of independent terms it has mean 0.

    Args:
        first: Terms with mean 0 and variance 1, within +-`bound`.
        second: The same, of the same shape, which may depend on the first.
        defect: The dependence that a large sum reveals.
        bound: The largest absolute value of a term.
    """
    # Products of two independent terms have variance 1, too.
    total = float(np.sum(first * second))
    return DrawComparison(
        sum_tail(total, float(first.size), bound**2), f"messages {defect}"
    )


def count_tail(hits: Ints, size: Ints, probabilities: Floats) -> Floats:
    """Returns exact two-sided tail probabilities of counts, of the shape of `hits`.

    >>> count_tail(np.array([0]), np.array([10]), np.array([0.5])).round(4)
    array([0.002])

    Args:
        hits: Numbers of successes.
        size: Numbers of independent trials.
        probabilities: Success probability of each trial.
    """
    below = binom.cdf(hits, size, probabilities)
    # The tail from `hits` on: sf(k) is the probability of more than k.
    above = binom.sf(hits - 1, size, probabilities)
    tails: Floats = np.minimum(2.0 * np.minimum(below, above), 1.0)
    return tails


def chi_square_tails(distance: float, freedom: float) -> tuple[float, float]:
    """Returns the lower and upper tail probability of a sum of squares.

    Args:
        distance: The sum of squares.
        freedom: The degrees of freedom, > 0.
    """
    return float(chi2.cdf(distance, freedom)), float(chi2.sf(distance, freedom))
