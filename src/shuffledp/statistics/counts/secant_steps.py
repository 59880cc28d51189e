"""Steps toward the noise that just keeps a delta, by a line between two evaluations."""

import math

# A search ends when delta is missed by this part.
CLOSE = 2e-3
# In the place of 0, as logarithms are taken.
_LEAST_DELTA = 1e-300


def log_excess(delta: float, goal: float) -> float:
    """Returns log(delta / goal), finite of a delta of 0, too."""
    return math.log(max(delta, _LEAST_DELTA) / goal)


def size_between(low: tuple[float, float], high: tuple[float, float]) -> float:
    """Returns the size at which delta is just kept, by a line in logarithms.

    Args:
        low: A size that is too small, and log(delta / goal) there.
        high: One that is large enough, likewise.
    """
    large, small = (math.log(high[0]), high[1]), (math.log(low[0]), low[1])
    return math.exp(line_root(large, small))


def line_root(keeping: tuple[float, float], missed: tuple[float, float]) -> float:
    """Returns where delta is just kept, by a line between two numbers.

    Args:
        keeping: A number at which delta is kept, and log(delta / goal) there.
        missed: One at which it is not, likewise.
    """
    part = (missed[1] + 0.5 * CLOSE) / (missed[1] - keeping[1])
    # Steps that hardly leave an end are lengthened.
    part = min(max(part, 0.02), 0.98)
    return missed[0] + part * (keeping[0] - missed[0])
