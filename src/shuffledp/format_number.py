"""Numbers as people read them."""


def plain(number: float) -> str:
    """Returns a number in full, whole numbers without a fraction.

    >>> plain(0.00189553), plain(1.0), plain(1e-06)
    ('0.00189553', '1', '1e-06')
    """
    # All digits: a certified number must not be rounded downward.
    return repr(float(number)).removesuffix(".0")
