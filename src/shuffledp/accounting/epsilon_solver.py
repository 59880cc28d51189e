"""From a bound on delta to a bound on epsilon, on the safe side of the root.

Answers have six significant digits: the certified epsilon is the smallest such number at
which the bound was evaluated and found to hold, the attacked epsilon the largest at which
the attack was found to succeed.
"""

import functools
import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from scipy.optimize import brentq

# So few that answers are short, and the same on every machine.
_DIGITS = 6
_TINY = 1e-320


def round_up(number: float) -> float:
    """Returns the smallest number of six significant digits that is >= `number`.

    >>> round_up(0.12345601), round_up(0.25)
    (0.123457, 0.25)
    """
    return _rounded(number, ROUND_CEILING)


def shortened(number: float) -> float:
    """Returns a number that is displayed: six digits, rounded up, in place of 16 or 17.

    >>> shortened(3 * 0.1), shortened(1.2345623)
    (0.300001, 1.2345623)
    """
    # Multiples and sums of budgets have all digits of a double; what people wrote has not.
    short = float(f"{number:.15g}") == number
    return number if short else round_up(number)


def round_down(number: float) -> float:
    """Returns the largest number of six significant digits that is <= `number`.

    >>> round_down(0.12345699)
    0.123456
    """
    return _rounded(number, ROUND_FLOOR)


def smallest_certified_epsilon(
    upper: Callable[[float], float], delta: float, *, ceiling: float, guess: float
) -> float:
    """Returns an epsilon with upper(epsilon) <= delta, checked by evaluating it there.

    Args:
        upper: A proven upper bound of the divergence at any epsilon in [0, ceiling].
        delta: The target, in (0, 1).
        ceiling: An epsilon that is known to hold with delta = 0 (the local budget).
        guess: Where the root may lie; any number >= 0.
    """
    # The search comes back to where it was.
    upper = functools.cache(upper)
    if upper(0.0) <= delta:
        return 0.0
    epsilon = round_up(_root(upper, delta, ceiling=ceiling, guess=guess))
    # The root is approximate: an answer must have been evaluated, and have held.
    while epsilon < ceiling and upper(epsilon) > delta:
        epsilon = round_up(math.nextafter(epsilon, math.inf))
    return min(epsilon, ceiling)


def largest_attacked_epsilon(
    lower: Callable[[float], float], delta: float, *, ceiling: float, guess: float
) -> float:
    """Returns an epsilon with lower(epsilon) > delta, or 0 where there is none.

    Args:
        lower: A proven lower bound of the divergence at any epsilon in [0, ceiling].
        delta: The target, in (0, 1).
        ceiling: The local budget, beyond which no attack succeeds.
        guess: Where the root may lie; any number >= 0.
    """
    lower = functools.cache(lower)
    if lower(0.0) <= delta:
        return 0.0
    epsilon = round_down(_root(lower, delta, ceiling=ceiling, guess=guess))
    # Downward here: at the answer the attack must have been seen to succeed.
    while epsilon > 0.0 and lower(epsilon) <= delta:
        epsilon = round_down(math.nextafter(epsilon, 0.0))
    return epsilon


def _root(
    function: Callable[[float], float], delta: float, *, ceiling: float, guess: float
) -> float:
    """Returns roughly where a decreasing function meets delta, in (0, ceiling]."""

    # In logarithms the function is nearly straight, and few steps lead to its root.
    def excess(log_epsilon: float) -> float:
        return math.log(max(function(math.exp(log_epsilon)), _TINY) / delta)

    top = math.log(ceiling)
    low = high = min(math.log(max(guess, 1e-12 * ceiling)), top)
    stride = 0.05
    if excess(low) > 0.0:
        while excess(high) > 0.0:
            if high >= top:
                return ceiling
            low, high = high, min(high + stride, top)
            stride *= 2.0
    else:
        # This ends, as both callers know that the function exceeds delta at 0.
        while excess(low) <= 0.0:
            high, low = low, low - stride
            stride *= 2.0
    root: float = math.exp(brentq(excess, low, high, xtol=1e-8, rtol=1e-14))
    return min(root, ceiling)


def _rounded(number: float, rounding: str) -> float:
    # The shortest decimal that means this float: 0.1 has six digits, and stays.
    exact = Decimal(repr(number))
    if exact == 0:
        return 0.0
    unit = Decimal(1).scaleb(exact.adjusted() - _DIGITS + 1)
    return float(exact.quantize(unit, rounding=rounding))
