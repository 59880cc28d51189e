"""Nearest possible numbers: Euclidean projections of unbiased estimates.

Noise leaves estimates that no answers could have: shares below 0, distribution
functions that fall. The nearest possible numbers are closer to the truth, whatever it is:
the truth is a point of a convex set, and a projection onto the set moves no point away
from any point of it. They are biased.

The projection onto {x >= 0, sum x = total} is max(v - t, 0), with the t that keeps the sum.
Wang et al., "Locally Differentially Private Frequency Estimation with Consistency" (NDSS
2020), call it Norm-Sub and compute it step by step: negative numbers become 0, and all
others are moved by the same number, until the sum is right.
"""

import numpy as np

from shuffledp.types import Floats


def project(values: Floats, total: float) -> Floats:
    """Returns the nearest points of the simplex {x >= 0, sum x = total}, as `values`.

    >>> project(np.array([5.0, -1.0, 2.0]), 6.0)
    array([4.5, 0. , 1.5])

    Args:
        values: Points, shape (..., k), each projected by itself.
        total: Above 0, or 0.
    """
    # x = max(values - t, 0), with t chosen by sorting so that the sum is `total`.
    ordered = -np.sort(-values, axis=-1)
    ranks = np.arange(1.0, values.shape[-1] + 1.0)
    excess = (np.cumsum(ordered, axis=-1) - total) / ranks
    # The last number that stays above 0: `>=` as the first one does by rounding alone.
    reached = ordered >= excess
    last = values.shape[-1] - 1 - np.argmax(reached[..., ::-1], axis=-1)
    threshold = np.take_along_axis(excess, last[..., None], axis=-1)
    projection: Floats = np.maximum(values - threshold, 0.0)
    return projection


def project_within(values: Floats, total: float) -> Floats:
    """Returns the nearest points of {x >= 0, sum x <= total}, as `values`.

    >>> project_within(np.array([2.0, -1.0, 2.0]), 6.0)
    array([2., 0., 2.])

    Args:
        values: As of `project`.
        total: As of `project`.
    """
    positive = np.maximum(values, 0.0)
    fits = positive.sum(axis=-1, keepdims=True) <= total
    return np.where(fits, positive, project(values, total))


def project_monotone(values: Floats) -> Floats:
    """Returns the nearest numbers in [0, 1] that never fall, shape as `values`.

    >>> project_monotone(np.array([-0.1, 0.5, 0.3, 1.2]))
    array([0. , 0.4, 0.4, 1. ])

    Args:
        values: Such as a distribution function, shape (k,), at least one.
    """
    # Imported on use: optimization takes long to load.
    from scipy.optimize import isotonic_regression

    # Limits after an isotonic regression are the projection onto both conditions:
    # Barlow et al., "Statistical Inference under Order Restrictions" (1972).
    rising: Floats = np.clip(isotonic_regression(values).x, 0.0, 1.0)
    return rising
