"""Rounding of exact results upward, and rounding error of sums in any order of addition."""

import math
from fractions import Fraction

# Half the distance from 1 to the next double.
_HALF_ULP = 2.0**-53


def sum_rounding(terms: int) -> float:
    """Returns gamma: a sum of products is off by at most gamma times that of their sizes.

    Libraries of linear algebra add in any order, and in several sums at once. For n
    products and any order the error is at most n u / (1 - n u) times the sum of absolute
    values, u = 2^-53.

    Args:
        terms: n >= 0, below 10^15.

    Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), section 3.1.

    >>> sum_rounding(0)
    0.0
    >>> 2.8e-14 < sum_rounding(256) < 2.9e-14
    True
    """
    loss = terms * _HALF_ULP
    return loss / (1.0 - loss)


def rounded_up(exact: Fraction) -> float:
    """Returns the smallest double that is >= an exact number.

    >>> rounded_up(10 * Fraction(0.5)), rounded_up(3 * Fraction(0.1))
    (5.0, 0.30000000000000004)
    """
    nearest_float = float(exact)
    return (
        nearest_float
        if nearest_float >= exact
        else math.nextafter(nearest_float, math.inf)
    )
