"""Sums of numbers as whole numbers of steps, which add up over any parts of the people."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.number_range import half_range
from shuffledp.types import Floats, Ints

# 2^40 from the middle of a range to either end: sums of floats would depend on how people
# are divided into parts.
_STEPS = 2.0**40
# Two halves of a number of steps, whose sums do not overflow.
_LOW = 1 << 20


def step_sums(
    numbers: Floats, groups: Ints, num_groups: int, *, low: float, high: float
) -> NDArray[Any]:
    """Returns the sum of each group's distances from the middle, as whole numbers of steps.

    Args:
        numbers: In [low, high], shape (n,).
        groups: The group of each, shape (n,).
        num_groups: How many groups there are.
        low: The smallest possible number.
        high: The largest.
    """
    half = half_range(low, high)
    middle = low / 2.0 + high / 2.0
    # Rounded by at most 2^-41 of half the range: means are right to 1e-12 of it.
    steps = np.rint((numbers / half - middle / half) * _STEPS).astype(np.int64)
    sums = np.zeros((2, num_groups), np.int64)
    np.add.at(sums[0], groups, steps // _LOW)
    np.add.at(sums[1], groups, steps % _LOW)
    exact_sums: NDArray[Any] = sums[0].astype(object) * _LOW + sums[1].astype(object)
    return exact_sums


def mean_of_steps(total: int, count: int, *, low: float, high: float) -> float:
    """Returns the mean of `count` numbers from the sum of their steps; NaN of none."""
    if not count:
        return float("nan")
    return low / 2.0 + high / 2.0 + half_range(low, high) * (total / (count * _STEPS))
