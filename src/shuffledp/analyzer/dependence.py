"""Test of the dependence of levels on values, which biases agnostic estimates.

An agnostic estimate treats every level as a random sample of the population. If people with
certain values choose certain levels, it has a bias of

    bias = mean((slope_i - mean slope) (x_i - mean x)) / mean slope,

where slope_i is the slope of the mean message of person i's level in their value. Unlinked
messages do not reveal it: the test needs known values (a rehearsal, an earlier survey), or
a stratified collection.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from shuffledp.types import Floats

# Probability of a false alarm.
_ALARM = 1e-3


@dataclass(frozen=True, eq=False)
class Dependence:
    """Bias of the agnostic estimate, and the significance of the dependence.

    Attributes:
        bias: Average error of the agnostic estimate, shape (numbers,): of a mean, or of
            the share of each category.
        p_value: Probability of as large a dependence of any of the numbers under a random
            matching of levels and values.
    """

    bias: Floats
    p_value: float

    @property
    def suspected(self) -> bool:
        """True if independence of levels and values is rejected at level 0.001."""
        return self.p_value < _ALARM

    @property
    def largest_bias(self) -> float:
        """The bias of largest absolute value, with its sign."""
        return float(self.bias[np.argmax(np.abs(self.bias))])


def dependence(
    slopes: Floats, counts: Floats, sums: Floats, squares: Floats
) -> Dependence:
    """Measures the dependence of one or several numbers on levels.

    Args:
        slopes: Of each level, shape (levels,).
        counts: People at each level, shape (levels,).
        sums: Sum of the values of the people of each level, shape (levels, numbers).
        squares: Sum of squares of all values, shape (numbers,).
    """
    n = counts.sum()
    mean_slope = float(slopes @ counts) / n
    deviation = slopes - mean_slope
    mean = sums.sum(axis=0) / n
    covariance = deviation @ (sums - counts[:, None] * mean) / n
    # Variance under a random matching of slopes and values (n - 1: no replacement).
    spread = (deviation**2 @ counts) * np.maximum(squares - n * mean**2, 0.0)
    scale = np.sqrt(spread / max(n - 1.0, 1.0)) / n
    score = np.abs(covariance) / np.where(scale > 0.0, scale, np.inf)
    # Two-sided normal test, with Bonferroni's correction for several numbers.
    p_value = min(2.0 * float(ndtr(-score.max())) * score.size, 1.0)
    return Dependence(covariance / mean_slope, p_value)
