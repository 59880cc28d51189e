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
    title,
    whiskers,
)
from shuffledp.report.listed_rows import listed_rows
from shuffledp.statistics.summary_section import SummarySection


def interval_height(section: SummarySection) -> float:
    """Returns the height in inches."""
    return 1.5 + 0.27 * len(listed_rows(section))


def draw_intervals(figure: Any, section: SummarySection, confidence: float) -> None:
    """Draws estimates with their intervals beside the truth.

    Args:
        figure: That is drawn into.
        section: With rows.
        confidence: Of the intervals, in (0, 1).
    """
    rows, display = listed_rows(section), section.words.display
    single = display.is_single
    axes = figure.subplots()
    positions = np.arange(len(rows))
    value, low, high, truth = displayed(rows, display)
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
        (known_truth,) = truth[np.isfinite(truth)].tolist()
        axes.axvline(known_truth, color=ORANGE, linewidth=2, label="truth", zorder=3)
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
    names = [f"about the {row.name}" if single else row.name for row in rows]
    axes.set_yticks(positions, [label(name) for name in names])
    axes.set_xlabel(title(display.axis))
    # Reversed: the first row on top.
    axes.set_ylim(len(rows) - 0.5, -0.5)
    if not single and display.has_bars:
        axes.axvline(0, color=GREY, linewidth=0.8)
    # Above: inside, it would cover intervals.
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
