"""Texts of false-alarm probabilities and e-values."""

import math


def p_value_text(p_value: float | None) -> str:
    """Returns the text of a false-alarm probability.

    >>> p_value_text(0.03456), p_value_text(0.0), p_value_text(None), p_value_text(2e-31)
    ('0.035', 'none', 'not looked at', '2e-31')
    """
    if p_value is None:
        return "not looked at"
    return "none" if p_value == 0.0 else f"{p_value:.2g}"


def e_value_text(e_value: float) -> str:
    """Returns the text of an e-value.

    >>> [e_value_text(e) for e in (0.5123, 100.0, 123456.0, float("inf"))]
    ['0.512', '100', '1.23e+05', 'unlimited']
    """
    return "unlimited" if math.isinf(e_value) else f"{e_value:.3g}"
