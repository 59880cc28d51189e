"""The range of a number, which doubles have to resolve."""

import math

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError

# Part of the larger end that a range is wide at least. Doubles have 16 digits: of those of
# a value, 6 are left to tell values of the range apart.
_LEAST_PART = 1e-10
# Narrower ranges, and shares of them, have fewer digits than doubles usually have.
_LEAST_WIDTH = 1e-300


def half_range(low: float, high: float) -> float:
    """Returns half the length of the interval of possible values.

    >>> half_range(-1, 3)
    2.0

    Raises:
        InvalidInputError: Unless both ends are finite, `low` < `high`, and they are far
            enough apart for doubles.
    """
    low, high = as_number(low, "low"), as_number(high, "high")
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InvalidInputError(
            "Expected a range of values with low < high, both finite, got "
            f"{low:g} to {high:g}."
        )
    # Halves, as high - low may be more than the largest double.
    half = high / 2.0 - low / 2.0
    if half < _LEAST_PART / 2.0 * max(abs(low), abs(high)) or half < _LEAST_WIDTH / 2.0:
        raise InvalidInputError(
            "Expected a range of values that doubles resolve, from "
            f"{_LEAST_WIDTH:g} and {_LEAST_PART:g} of its larger end in width, got "
            f"{low!r} to {high!r}."
        )
    return half
