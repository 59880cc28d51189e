"""Numbers as people read them, and as JSON has them."""

import math


def plain(number: float) -> str:
    """Returns a number in full, whole numbers without a fraction.

    >>> plain(0.00189553), plain(1.0), plain(1e-06)
    ('0.00189553', '1', '1e-06')
    """
    # All digits: a certified number must not be rounded downward.
    return repr(float(number)).removesuffix(".0")


def finite_or_none(number: float) -> float | None:
    """Returns a number for JSON, which has no NaN, and no infinity: None stands for them.

    >>> finite_or_none(0.5), finite_or_none(float("inf"))
    (0.5, None)
    """
    return number if math.isfinite(number) else None
