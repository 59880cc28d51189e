"""A distribution function with the band of its intervals, quantiles, and the truth."""

from typing import Any

import numpy as np

from shuffledp.format_number import plain
from shuffledp.report.chart_parts import (
    BLUE,
    GREY,
    ORANGE,
    PALE,
    displayed,
    title,
    whiskers,
)
from shuffledp.statistics.charts import CurveChart
from shuffledp.statistics.summary_section import SummarySection


def curve_height(section: SummarySection) -> float:
    """Returns the height in inches."""
    del section
    return 4.2


def draw_curve(figure: Any, section: SummarySection, confidence: float) -> None:
    """Draws the share of people below each number.

    Args:
        figure: That is drawn into.
        section: With a `CurveChart`.
        confidence: Of the intervals, in (0, 1).
    """
    chart, display = section.chart, section.words.display
    assert isinstance(chart, CurveChart)
    value, low, high, truth = displayed(section.rows, display)
    numbers = np.array([chart.low, *chart.numbers, chart.high])
    top = display.factor
    # No one is below the lowest number, and all people are below the highest.
    value, low, high, truth = (
        np.concatenate([[0.0], part, [top]]) for part in (value, low, high, truth)
    )
    axes = figure.subplots()
    level = f"{plain(100 * confidence)}%"
    axes.fill_between(
        numbers, low, high, color=PALE, alpha=0.6, lw=0, label=f"{level} intervals"
    )
    axes.plot(numbers, truth, color=ORANGE, linewidth=1.2, label="truth")
    axes.plot(numbers, value, color=BLUE, linewidth=1.6, label="estimate")
    for index, mark in enumerate(chart.quantiles):
        axes.errorbar(
            [mark.estimate],
            [top * mark.share],
            xerr=whiskers(*np.array([[mark.estimate], [mark.low], [mark.high]])),
            fmt="o",
            markersize=4,
            capsize=3,
            color=GREY,
            # One entry for all of them.
            label=None if index else f"quantiles, {level} intervals",
            zorder=4,
        )
    for end in (0.0, top):
        axes.axhline(end, color=GREY, linewidth=0.6, linestyle=":")
    axes.set_xlim(chart.low, chart.high)
    axes.set_xlabel(title(chart.axis))
    axes.set_ylabel(display.axis)
    axes.legend(loc="lower right", frameon=False)
