"""How far the two lines are from an integral's own that bound the error of its points."""

from collections.abc import Callable

# Parts of the distance to the pole: the first, and the least.
_FIRST, _LEAST = 0.9, 1e-9
# How much the logarithm of the integrand may grow up to a line, and that of the tolerance.
_MOST_GROWTH, _DIGITS = 40.0, 20.7


def line_distance(saddle: float, growth: Callable[[float], float]) -> float:
    """Returns the distance with about the longest step between points.

    A step is in proportion to the distance, over the digits and the growth. The pole at 0
    stays outside of the lines.

    Args:
        saddle: Where the integral's line crosses the positive axis.
        growth: By how much the logarithm of the integrand grows on the axis, from the
            saddle up to a distance.

    Raises:
        OverflowError: If it grows too much however near, or numbers are too extreme.
    """
    distance, best, longest = _FIRST * saddle, 0.0, 0.0
    while distance >= _LEAST * saddle:
        grown = growth(distance)
        # Not `>=`: of losses that are no numbers it is none.
        if grown < _MOST_GROWTH:
            length = distance / (_DIGITS + max(grown, 0.0))
            if length <= longest:
                break
            best, longest = distance, length
        distance /= 2.0
    if best == 0.0:
        raise OverflowError
    return best
