"""Parts that pictures of estimates share: colors, labels, numbers in displayed units."""

import textwrap
from collections.abc import Sequence

import numpy as np

from shuffledp.display_text import printable
from shuffledp.format_number import plain
from shuffledp.labels import Display
from shuffledp.statistics.estimate_row import EstimateRow
from shuffledp.types import Floats

BLUE, ORANGE, GREY = "#1f5fa8", "#d9730d", "#6b7280"
PALE = "#9dbfe3"
# Letters of a line of a label.
_WIDTH = 26


def title(text: str) -> str:
    """Returns a text as a picture shows it: short, and on one line."""
    # A dollar sign would begin a formula in Matplotlib.
    return printable(text).replace("$", r"\$")


def label(text: str) -> str:
    """Returns a text as a row of an axis shows it: short, and perhaps on two lines."""
    escaped = title(text)
    return "\n".join(textwrap.wrap(escaped, _WIDTH)) or escaped


def interval_label(confidence: float) -> str:
    """Returns the legend of estimates with their intervals."""
    return f"estimate, {plain(100 * confidence)}% interval"


def displayed(rows: Sequence[EstimateRow], display: Display) -> tuple[Floats, ...]:
    """Returns estimates, ends of intervals and truths in displayed units, (rows,) each.

    Unknown truths are NaN, as are ends that an interval lacks: nothing is drawn there.
    """
    numbers = np.array(
        [
            [
                row.estimate,
                row.low,
                row.high,
                np.nan if row.truth is None else row.truth,
            ]
            for row in rows
        ],
        dtype=np.float64,
    ).reshape(-1, 4)
    finite_numbers = np.where(np.isfinite(numbers), numbers, np.nan)
    return tuple(display.factor * finite_numbers.T)


def whiskers(value: Floats, low: Floats, high: Floats) -> list[list[float]]:
    """Returns lengths of intervals on both sides, 0 where one has no end."""
    sides = np.stack([value - low, high - value])
    # Lists: Matplotlib before 3.11 warns of arrays of one row.
    lengths: list[list[float]] = np.where(np.isfinite(sides), sides, 0.0).tolist()
    return lengths
