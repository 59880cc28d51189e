"""Strict rules for numbers that people write: digits 0 to 9, no underflow to 0."""


def is_plain(text: str) -> bool:
    r"""Returns whether a text has no digits but ASCII's, and no underscore.

    >>> is_plain("1e-6"), is_plain("\uff11"), is_plain("1_000")
    (True, False, False)
    """
    # Python's int and float also read other scripts' digits and 1_000: numbers to some
    # people, typing errors to others.
    return text.isascii() and "_" not in text


def is_lost(text: str, number: float) -> bool:
    """Returns whether a text that is not 0 was read as 0, being too small.

    >>> is_lost("1e-400", 0.0), is_lost("0e-400", 0.0), is_lost("1e-3", 1e-3)
    (True, False, False)
    """
    mantissa = text.lower().partition("e")[0]
    # A digit other than 0 before the exponent: the number itself is not 0.
    return number == 0.0 and mantissa.strip(" +-0.") != ""
