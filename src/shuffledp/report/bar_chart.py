"""Bars from 0 with their intervals, the truth, and the unbiased number beside each."""

from typing import Any

import numpy as np

from shuffledp.display_text import number_format
from shuffledp.report.chart_parts import (
    BLUE,
    GREY,
    ORANGE,
    PALE,
    displayed,
    interval_label,
    label,
    whiskers,
)
from shuffledp.report.listed_rows import listed_rows
from shuffledp.statistics.summary_section import SummarySection

_LINE = 0.34


def bar_height(section: SummarySection) -> float:
    """Returns the height in inches."""
    return 1.2 + _LINE * len(listed_rows(section))


def draw_bars(figure: Any, section: SummarySection, confidence: float) -> None:
    """Draws estimates as bars; those below 0 go to the left.

    Args:
        figure: That is drawn into.
        section: With rows.
        confidence: Of the intervals, in (0, 1).
    """
    rows, display = listed_rows(section), section.words.display
    value, low, high, truth = displayed(rows, display)
    positions = np.arange(len(rows))
    axes = figure.subplots()
    axes.barh(positions, value, height=0.62, color=PALE)
    axes.errorbar(
        value,
        positions,
        xerr=whiskers(value, low, high),
        fmt="none",
        capsize=3,
        color=BLUE,
        label=interval_label(confidence),
    )
    axes.scatter(
        truth,
        positions,
        marker="|",
        s=150,
        linewidths=2,
        color=ORANGE,
        label="truth",
        zorder=3,
    )
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    axes.set_yticks(positions, [label(row.name) for row in rows])
    axes.invert_yaxis()
    written = number_format(display, [row.spread for row in rows])
    # In a column at the right: beside the bars, numbers would cover intervals.
    for position, row in zip(positions.tolist(), rows, strict=True):
        axes.annotate(
            written(row.estimate),
            (1.01, position),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=9,
            color=ORANGE if row.estimate < 0.0 else BLUE,
        )
    axes.set_xlabel(display.axis)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
