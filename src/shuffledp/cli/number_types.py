"""Option types of click for numbers, written as `shuffledp.number_text` allows."""

import math
from dataclasses import dataclass
from fractions import Fraction
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
        # Adding 0 turns -0.0 into 0.0: equal numbers are to be written alike.
        return number + 0


class _Whole(_Plain, click.types.IntParamType):
    """A whole number."""


class _Number(_Plain, click.types.FloatParamType):
    """A number."""


class WholeRange(_Plain, click.IntRange):
    """A whole number of a range, as `click.IntRange` takes it."""


class NumberRange(_Plain, click.FloatRange):
    """A number of a range, as `click.FloatRange` takes it, and not NaN."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Returns the number, or fails if it is outside of the range."""
        number = super().convert(value, param, ctx)
        # It is neither below nor above any end, and click lets it pass.
        if math.isnan(number):
            self.fail(f"Expected a number of the range, got {value!r}.", param, ctx)
        return number


@dataclass(frozen=True)
class Share:
    """A share of a population, exactly as it was written."""

    part: Fraction

    def of(self, num_users: int) -> int:
        """Returns the number of users that it is, rounded up."""
        return math.ceil(self.part * num_users)


class _CountOrShare(_Whole):
    """A number of people, or a share of all as "10%"."""

    name = "integer or percent"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Returns an int or a `Share`."""
        if not isinstance(value, str) or not value.endswith("%"):
            return super().convert(value, param, ctx)
        if not value.removesuffix("%").strip():
            self.fail(f"Expected a number before %, got {value!r}.", param, ctx)
        percent = NUMBER.convert(value.removesuffix("%"), param, ctx)
        if not 0.0 <= percent < 100.0:
            self.fail(f"Expected from 0% to less than 100%, got {value!r}.", param, ctx)
        return Share(Fraction(value.removesuffix("%").strip()) / 100)


WHOLE = _Whole()
NUMBER = _Number()
COUNT_OR_SHARE = _CountOrShare()
