"""Texts of estimated numbers in units of their own: means and quantiles."""

from dataclasses import dataclass
from typing import Any

from shuffledp.display_text import decimals, rounded


@dataclass(frozen=True)
class NumberLine:
    """A row of the table of numbers; all texts.

    Attributes:
        name: Label of the number.
        value: The estimate, with its unit.
        error: Its standard error, or "none".
        interval: Its interval, as far as it has ends.
    """

    name: str
    value: str
    error: str
    interval: str


def number_lines(result: dict[str, Any]) -> tuple[NumberLine, ...]:
    """Returns the rows of a published result, in their order."""
    return tuple(_line(row) for row in result["estimate"].get("numbers", ()))


def _line(row: dict[str, Any]) -> NumberLine:
    value, error, (low, high) = row["value"], row["standard_error"], row["interval"]
    # Without an error, a fiftieth of the interval is precise enough.
    width = (high - low) / 50.0 if error is None and None not in (low, high) else error
    digits = decimals([width]) if width else 0

    def text(number: float | None) -> str:
        return "none" if number is None else rounded(number, digits)

    return NumberLine(
        row["name"],
        f"{text(value)} {row['unit']}".rstrip(),
        text(error),
        "no bound" if low is None else f"{text(low)} to {text(high)}",
    )
