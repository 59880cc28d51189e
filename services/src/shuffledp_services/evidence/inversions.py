"""P-values of the number of inversions of a uniformly random order, exact or bounded.

Of n items in a uniformly random order, the j-th precedes a number of the j - 1 former ones
that is uniform on {0, ..., j - 1}, independent of the others. So the inversions I have

    E[q^I] = [n]! / n!,    [n]! = prod_{j <= n} (1 + q + ... + q^(j-1)),

the sum over groups that are ordered separately is a product, and with d_1, d_2, ... equal
items among the n, [n]! / ([d_1]! [d_2]! ...) counts orders by inversions (MacMahon 1916):
the distribution of Mann and Whitney (1947). It is symmetric about its middle.

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
_MAX_ADDITIONS = 300_000
# More than the rounding of a sum of 10^5 logarithms.
_ROUNDING = 1e-6
_MIN_P_VALUE = 1e-300


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
    count: int, sizes: Sequence[int], *, tie_sizes: Sequence[int] = ()
) -> float:
    """Returns a p-value of a number of inversions, too few or too many.

    >>> two_sided_p_value(0, [4])  # 2 / 4!
    0.08333333333333333
    >>> two_sided_p_value(6, [4]) == two_sided_p_value(0, [4])
    True

    Args:
        count: Inversions, of all groups together.
        sizes: The number of items of each group.
        tie_sizes: The number of items of each kind with equal items; empty if all are
            distinct.

    Returns:
        In (0, 1]; at most a with probability a at most if all orders are equally likely.

    Raises:
        InvalidInputError: If there cannot be as many inversions.
    """
    max_inversions = sum(_pairs(n) for n in sizes) - sum(_pairs(d) for d in tie_sizes)
    if not 0 <= count <= max_inversions or sum(tie_sizes) > sum(sizes):
        raise InvalidInputError(
            f"Expected 0 to {max_inversions} inversions, got {count}."
        )
    # The tails are equal, as the distribution is symmetric about its middle.
    tail_count = min(count, max_inversions - count)
    if 2 * tail_count == max_inversions:
        return 1.0
    is_exact = (sum(sizes) + sum(tie_sizes)) * tail_count <= _MAX_ADDITIONS
    tail = (_exact_tail if is_exact else _tail_bound)(tail_count, sizes, tie_sizes)
    return float(min(max(2.0 * tail, _MIN_P_VALUE), 1.0))


def _pairs(number: int) -> int:
    return number * (number - 1) // 2


def _exact_tail(
    tail_count: int, sizes: Sequence[int], tie_sizes: Sequence[int]
) -> float:
    """Returns P(I <= tail_count) by exact counting in Python integers."""
    order_counts = [1] + [0] * tail_count
    for size in sizes:
        for j in range(2, size + 1):
            # Times 1 + q + ... + q^(j-1) = (1 - q^j) / (1 - q), up to q^tail_count.
            _subtract_shifted(order_counts, j)
            _add_shifted(order_counts, 1)
    # Divided by the [d]! of equal items (MacMahon 1916).
    for size in tie_sizes:
        for j in range(2, size + 1):
            _subtract_shifted(order_counts, 1)
            _add_shifted(order_counts, j)
    num_orders = math.prod(map(math.factorial, sizes))
    return sum(order_counts) / (num_orders // math.prod(map(math.factorial, tie_sizes)))


def _subtract_shifted(order_counts: list[int], step: int) -> None:
    for index in range(len(order_counts) - 1, step - 1, -1):
        order_counts[index] -= order_counts[index - step]


def _add_shifted(order_counts: list[int], step: int) -> None:
    for index in range(step, len(order_counts)):
        order_counts[index] += order_counts[index - step]


def _tail_bound(
    tail_count: int, sizes: Sequence[int], tie_sizes: Sequence[int]
) -> float:
    """Returns an upper bound of P(I <= tail_count)."""
    upper, lower = _factors(sizes), _factors(tie_sizes)
    max_inversions = sum(map(_pairs, sizes)) - sum(map(_pairs, tie_sizes))
    distance = max_inversions / 2.0 - tail_count
    # A uniform number on {0, ..., j - 1} has the variance (j^2 - 1) / 12.
    variance = (np.sum(upper**2 - 1.0) - np.sum(lower**2 - 1.0)) / 12.0

    # P(I <= E[I] - t) <= E[exp(theta (E[I] - I))] exp(-theta t) (Chernoff 1952).
    def log_bound(theta: float) -> float:
        return float(
            np.sum(_log_growth(theta, upper))
            - np.sum(_log_growth(theta, lower))
            - theta * distance
        )

    # Every theta gives a valid bound; `normal_theta` is the best for a normal distribution.
    normal_theta = distance / max(float(variance), 0.25)
    optimum = minimize_scalar(
        log_bound, bounds=(0.0, 50.0 * normal_theta), method="bounded"
    )
    smallest_log_bound = min(float(optimum.fun), log_bound(normal_theta))
    return math.exp(min(smallest_log_bound + _ROUNDING, 0.0))


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
