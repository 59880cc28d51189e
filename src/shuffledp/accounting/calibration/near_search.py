"""A search for the largest number that fits, from close to it, with a known slope.

Bounds of several rounds take seconds, and their last digits are rough: the search ends at
a number that fits and is nearly the largest.
"""

import functools
import math
from collections.abc import Callable

from shuffledp.accounting.calibration.calibration_search import largest

# Steps before a search without slopes goes on, and the longest of them, as a logarithm.
_MOST_STEPS, _LONGEST = 6, 0.3
# By how much more may be left after every step.
_WIDER = 1.4
# By how much a slope that was seen may differ from the one that was known.
_SLOPE_FACTOR = 2.0


def nearly_largest(
    excess: Callable[[float], float],
    start: float,
    slope: float,
    most: float,
    width: float,
    *,
    rounded: Callable[[float], float] = float,
) -> float:
    """Returns a number that fits, nearly the largest.

    It is less by about two widths if the start was as good, and the more steps it takes,
    the more may be left: eleven widths after five.

    Args:
        excess: By about which factor a number is too large, as a logarithm; it fits exactly
            if this is at most 0.
        start: Close to the largest number.
        slope: Of the excess in the logarithm of the number there, above 0.
        most: The largest number that is of use.
        width: Relative.
        rounded: Applied to all numbers that are tried.

    Raises:
        CertificationError: If nothing down to 1e-12 fits.
    """
    top = math.log(most)
    known = functools.cache(excess)
    goal, below, above = -slope * width, -math.inf, math.inf
    log, last = min(math.log(start), top), None
    for step in range(_MOST_STEPS):
        number = rounded(most if log >= top else math.exp(log))
        size = known(number)
        if size <= 0.0:
            if size >= 2.0 * _WIDER**step * goal or log >= top:
                return number
            below = log
        else:
            above = log
        if above - below <= width:
            return rounded(math.exp(below))
        seen = slope
        if last is not None and last[0] != log:
            seen = (size - last[1]) / (log - last[0])
            seen = min(max(seen, slope / _SLOPE_FACTOR), slope * _SLOPE_FACTOR)
        last = log, size
        log += min(max((goal - size) / seen, -_LONGEST), _LONGEST)
        if not below < log < above:
            # Both ends are known, as every step leads away from the last one.
            log = 0.5 * (below + above)
        log = min(log, top)
    start = math.exp(below if below > -math.inf else log)
    return largest(known, start, most, width, rounded=rounded)
