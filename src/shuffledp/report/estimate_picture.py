"""Picture of a rehearsal: estimates with their intervals beside the truth."""

import numpy as np

from shuffledp.display_text import printable
from shuffledp.format_number import plain
from shuffledp.matplotlib_picture import MatplotlibPicture, new_figure
from shuffledp.report.listed_rows import listed_rows
from shuffledp.statistics.summary import Summary

_BLUE, _ORANGE, _GREY = "#1f5fa8", "#d9730d", "#6b7280"


def estimate_picture(summary: Summary) -> MatplotlibPicture:
    """Draws estimates with their intervals beside the truth."""
    listed, display = listed_rows(summary), summary.words.display
    single = display.is_single
    figure = new_figure(7.6, (1.5 if single else 1.1) + 0.27 * len(listed))
    axes = figure.subplots()
    positions = np.arange(len(listed))
    value, low, high = display.factor * np.array(
        [[row.estimate, row.low, row.high] for row in listed]
    ).reshape(-1, 3).T  # fmt: skip
    axes.errorbar(
        value,
        positions,
        # Lists: Matplotlib before 3.11 warns of arrays of one row.
        xerr=[(value - low).tolist(), (high - value).tolist()],
        fmt="o",
        markersize=4.5,
        capsize=3,
        color=_BLUE,
        label=f"estimate, {plain(100 * summary.confidence)}% interval",
    )
    if single:
        # Two intervals around one estimate; only that of the participants has a truth.
        (truth,) = [row.truth for row in listed if row.truth is not None]
        axes.axvline(
            display.factor * truth, color=_ORANGE, linewidth=2, label="truth", zorder=3
        )
        axes.margins(y=0.5)
    else:
        axes.scatter(
            [
                np.nan if row.truth is None else display.factor * row.truth
                for row in listed
            ],
            positions,
            marker="|",
            s=130,
            linewidths=2,
            color=_ORANGE,
            label="truth",
            zorder=3,
        )
    names = [f"about the {row.name}" if single else row.name for row in listed]
    axes.set_yticks(positions, [_label(name) for name in names])
    axes.invert_yaxis()
    axes.set_xlabel(display.axis)
    if single:
        axes.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False
        )
        return MatplotlibPicture(figure, f"Estimated and true {summary.words.name}")
    if display.has_bars:
        axes.axvline(0, color=_GREY, linewidth=0.8)
    axes.legend(loc="lower right", frameon=False)
    return MatplotlibPicture(
        figure,
        f"Estimated and true {display.noun} of {len(listed)} {summary.words.rows}",
    )


def _label(category: str) -> str:
    # A dollar sign would begin a formula in Matplotlib.
    return printable(category).replace("$", r"\$")
