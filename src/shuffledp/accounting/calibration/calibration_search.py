"""Searches that calibration is made of: the largest number that keeps a promise."""

import functools
import math
from collections.abc import Callable

import numpy as np
from scipy.special import log_ndtr

from shuffledp.accounting.calibration.promise import Promise
from shuffledp.errors import CertificationError
from shuffledp.population import MAX_BUDGET, Population

# Relative width at which a bisection ends.
WIDTH = 1e-7
# Of a search for two numbers with the end between them, in logarithms.
_FIRST_STRIDE, _LONGEST_STRIDE = 0.01, 0.7
# After so many upward they become longer: the start is far away. Downward the least budget
# of use is near.
_USUAL_STRIDES = 20
_SMALLEST = math.log(1e-12)
# Nothing smaller is told from 0; log 1 must not be 0.
_LEAST, _NOT_ONE = 1e-307, 1e-6


def excess_of(delta: float, promised: float) -> float:
    """Returns by about which factor budgets are too large, as a logarithm.

    >>> excess_of(1e-6, 1e-6), excess_of(0.0, 1e-6) < -1.5, excess_of(1.0, 1e-6) > 5.0
    (0.0, True, True)

    Args:
        delta: The certified delta, in [0, 1].
        promised: The largest permitted delta, in (0, 1).
    """
    depths = [_NOT_ONE - math.log(max(value, _LEAST)) for value in (promised, delta)]
    # Where losses are normal, log delta is about -1 / budget^2: half the logarithm of
    # its logarithm is nearly straight, for all deltas, at a slope between 1/2 and 1.
    excess = 0.5 * math.log(depths[0] / depths[1])
    # Of two numbers next to each other the logarithms may be equal.
    return max(excess, _LEAST) if delta > promised else min(excess, 0.0)


def normal_spread(epsilon: float, delta: float) -> float:
    """Returns the standard deviation of a normal loss that keeps (epsilon, delta) just so.

    >>> print(f"{normal_spread(1.0, 1e-6):.3f}")
    0.237
    """

    def excess(spread: float) -> float:
        return excess_of(normal_delta(epsilon, spread), delta)

    return largest(excess, epsilon, 1e3, 1e-3)


def normal_delta(epsilon: float, spread: float) -> float:
    """Returns about the delta at `epsilon` of a normal loss of this deviation."""
    # Phi(s / 2 - eps / s) - e^eps Phi(-s / 2 - eps / s); no factor overflows.
    over, under = (
        float(log_ndtr(half - epsilon / spread))
        for half in (0.5 * spread, -0.5 * spread)
    )
    return -math.exp(over) * math.expm1(min(epsilon + under - over, 0.0))


def largest_one(
    promise: Promise,
    people: Population,
    index: int,
    target: float,
    *,
    rounded: Callable[[float], float],
) -> float:
    """Returns the largest budget of one level that keeps its target, others fixed.

    Args:
        promise: Protocol and delta.
        people: The population.
        index: Position of the level.
        target: Its central epsilon.
        rounded: See `largest`.
    """
    excess = functools.partial(level_excess, promise, people, index, target)
    start = max(float(people.epsilons[index]), target)
    return largest(excess, start, MAX_BUDGET, rounded=rounded)


def level_excess(
    promise: Promise, people: Population, index: int, target: float, budget: float
) -> float:
    """Returns the certified excess of one level with this budget, others fixed."""
    changed, position = with_budget(people, index, budget)
    return excess_of(promise.delta_of(changed, position, target), promise.delta)


def with_budget(
    people: Population, index: int, budget: float
) -> tuple[Population, int]:
    """Returns people with one level's budget replaced, and where that level is then.

    Levels of equal budgets merge.
    """
    epsilons = people.epsilons.copy()
    epsilons[index] = budget
    levels, where = np.unique(epsilons, return_inverse=True)
    counts = np.bincount(where, weights=people.counts).astype(np.int64)
    return Population(levels, counts), int(where[index])


def largest(
    excess: Callable[[float], float],
    start: float,
    most: float,
    width: float = WIDTH,
    *,
    rounded: Callable[[float], float] = float,
) -> float:
    """Returns the largest number that fits, if all below it do, to seven digits.

    Args:
        excess: By about which factor a number is too large, as a logarithm; it fits
            exactly if this is at most 0. The better it is known, the fewer are tried.
        start: Where to begin.
        most: The largest number that is of use.
        width: Relative width at which the search ends.
        rounded: Applied to all numbers that are tried; equal ones are evaluated once, as
            a bound may jump a little from one number to the next, and the number
            that is found is evaluated as it is.

    Raises:
        CertificationError: If nothing down to 1e-12 fits.
    """
    top = math.log(most)
    excesses: dict[float, float] = {}
    known = functools.cache(excess)

    def evaluate(log: float) -> None:
        # The exponential of log `most` may be rounded to more than is allowed.
        excesses[log] = known(rounded(most if log >= top else math.exp(log)))

    low = high = end = min(math.log(start), top)
    evaluate(end)
    direction = 1.0 if excesses[low] <= 0.0 else -1.0
    min_stride, longest_stride = _FIRST_STRIDE, _LONGEST_STRIDE
    while (excesses[end] <= 0.0) == (direction > 0.0):
        if direction > 0.0 and end >= top:
            return rounded(most)
        # A little farther than it seems to be, and ever farther where that is wrong.
        stride = min(max(1.1 * abs(excesses[end]), min_stride), longest_stride)
        min_stride = min(3.0 * min_stride, longest_stride)
        if direction > 0.0 and len(excesses) > _USUAL_STRIDES:
            longest_stride *= 2.0
        before, end = end, min(end + direction * stride, top)
        if end < _SMALLEST:
            raise CertificationError("Not even a budget of 1e-12 keeps the target.")
        evaluate(end)
        low, high = (before, end) if direction > 0.0 else (end, before)
    end = _narrowed(evaluate, excesses, low, high, math.log1p(width))
    return rounded(math.exp(end))


def _narrowed(
    evaluate: Callable[[float], None],
    excesses: dict[float, float],
    low: float,
    high: float,
    width: float,
) -> float:
    """Returns the lower end of a shorter interval; the promise holds at this end only.

    Source: Oliveira and Takahashi (2020), ACM Transactions on Mathematical Software 47,
    "An enhancement of the bisection method".
    """
    whole = high - low
    budget = math.ceil(math.log2(max(whole / width, 1.0))) + 1
    while high - low > width:
        middle, fall = 0.5 * (low + high), excesses[high] - excesses[low]
        root = (excesses[high] * low - excesses[low] * high) / fall
        # Toward the middle, lest one end of the interval stay for ever.
        nudge = max(0.2 * (high - low) ** 2 / whole, 0.3 * width)
        root += math.copysign(min(nudge, abs(middle - root)), middle - root)
        # Never so far from the middle that bisection would need far fewer steps.
        reach = max(width * 2.0 ** (budget - 1) - 0.5 * (high - low), 0.0)
        point = min(max(root, middle - reach), middle + reach)
        budget -= 1
        evaluate(point)
        low, high = (point, high) if excesses[point] <= 0.0 else (low, point)
    return low
