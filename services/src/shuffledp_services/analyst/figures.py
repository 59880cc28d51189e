"""Layout of an estimate's bars and whiskers, in percent of a picture's width.

Percentages fit a picture of any width, from a phone to a wall, and text keeps its size.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shuffledp.display_text import decimals, rounded
from shuffledp.report.listed_rows import MAX_ROWS
from shuffledp_services.wire.question import Question


@dataclass(frozen=True)
class Bar:
    """Bar of one estimated number; texts are formatted, positions are in percent.

    Attributes:
        name: Label of the number.
        value: Text of the number.
        error: Text of its standard error.
        interval: Text of its interval.
        population: Text of the interval for the population.
        start: Position of the bar's left end.
        width: Width of the bar.
        dot: Position of the number.
        low: Position of the whisker's left end.
        high: Position of the whisker's right end.
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
    """Mark of the axis: its position, its text, and the anchor of the text."""

    position: float
    text: str
    anchor: str


@dataclass(frozen=True)
class Figure:
    """Figure of an estimate.

    Attributes:
        bars: One per number; of too many only the largest, in their order.
        ticks: Marks of the axis.
        left_out: Number of estimates without a bar.
        has_bars: Whether lengths of bars are meaningful.
    """

    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    left_out: int
    has_bars: bool


def figure_of(
    result: dict[str, Any], question: Question, *, most: int = MAX_ROWS
) -> Figure:
    """Returns the figure of a published result, with at most `most` numbers."""
    rows: list[dict[str, Any]] = result["estimate"]["rows"]
    largest = _largest(rows, most)
    survey = question.survey
    display, num_users = survey.words.display, result["estimate"]["num_users"]
    # As many decimals as the standard errors justify, and the same for all numbers.
    digits = decimals(display.factor * row["standard_error"] for row in largest)
    numbers = [end for row in largest for end in row["interval"]]
    ends = [display.factor * end for end in (*numbers, *survey.axis_ends(num_users))]
    axis = Axis.of(ends)
    origin = axis.position(0.0)

    def words(number: float) -> str:
        return f"{rounded(display.factor * number, digits)}{display.suffix}"

    def bar(row: dict[str, Any]) -> Bar:
        dot = axis.position(display.factor * row["value"])
        low, high = (axis.position(display.factor * end) for end in row["interval"])
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
        tuple(map(bar, largest)),
        axis.ticks(display.suffix),
        len(rows) - len(largest),
        display.has_bars,
    )


def _largest(rows: list[dict[str, Any]], maximum: int) -> list[dict[str, Any]]:
    # Sorted is stable: of equal numbers the first ones get a bar.
    order = sorted(range(len(rows)), key=lambda position: -rows[position]["value"])
    return [rows[position] for position in sorted(order[:maximum])]


@dataclass(frozen=True)
class Axis:
    """Horizontal axis with marks at round numbers.

    Attributes:
        low: Number at the left end.
        high: Number at the right end.
        step: Distance of two marks: 1, 2 or 5 times a power of 10.
    """

    low: float
    high: float
    step: float

    @classmethod
    def of(cls, numbers: Sequence[float], *, marks: int = 4) -> "Axis":
        """Returns an axis that covers all numbers, with about `marks` marks."""
        minimum, maximum = min(numbers), max(numbers)
        # An axis without length would have no marks; the largest float has no
        # successor.
        if minimum == maximum:
            maximum = min(minimum + (abs(maximum) or 1.0), sys.float_info.max)
        # Halves, because the difference of two large floats may overflow.
        wanted = max((maximum / 2.0 - minimum / 2.0) / marks * 2.0, sys.float_info.min)
        power = 10.0 ** math.floor(math.log10(wanted))
        rough = (factor * power for factor in (1.0, 2.0, 5.0))
        step = next((step for step in rough if step >= wanted), 10.0 * power)
        return cls(minimum, maximum, step)

    def position(self, number: float) -> float:
        """Returns the position of a number, in percent from the left."""
        half = self.low / 2.0
        part = (number / 2.0 - half) / ((self.high / 2.0 - half) or 1.0)
        return round(100.0 * min(max(part, 0.0), 1.0), 3)

    def ticks(self, unit: str) -> tuple[Tick, ...]:
        """Returns the marks of the axis."""
        first, last = math.ceil(self.low / self.step), math.floor(self.high / self.step)
        digits = max(-math.floor(math.log10(self.step)), 0)
        ticks = []
        for index in range(first, last + 1):
            number = index * self.step
            position = self.position(number)
            # Text at the ends stays inside the picture.
            anchor = "start" if position < 5 else "end" if position > 95 else "middle"
            ticks.append(Tick(position, f"{rounded(number, digits)}{unit}", anchor))
        return tuple(ticks)
