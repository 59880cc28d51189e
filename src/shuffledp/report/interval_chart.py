"""Points with their intervals beside the truth."""

from typing import Any

import numpy as np

from shuffledp.report.chart_parts import (
    BLUE,
    GREY,
    ORANGE,
    displayed,
    interval_label,
    label,
    whiskers,
)
from shuffledp.report.listed_rows import listed_rows
from shuffledp.statistics.summary_section import SummarySection


def interval_height(section: SummarySection) -> float:
    """Returns the height in inches."""
    first = 1.5 if section.words.display.is_single else 1.1
    return first + 0.27 * len(listed_rows(section))


def draw_intervals(figure: Any, section: SummarySection, confidence: float) -> None:
    """Draws estimates with their intervals beside the truth.

    Args:
        figure: That is drawn into.
        section: With rows.
        confidence: Of the intervals, in (0, 1).
    """
    listed, display = listed_rows(section), section.words.display
    single = display.is_single
    axes = figure.subplots()
    positions = np.arange(len(listed))
    value, low, high, truth = displayed(listed, display)
    axes.errorbar(
        value,
        positions,
        xerr=whiskers(value, low, high),
        fmt="o",
        markersize=4.5,
        capsize=3,
        color=BLUE,
        label=interval_label(confidence),
    )
    if single:
        # Two intervals around one estimate; only that of the participants has a truth.
        (known,) = truth[np.isfinite(truth)].tolist()
        axes.axvline(known, color=ORANGE, linewidth=2, label="truth", zorder=3)
        axes.margins(y=0.5)
    else:
        axes.scatter(
            truth,
            positions,
            marker="|",
            s=130,
            linewidths=2,
            color=ORANGE,
            label="truth",
            zorder=3,
        )
    names = [f"about the {row.name}" if single else row.name for row in listed]
    axes.set_yticks(positions, [label(name) for name in names])
    axes.invert_yaxis()
    axes.set_xlabel(label(display.axis))
    if single or len(listed) < 3:
        axes.margins(y=0.5)
        axes.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False
        )
        return
    if display.has_bars:
        axes.axvline(0, color=GREY, linewidth=0.8)
    axes.legend(loc="lower right", frameon=False)
