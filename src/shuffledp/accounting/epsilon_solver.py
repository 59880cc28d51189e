"""From a bound on delta to a bound on epsilon, on the safe side of the root.

Answers have six significant digits: the certified epsilon is the smallest such number at
which the bound was evaluated and found to hold, the attacked epsilon the largest at which
the attack was found to succeed.
"""

import itertools
import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from shuffledp.errors import CertificationError

# So few that answers are short, and the same on every machine.
_DIGITS = 6
# In the place of a bound of 0, as its logarithm is taken.
_TINY = 1e-320
# Steps away from a guess: at least, as a logarithm, and where the guess is bad.
_SHORTEST, _FIRST_FACTOR, _LONGEST = 2e-7, 1.05, 0.7
# So many steps along lines are tried first, each going farther beyond where it meets 0.
_LINES = 3
# No epsilon has a larger logarithm, but lines may meet 0 there.
_FARTHEST = 700.0
# Where the interval is not a quarter of that so many steps before, it is halved.
_PATIENCE = 4


def round_up(number: float) -> float:
    """Returns the smallest number of six significant digits that is >= `number`.

    >>> round_up(0.12345601), round_up(0.25)
    (0.123457, 0.25)
    """
    return _rounded_to_digits(number, ROUND_CEILING)


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
    return _rounded_to_digits(number, ROUND_FLOOR)


def smallest_certified_epsilon(
    upper: Callable[[float], float],
    delta: float,
    *,
    ceiling: float,
    guess: float,
    fall: float | None = None,
) -> float:
    """Returns an epsilon with upper(epsilon) <= delta, checked by evaluating it there.

    Args:
        upper: A proven upper bound of the divergence at any epsilon in [0, ceiling].
        delta: The target, in (0, 1).
        ceiling: An epsilon that is known to hold with delta = 0 (the local budget).
        guess: Where the root may lie; any number >= 0.
        fall: By about how much log delta falls with log epsilon there, above 0; by
            default as of a normal loss.
    """
    return _around(upper, delta, ceiling=ceiling, guess=guess, fall=fall)[1]


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
    return _around(lower, delta, ceiling=ceiling, guess=guess)[0]


def rough_epsilon(
    estimate: Callable[[float], float], delta: float, *, ceiling: float, guess: float
) -> float:
    """Returns roughly where an estimate meets delta, to five digits.

    Args:
        estimate: About the divergence at any epsilon in [0, ceiling].
        delta: The target, in (0, 1).
        ceiling: The largest epsilon of use.
        guess: Where the root may lie; any number >= 0.
    """
    return _around(estimate, delta, ceiling=ceiling, guess=guess, digits=5)[1]


def _around(
    function: Callable[[float], float],
    delta: float,
    *,
    ceiling: float,
    guess: float,
    digits: int = _DIGITS,
    fall: float | None = None,
) -> tuple[float, float]:
    """Returns neighboring numbers of `digits` digits about where a function meets delta.

    The function was evaluated at both, and exceeds delta at the first only; 0 and the
    ceiling stand for the first and the second where there are none between. (0, 0) if it
    does not exceed delta at 0.
    """
    excesses: dict[float, float] = {}

    # In logarithms the function is nearly straight, and few steps lead to its root.
    def exceeds(epsilon: float) -> bool:
        bound = function(epsilon)
        if math.isnan(bound):
            raise CertificationError(f"No bound is known at epsilon {epsilon:g}.")
        excesses[epsilon] = math.log(max(bound, _TINY) / delta)
        # Not by the logarithm, which may be rounded to 0.
        return bound > delta

    if fall is None:
        # Of a normal loss, log delta falls twice as fast as it is deep: a little farther.
        fall = 1.0 - 1.5 * math.log(delta)
    start = _rounded_to_digits(
        max(min(guess, ceiling), 1e-12 * ceiling), ROUND_CEILING, digits
    )
    last = _rounded_to_digits(math.nextafter(ceiling, 0.0), ROUND_FLOOR, digits)
    low = high = start = min(start, last)
    rises = exceeds(start)
    factor = _stride(abs(excesses[start]) / fall)
    # A step is one digit at least.
    for step in itertools.count():
        if rises:
            above = math.nextafter(high, math.inf)
            low, high = (
                high,
                _rounded_to_digits(max(high * factor, above), ROUND_CEILING, digits),
            )
            if high >= ceiling:
                # Where nothing holds but the ceiling, no search between would end sooner.
                if low >= last or exceeds(last):
                    return max(low, last), ceiling
                high = last
                break
            if not exceeds(high):
                break
        else:
            below = math.nextafter(low, 0.0)
            high, low = (
                low,
                _rounded_to_digits(min(low / factor, below), ROUND_FLOOR, digits),
            )
            if low < _TINY:
                return (0.0, high) if exceeds(0.0) else (0.0, 0.0)
            if exceeds(low):
                break
            if step == 0 and not exceeds(0.0):
                return 0.0, 0.0
        end = high if rises else low
        root = _line_root(excesses, fallback=end)
        log_distance = 2.0**step * math.log(root / end) * (1.0 if rises else -1.0)
        if step < _LINES and log_distance > 0.0:
            factor = _stride(log_distance)
        else:
            factor = max(factor**2, _FIRST_FACTOR)
    return _narrowed_bracket(exceeds, excesses, low, high, digits)


def _narrowed_bracket(
    exceeds: Callable[[float], bool],
    excesses: dict[float, float],
    low: float,
    high: float,
    digits: int,
) -> tuple[float, float]:
    """Returns neighboring numbers between two, where a function falls below 0."""
    widths = [math.inf] * _PATIENCE
    while True:
        shortest_low = _rounded_to_digits(
            math.nextafter(low, math.inf), ROUND_CEILING, digits
        )
        if shortest_low >= high:
            return low, high
        shortest_high = _rounded_to_digits(
            math.nextafter(high, 0.0), ROUND_FLOOR, digits
        )
        widths.append(math.log(high / low))
        point = math.sqrt(low) * math.sqrt(high)
        if widths[-1] <= 0.25 * widths[-1 - _PATIENCE]:
            point = _curve_root(excesses, low, high, fallback=point)
        point = min(
            max(_rounded_to_digits(point, ROUND_CEILING, digits), shortest_low),
            shortest_high,
        )
        if exceeds(point):
            low = point
        else:
            high = point


def _line_root(excesses: dict[float, float], *, fallback: float) -> float:
    """Returns where the line through the two least excesses, in logarithms, meets 0."""
    evaluated = sorted(
        (epsilon for epsilon in excesses if epsilon > 0.0),
        key=lambda e: abs(excesses[e]),
    )
    if len(evaluated) < 2 or excesses[evaluated[0]] == excesses[evaluated[1]]:
        return fallback
    first, second = evaluated[:2]
    share = excesses[first] / (excesses[first] - excesses[second])
    log_root = math.log(first) + share * math.log(second / first)
    return math.exp(min(max(log_root, -_FARTHEST), _FARTHEST))


def _curve_root(
    excesses: dict[float, float], low: float, high: float, *, fallback: float
) -> float:
    """Returns where a parabola through the three least excesses meets 0, or a line.

    Logarithms of epsilon are the parabola's values, and excesses its arguments: the root
    of its inverse need not be chosen.
    """
    line = min(max(_line_root(excesses, fallback=fallback), low), high)
    nearest = sorted(
        ((excess, math.log(e)) for e, excess in excesses.items() if e > 0.0),
        key=lambda pair: abs(pair[0]),
    )[:3]
    falls = [excess for excess, _ in nearest]
    if len(set(falls)) < 3:
        return line
    log_root = 0.0
    for excess, log in nearest:
        others = [other for other in falls if other != excess]
        log_root += log * math.prod(other / (other - excess) for other in others)
    return math.exp(log_root) if math.log(low) < log_root < math.log(high) else line


def _stride(length: float) -> float:
    """Returns the factor of a step of this length, in logarithms."""
    return math.exp(min(max(length, _SHORTEST), _LONGEST))


def _rounded_to_digits(number: float, rounding: str, digits: int = _DIGITS) -> float:
    # The shortest decimal that means this float: 0.1 has six digits, and stays.
    exact = Decimal(repr(number))
    if exact == 0:
        return 0.0
    unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return float(exact.quantize(unit, rounding=rounding))
