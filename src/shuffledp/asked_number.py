"""A question for a number, as people are asked it, and how a device encodes the number.

A number becomes a position, and a position lies in one bucket of each level:

    edges    position = number of inner edges at or below the number
    steps    position = the number between low and high in units of 1 / steps of the range,
             rounded at random to a whole number, without bias
    levels   bucket = floor(position / width) mod buckets, for each (width, buckets)

Devices are told these numbers and nothing else: levels of intervals, each inside one of the
level above, show a distribution; binary digits show a mean. A number that may be skipped
has one more interval, or one more bucket of each digit: those who skip lie in the last
bucket of every level, and send as many messages as others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from shuffledp.arrays import without_minus_zero
from shuffledp.errors import InvalidInputError
from shuffledp.label_checks import check_label
from shuffledp.number_range import half_range

MOST_BINS = 1024
MOST_DIGITS = 24
DEFAULT_DIGITS = 6
# At most 20% above the smallest variance of distribution functions, for up to 256 bins.
_USUAL_FAN_OUT = 4
# Sums and squares of numbers this large are far from overflows.
_LARGEST_END = 1e15

Levels = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class AskedNumber:
    """One question for a number.

    >>> question = AskedNumber.in_intervals("How old are you?", (16, 30, 65, 120))
    >>> question.levels
    ((2, 2), (1, 3))
    >>> AskedNumber.in_digits("How many hours?", 0, 24, digits=3).levels
    ((4, 2), (2, 2), (1, 2))
    >>> AskedNumber.in_digits("Your pay?", 0, 9, digits=2, skippable=True).levels
    ((2, 3), (1, 3))

    Attributes:
        text: As people read it.
        unit: Of the number, such as "years"; may be empty.
        low: Smallest possible number.
        high: Largest possible number.
        edges: Ends of intervals, from `low` to `high`, 3 to 1,025; None with steps.
        steps: 2^J - 1 for J binary digits, from 1 to 24; None with edges.
        levels: Width and number of buckets of each level: those of intervals in intervals,
            or those of binary digits.
        skippable: Whether a person may leave it out.
    """

    text: str
    unit: str
    low: float
    high: float
    edges: tuple[float, ...] | None
    steps: int | None
    levels: Levels
    skippable: bool = False

    def __post_init__(self) -> None:
        check_label(self.text, "the text of a question")
        if not isinstance(self.unit, str):
            raise InvalidInputError(f"Expected a unit as text, got {self.unit!r:.40}.")
        for name in ("low", "high"):
            object.__setattr__(self, name, _checked_number(getattr(self, name)))
        half_range(self.low, self.high)
        if type(self.skippable) is not bool:
            raise InvalidInputError("Expected skippable as true or false.")
        if (self.edges is None) is (self.steps is None):
            raise InvalidInputError("Expected either edges or steps of a number.")
        allowed_levels = (
            self._levels_of_edges() if self.steps is None else self._digits()
        )
        if _level_pairs(self.levels) not in allowed_levels:
            raise InvalidInputError(
                "Expected levels of intervals in intervals, or of binary digits."
            )
        object.__setattr__(self, "levels", _level_pairs(self.levels))

    def _levels_of_edges(self) -> tuple[Levels, ...]:
        edges = self.edges
        if isinstance(edges, str) or not isinstance(edges, Sequence):
            raise InvalidInputError("Expected edges as a list of numbers.")
        numbers = tuple(_checked_number(edge) for edge in edges)
        if not 3 <= len(numbers) <= MOST_BINS + 1:
            raise InvalidInputError(
                f"Expected 3 to {MOST_BINS + 1:,} edges, got {len(numbers):,}."
            )
        if any(high <= low for low, high in pairwise(numbers)):
            raise InvalidInputError("Expected edges in ascending order.")
        if (numbers[0], numbers[-1]) != (self.low, self.high):
            raise InvalidInputError(
                "Expected edges from the lowest number to the highest."
            )
        object.__setattr__(self, "edges", numbers)
        levels, bins = _level_pairs(self.levels), len(numbers) - 1 + self.skippable
        fan_out = levels[-2][0] if len(levels) > 1 else bins
        return (interval_levels(bins, fan_out),) if fan_out >= 2 else ()

    def _digits(self) -> tuple[Levels, ...]:
        return tuple(
            digit_levels(digits, skippable=self.skippable)
            for digits in range(1, MOST_DIGITS + 1)
            if type(self.steps) is int and self.steps == 2**digits - 1
        )

    @classmethod
    def in_intervals(
        cls,
        text: str,
        edges: Sequence[float],
        *,
        unit: str = "",
        fan_out: int | None = None,
        skippable: bool = False,
    ) -> "AskedNumber":
        """Returns a question that estimates the distribution.

        Args:
            text: As people read it.
            edges: Ends of intervals, in ascending order.
            unit: Of the number.
            fan_out: Intervals that one of the level above holds, at least 2; by default 4,
                or 2 if there are no more than 4 intervals.
            skippable: Whether a person may leave it out.
        """
        if isinstance(edges, str) or not isinstance(edges, Sequence) or len(edges) < 3:
            raise InvalidInputError("Expected edges as a list of at least 3 numbers.")
        bins = len(edges) - 1
        if fan_out is None:
            fan_out = _USUAL_FAN_OUT if bins > _USUAL_FAN_OUT else 2
        if type(fan_out) is not int or not 2 <= fan_out <= MOST_BINS:
            raise InvalidInputError(
                f"Expected a fan_out from 2 to {MOST_BINS:,}, got {fan_out!r:.40}."
            )
        # Other values are refused with the question.
        levels = interval_levels(bins + (skippable is True), fan_out)
        ends = edges[0], edges[-1]
        return cls(text, unit, *ends, tuple(edges), None, levels, skippable)

    @classmethod
    def in_digits(
        cls,
        text: str,
        low: float,
        high: float,
        *,
        unit: str = "",
        digits: int = DEFAULT_DIGITS,
        skippable: bool = False,
    ) -> "AskedNumber":
        """Returns a question that estimates the mean.

        Args:
            text: As people read it.
            low: Smallest possible number.
            high: Largest possible number.
            unit: Of the number.
            digits: J, binary digits to which a number is rounded at random, from 1 to 24.
            skippable: Whether a person may leave it out.
        """
        if type(digits) is not int or not 1 <= digits <= MOST_DIGITS:
            raise InvalidInputError(
                f"Expected from 1 to {MOST_DIGITS} digits, got {digits!r:.40}."
            )
        levels = digit_levels(digits, skippable=skippable is True)
        return cls(text, unit, low, high, None, 2**digits - 1, levels, skippable)

    @property
    def fan_out(self) -> int:
        """Intervals that one of the level above holds, where there are edges."""
        return self.levels[-2][0] if len(self.levels) > 1 else self.levels[0][1]

    @property
    def stated_levels(self) -> Levels:
        """Levels of numbers that were stated, without buckets for skips.

        Of a number with steps, which combinations are made of.
        """
        return digit_levels(len(self.levels))

    @property
    def text_lists(self) -> tuple[tuple[str, ...], ...]:
        """The texts that people read, in the order of translations."""
        return ((self.text,), (self.unit,)) if self.unit else ((self.text,),)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        scale: dict[str, Any] = (
            {"steps": self.steps} if self.edges is None else {"edges": list(self.edges)}
        )
        # Tasks whose people state all numbers stay what they were.
        skips = {"skippable": True} if self.skippable else {}
        return {
            "text": self.text,
            "unit": self.unit,
            "low": self.low,
            "high": self.high,
            **scale,
            "levels": [list(level) for level in self.levels],
            **skips,
        }


def interval_levels(bins: int, fan_out: int) -> Levels:
    """Returns levels of intervals, the widest first: a level divides the one above.

    >>> interval_levels(10, 4)
    ((4, 3), (1, 10))
    """
    levels = [(1, bins)]
    while levels[0][1] > fan_out:
        width, buckets = levels[0]
        levels.insert(0, (width * fan_out, -(-buckets // fan_out)))
    return tuple(levels)


def digit_levels(digits: int, *, skippable: bool = False) -> Levels:
    """Returns levels of binary digits, the most significant one first."""
    return tuple((2**digit, 2 + skippable) for digit in reversed(range(digits)))


def _checked_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInputError(f"Expected a number, got {value!r:.40}.")
    # Written this way round, it refuses NaN, too.
    if not -_LARGEST_END <= value <= _LARGEST_END:
        raise InvalidInputError(
            f"Expected numbers up to {_LARGEST_END:g} in size, got {value!r:.40}."
        )
    return without_minus_zero(float(value))


def _level_pairs(value: object) -> Levels:
    """Returns levels as tuples; raises InvalidInputError if they are no lists of pairs."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise InvalidInputError("Expected levels as a list of pairs.")
    levels = []
    for level in value:
        is_pair = isinstance(level, Sequence) and len(level) == 2
        if not is_pair or any(type(number) is not int for number in level):
            raise InvalidInputError("Expected levels as pairs of whole numbers.")
        levels.append((level[0], level[1]))
    return tuple(levels)
