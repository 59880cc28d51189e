"""Option types of click for numbers, written as `shuffledp.number_text` allows."""

from typing import Any

import click

from shuffledp.number_text import is_lost, is_plain


# ParamType takes no type argument in the oldest click that is supported.
class _Plain(click.ParamType):  # type: ignore[type-arg]
    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Returns the number, or fails if it is written in another way."""
        if isinstance(value, str) and not is_plain(value):
            self.fail(f"Expected a number in digits 0 to 9, got {value!r}.", param, ctx)
        number = super().convert(value, param, ctx)
        # A delta of 1e-400 would silently become 0.
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
