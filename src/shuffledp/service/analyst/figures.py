"""Where bars and whiskers of an estimate stand, in percent of a picture's width.

A picture of any width can be drawn from it: on a phone as on a wall, text keeps its size.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shuffledp.report.display_text import MAX_ROWS, decimals, rounded
from shuffledp.service.wire.question import Question


@dataclass(frozen=True)
class Bar:
    """One estimated number.

    Attributes:
        name: What it is about.
        value: The number, in words.
        error: Its standard error, in words.
        interval: In words.
        population: The interval about the population, in words.
        start: Where its bar begins.
        width: Of its bar.
        dot: Where the number itself is.
        low: Where its whisker begins.
        high: Where it ends.
    """

    name: str
    value: str
    error: str
    interval: str
    population: str
    start: float
    width: float
    dot: float
    low: float
    high: float


@dataclass(frozen=True)
class Tick:
    """A mark of the axis: where, what it says, and which side of it the text is on."""

    place: float
    text: str
    anchor: str


@dataclass(frozen=True)
class Figure:
    """All of it.

    Attributes:
        bars: One for each number, the largest of too many in their order.
        ticks: Of the axis.
        left_out: How many numbers are not shown.
        has_bars: Whether lengths mean something.
    """

    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    left_out: int
    has_bars: bool


def figure_of(
    result: dict[str, Any], question: Question, *, most: int = MAX_ROWS
) -> Figure:
    """Returns the figure of a published result, with so many numbers at most."""
    rows: list[dict[str, Any]] = result["estimate"]["rows"]
    shown = _largest(rows, most)
    survey = question.survey
    display, num_users = survey.words.display, result["estimate"]["num_users"]
    digits = decimals(display.factor * row["standard_error"] for row in shown)
    numbers = [end for row in shown for end in row["interval"]]
    ends = [display.factor * end for end in (*numbers, *survey.axis_ends(num_users))]
    axis = Axis.of(ends)
    origin = axis.place(0.0)

    def words(number: float) -> str:
        return f"{rounded(display.factor * number, digits)}{display.suffix}"

    def bar(row: dict[str, Any]) -> Bar:
        dot = axis.place(display.factor * row["value"])
        low, high = (axis.place(display.factor * end) for end in row["interval"])
        return Bar(
            row["name"],
            words(row["value"]),
            words(row["standard_error"]),
            " to ".join(map(words, row["interval"])),
            " to ".join(map(words, row["population_interval"])),
            min(origin, dot),
            abs(dot - origin),
            dot,
            low,
            high,
        )

    return Figure(
        tuple(map(bar, shown)),
        axis.ticks(display.suffix),
        len(rows) - len(shown),
        display.has_bars,
    )


def _largest(rows: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    order = sorted(range(len(rows)), key=lambda place: -rows[place]["value"])
    return [rows[place] for place in sorted(order[:most])]


@dataclass(frozen=True)
class Axis:
    """A horizontal axis with marks at round numbers.

    Attributes:
        low: Its left end.
        high: Its right end.
        step: From mark to mark: 1, 2 or 5 times a power of 10.
    """

    low: float
    high: float
    step: float

    @classmethod
    def of(cls, numbers: Sequence[float], *, marks: int = 4) -> "Axis":
        """Returns an axis that shows all numbers, with about so many marks."""
        least, most = min(numbers), max(numbers)
        if least == most:
            most = min(least + (abs(most) or 1.0), sys.float_info.max)
        # Halves: the whole may be more than the largest number there is.
        wanted = max((most / 2.0 - least / 2.0) / marks * 2.0, sys.float_info.min)
        power = 10.0 ** math.floor(math.log10(wanted))
        rough = (factor * power for factor in (1.0, 2.0, 5.0))
        step = next((step for step in rough if step >= wanted), 10.0 * power)
        return cls(least, most, step)

    def place(self, number: float) -> float:
        """Returns where a number stands, in percent from the left."""
        half = self.low / 2.0
        part = (number / 2.0 - half) / ((self.high / 2.0 - half) or 1.0)
        return round(100.0 * min(max(part, 0.0), 1.0), 3)

    def ticks(self, unit: str) -> tuple[Tick, ...]:
        """Returns the marks."""
        first, last = math.ceil(self.low / self.step), math.floor(self.high / self.step)
        digits = max(-math.floor(math.log10(self.step)), 0)
        ticks = []
        for index in range(first, last + 1):
            number = index * self.step
            place = self.place(number)
            # Text at the ends stays inside the picture.
            anchor = "start" if place < 5 else "end" if place > 95 else "middle"
            ticks.append(Tick(place, f"{rounded(number, digits)}{unit}", anchor))
        return tuple(ticks)
