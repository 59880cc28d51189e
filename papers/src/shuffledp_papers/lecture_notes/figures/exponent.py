"""The exponent of a power law, fitted to measured errors."""

from collections.abc import Sequence

import numpy as np


def exponent(at: Sequence[float], values: Sequence[float]) -> float:
    """Returns the slope of a straight line through logarithms, by least squares.

    >>> round(exponent([1.0, 2.0, 4.0], [3.0, 12.0, 48.0]), 12)
    2.0

    Args:
        at: Arguments, above 0.
        values: Measurements at `at`, above 0; with NaN among them, the slope is NaN.
    """
    return float(np.polyfit(np.log(at), np.log(values), 1)[0])
