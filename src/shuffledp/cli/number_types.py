"""Types of options that are numbers: written in the digits 0 to 9, and nothing else.

Python's `int` and `float` also read other scripts' digits and 1_000: what one person reads
as a number, and another as a typing error, is none here.
"""

from typing import Any

import click


def is_plain(text: str) -> bool:
    r"""Returns whether a text has no digits but ASCII's, and no underscore.

    >>> is_plain("1e-6"), is_plain("\uff11"), is_plain("1_000")
    (True, False, False)
    """
    return text.isascii() and "_" not in text


def is_lost(text: str, number: float) -> bool:
    """Returns whether a text that is not 0 was read as 0, being too small.

    >>> is_lost("1e-400", 0.0), is_lost("0e-400", 0.0), is_lost("1e-3", 1e-3)
    (True, False, False)
    """
    mantissa = text.lower().partition("e")[0]
    return number == 0.0 and mantissa.strip(" +-0.") != ""


# The oldest click that is taken has no parameters of types.
class _Plain(click.ParamType):  # type: ignore[type-arg]
    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Returns the number; fails if it is written in any other way."""
        if isinstance(value, str) and not is_plain(value):
            self.fail(f"Expected a number in digits 0 to 9, got {value!r}.", param, ctx)
        number = super().convert(value, param, ctx)
        if isinstance(value, str) and is_lost(value, number):
            self.fail(f"Expected numbers from 5e-324, or 0, got {value!r}.", param, ctx)
        return number


class _Whole(_Plain, click.types.IntParamType):
    """A whole number."""


class _Number(_Plain, click.types.FloatParamType):
    """A number."""


class WholeRange(_Plain, click.IntRange):
    """A whole number of a range, as `click.IntRange` takes it."""


class NumberRange(_Plain, click.FloatRange):
    """A number of a range, as `click.FloatRange` takes it."""


WHOLE = _Whole()
NUMBER = _Number()
