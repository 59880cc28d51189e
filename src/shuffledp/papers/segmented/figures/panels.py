"""Errors against the number of blanket messages, one panel per setting."""

from collections.abc import Sequence

import numpy as np

from shuffledp.papers.figures.result import Cell
from shuffledp.report.picture import new_figure, svg

_CURVES = {"Wang et al. 2025": "#d9730d", "ours, certified": "#1f5fa8"}
_COLORS = ("#57606a", "#8a3ea0", "#2e7d4f", "#a61c3c", "#b58900")


def panels_picture(title: str, rows: Sequence[Sequence[Cell]]) -> str:
    """Returns lines of predictions and points of simulations, as SVG.

    Args:
        title: Of the figure.
        rows: Of the table: setting, protocol, m, predicted, simulated, ...
    """
    settings = list(dict.fromkeys(str(row[0]) for row in rows))
    lines = -(-len(settings) // 2)
    figure = new_figure(8.4, 3.2 * lines + 0.8)
    axes = np.ravel(figure.subplots(lines, 2, squeeze=False))
    for panel, setting in zip(axes, settings, strict=False):
        chosen = [row for row in rows if row[0] == setting]
        for name, color in _CURVES.items():
            curve = [row for row in chosen if row[1] == name]
            at = [row[2] for row in curve]
            panel.plot(at, [row[3] for row in curve], color=color, label=name)
            panel.scatter(at, [row[4] for row in curve], color=color, s=14, zorder=3)
        flat = [row for row in chosen if row[1] not in _CURVES]
        for row, color in zip(flat, _COLORS, strict=False):
            panel.axhline(row[3], color=color, linestyle="--", lw=1, label=row[1])
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_title(setting, fontsize=10)
        panel.set_xlabel("blanket messages per person")
    for panel in axes[len(settings) :]:
        panel.set_visible(False)
    axes[0].set_ylabel("mean squared error")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8
    )
    return svg(figure, f"{title}: errors against the number of blanket messages")
