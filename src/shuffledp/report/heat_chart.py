"""Tables whose cells are colored by their estimates, with the numbers in them."""

import math
from typing import Any

import numpy as np

from shuffledp.display_text import number_format
from shuffledp.format_number import plain
from shuffledp.report.chart_parts import ORANGE, displayed, label, title
from shuffledp.statistics.charts import HeatChart, HeatTable
from shuffledp.statistics.summary_section import SummarySection
from shuffledp.types import Floats

_LINE, _ABOVE = 0.42, 1.1
# Of the largest estimate: darker cells have white numbers.
_DARK = 0.6
# Tables side by side, if each has at most this many columns.
_NARROW = 4


def heat_height(section: SummarySection) -> float:
    """Returns the height in inches."""
    return 0.3 + sum(_row_heights(section))


def draw_heat(figure: Any, section: SummarySection, confidence: float) -> None:
    """Draws each table, with the estimate and half of its interval in every cell.

    Args:
        figure: That is drawn into.
        section: With a `HeatChart`.
        confidence: Of the intervals, in (0, 1).
    """
    tables = _tables(section)
    heights, side = _row_heights(section), _side(tables)
    grid = figure.subplots(
        len(heights), side, squeeze=False, gridspec_kw={"height_ratios": heights}
    )
    value, *_ = displayed(section.rows, section.words.display)
    darkest, palest = max(float(value.max()), 1e-12), min(float(value.min()), 0.0)
    written = number_format(section.words.display, [row.spread for row in section.rows])
    suffix = section.words.display.suffix
    texts = [
        f"{written(row.estimate).removesuffix(suffix)} ± "
        f"{written((row.high - row.low) / 2.0).removesuffix(suffix)}"
        for row in section.rows
    ]
    first = 0
    for index, axes in enumerate(grid.ravel()):
        if index >= len(tables):
            axes.set_axis_off()
            continue
        table = tables[index]
        shape = (len(table.rows), len(table.columns))
        last = first + math.prod(shape)
        _draw_table(
            axes,
            table,
            value[first:last].reshape(shape),
            texts[first:last],
            (palest, darkest),
        )
        first = last
    figure.supxlabel(
        f"{section.words.display.axis}, ± half of the {plain(100 * confidence)}% interval",
        fontsize=9,
    )


def _draw_table(
    axes: Any,
    table: HeatTable,
    value: Floats,
    texts: list[str],
    limits: tuple[float, float],
) -> None:
    palest, darkest = limits
    # A mesh, as grid lines would be drawn over an image.
    axes.pcolormesh(value, cmap="Blues", vmin=palest, vmax=darkest, edgecolors="white")
    for index, text in enumerate(texts):
        row, column = divmod(index, value.shape[1])
        cell_value = float(value[row, column])
        dark = cell_value > palest + _DARK * (darkest - palest)
        color = ORANGE if cell_value < 0.0 else "white" if dark else "black"
        axes.text(
            column + 0.5, row + 0.5, text, ha="center", va="center", color=color,
            fontsize=8,
        )  # fmt: skip
    axes.set_xticks(np.arange(value.shape[1]) + 0.5, [label(c) for c in table.columns])
    axes.set_yticks(np.arange(value.shape[0]) + 0.5, [label(r) for r in table.rows])
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.set_title(title(table.title), fontsize=10)


def _tables(section: SummarySection) -> tuple[HeatTable, ...]:
    chart = section.chart
    assert isinstance(chart, HeatChart)
    return chart.tables


def _side(tables: tuple[HeatTable, ...]) -> int:
    """Returns how many tables stand side by side."""
    narrow = all(len(table.columns) <= _NARROW for table in tables)
    return 2 if narrow and len(tables) > 1 else 1


def _row_heights(section: SummarySection) -> list[float]:
    """Returns the height of each line of tables, in inches."""
    tables = _tables(section)
    side = _side(tables)
    lines = [tables[first : first + side] for first in range(0, len(tables), side)]
    return [_ABOVE + _LINE * max(len(table.rows) for table in line) for line in lines]
