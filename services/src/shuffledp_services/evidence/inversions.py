"""P-values of the number of inversions of a uniformly random order, exact or bounded.

Of n items in a uniformly random order, the j-th precedes a number of the j - 1 former ones
that is uniform on {0, ..., j - 1}, independent of the others. So the inversions I have

    E[q^I] = [n]! / n!,    [n]! = prod_{j <= n} (1 + q + ... + q^(j-1)),

the sum over groups that are ordered apart is a product, and with d_1, d_2, ... items that
are alike among the n, [n]! / ([d_1]! [d_2]! ...) counts orders by inversions (MacMahon
1916): the distribution of Mann and Whitney (1947). It is symmetric about its middle.

Few items are counted in whole numbers. For many, the tail has Chernoff's bound, with an
expectation that is known exactly: it is a product of sinh(j theta / 2) / j.
"""

import bisect
import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize_scalar

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Ints

# This number of additions of whole numbers takes a tenth of a second.
_FEW = 300_000
# More than the rounding of a sum of 10^5 logarithms.
_ROUNDING = 1e-6
_SMALLEST = 1e-300


def inversions(first: Ints, second: Ints) -> int:
    """Counts the pairs in different order in two lists without ties."""
    before: list[int] = []
    count = 0
    for number in first[np.argsort(second)].tolist():
        index = bisect.bisect(before, number)
        count += len(before) - index
        before.insert(index, number)
    return count


def two_sided_p_value(
    count: int, sizes: Sequence[int], *, alike: Sequence[int] = ()
) -> float:
    """Returns a p-value of a number of inversions, too few or too many.

    >>> two_sided_p_value(0, [4])  # 2 / 4!
    0.08333333333333333
    >>> two_sided_p_value(6, [4]) == two_sided_p_value(0, [4])
    True

    Args:
        count: Inversions, of all groups together.
        sizes: The number of items of each group.
        alike: The number of items of each kind that are alike; empty if all are distinct.

    Returns:
        In (0, 1]; at most a with probability a at most if every order is as likely.

    Raises:
        InvalidInputError: If there cannot be as many inversions.
    """
    most = sum(_pairs(n) for n in sizes) - sum(_pairs(d) for d in alike)
    if not 0 <= count <= most or sum(alike) > sum(sizes):
        raise InvalidInputError(f"Expected 0 to {most} inversions, got {count}.")
    # Both tails are alike: the distribution is symmetric about its middle.
    low = min(count, most - count)
    if 2 * low == most:
        return 1.0
    few = (sum(sizes) + sum(alike)) * low <= _FEW
    tail = (_counted if few else _bounded)(low, sizes, alike)
    return float(min(max(2.0 * tail, _SMALLEST), 1.0))


def _pairs(number: int) -> int:
    return number * (number - 1) // 2


def _counted(low: int, sizes: Sequence[int], alike: Sequence[int]) -> float:
    """Returns P(I <= low) by exact counting in Python integers."""
    orders = [1] + [0] * low
    for size in sizes:
        for j in range(2, size + 1):
            # Times 1 + q + ... + q^(j-1) = (1 - q^j) / (1 - q), up to q^low.
            _subtract_shifted(orders, j)
            _add_shifted(orders, 1)
    # Divided by the [d]! of items that are alike (MacMahon 1916).
    for size in alike:
        for j in range(2, size + 1):
            _subtract_shifted(orders, 1)
            _add_shifted(orders, j)
    whole = math.prod(map(math.factorial, sizes))
    return sum(orders) / (whole // math.prod(map(math.factorial, alike)))


def _subtract_shifted(orders: list[int], step: int) -> None:
    for index in range(len(orders) - 1, step - 1, -1):
        orders[index] -= orders[index - step]


def _add_shifted(orders: list[int], step: int) -> None:
    for index in range(step, len(orders)):
        orders[index] += orders[index - step]


def _bounded(low: int, sizes: Sequence[int], alike: Sequence[int]) -> float:
    """Returns an upper bound of P(I <= low)."""
    upper, lower = _factors(sizes), _factors(alike)
    most = sum(map(_pairs, sizes)) - sum(map(_pairs, alike))
    away = most / 2.0 - low
    # A uniform number on {0, ..., j - 1} has the variance (j^2 - 1) / 12.
    variance = (np.sum(upper**2 - 1.0) - np.sum(lower**2 - 1.0)) / 12.0

    # P(I <= E[I] - t) <= E[exp(theta (E[I] - I))] exp(-theta t) (Chernoff 1952).
    def log_bound(theta: float) -> float:
        return float(
            np.sum(_log_growth(theta, upper))
            - np.sum(_log_growth(theta, lower))
            - theta * away
        )

    # Every theta gives a valid bound; `usual` is the best one of a normal distribution.
    usual = away / max(float(variance), 0.25)
    minimum = minimize_scalar(log_bound, bounds=(0.0, 50.0 * usual), method="bounded")
    least = min(float(minimum.fun), log_bound(usual))
    return math.exp(min(least + _ROUNDING, 0.0))


def _factors(sizes: Sequence[int]) -> Floats:
    parts = [np.arange(1, n + 1, dtype=np.float64) for n in sizes]
    return np.concatenate([np.zeros(0), *parts])


def _log_growth(theta: float, factors: Floats) -> Floats:
    """Returns the log of E[exp(theta (U - E[U]))], U uniform on {0, ..., j - 1}.

    That is sinh(j theta / 2) / (j sinh(theta / 2)).
    """
    if theta < 1e-12:
        return np.zeros_like(factors)
    half = theta / 2.0
    # log(sinh(x)) without overflow; terms without j cancel for each j = 1.
    grown = factors * half + np.log(-np.expm1(-factors * theta))
    return grown - np.log(factors) - (half + math.log(-math.expm1(-theta)))
