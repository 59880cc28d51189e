"""Types of options that are numbers, written as `shuffledp.number_text` allows."""

from typing import Any

import click

from shuffledp.number_text import is_lost, is_plain


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
