"""Do levels depend on values? Then agnostic estimates are biased.

An agnostic estimate treats every level as a random sample of the people. If those with
certain values choose certain levels, it is off, on average, by

    bias = mean((slope_i - mean slope) (x_i - mean x)) / mean slope,

where slope_i says how strongly the messages of person i's level follow her value. Nothing
in unlinked messages shows it: it takes known values (a rehearsal, an earlier survey), or a
stratified collection.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from shuffledp.types import Floats

# Chance of a false alarm.
_ALARM = 1e-3


@dataclass(frozen=True, eq=False)
class Dependence:
    """How values and levels go together.

    Attributes:
        bias: Average error of the agnostic estimate, shape (numbers,): of a mean, or of
            the share of each category.
        p_value: Chance that a random matching of levels and values shows as much, for any
            of the numbers.
    """

    bias: Floats
    p_value: float

    @property
    def suspected(self) -> bool:
        """Is it unlikely (chance below 0.001) that levels do not depend on values?"""
        return self.p_value < _ALARM

    @property
    def largest_bias(self) -> float:
        """The bias of largest size, with its sign."""
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
    # Of a random matching of slopes and values.
    spread = (deviation**2 @ counts) * np.maximum(squares - n * mean**2, 0.0)
    scale = np.sqrt(spread / max(n - 1.0, 1.0)) / n
    score = np.abs(covariance) / np.where(scale > 0.0, scale, np.inf)
    p_value = min(2.0 * float(ndtr(-score.max())) * score.size, 1.0)
    return Dependence(covariance / mean_slope, p_value)
