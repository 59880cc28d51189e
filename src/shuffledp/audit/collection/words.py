"""How false-alarm probabilities and e-values are written for people."""

import math


def chance_of(p_value: float | None) -> str:
    """Returns a false-alarm probability in words.

    >>> chance_of(0.03456), chance_of(0.0), chance_of(None), chance_of(2e-31)
    ('0.035', 'none', 'not looked at', '2e-31')
    """
    if p_value is None:
        return "not looked at"
    return "none" if p_value == 0.0 else f"{p_value:.2g}"


def words_of(e_value: float) -> str:
    """Returns an e-value in words.

    >>> words_of(0.5123), words_of(100.0), words_of(123456.0), words_of(float("inf"))
    ('0.512', '100', '1.23e+05', 'unlimited')
    """
    return "unlimited" if math.isinf(e_value) else f"{e_value:.3g}"
