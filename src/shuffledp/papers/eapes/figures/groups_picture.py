"""Errors and guarantees against f_c and against epsilon_c, side by side."""

from collections.abc import Mapping, Sequence

from shuffledp.papers.figures.result import Cell
from shuffledp.report.picture import new_figure, svg

_COLORS = ("#d9730d", "#1f5fa8", "#2e7d4f", "#8a3ea0")
_GUARANTEES = {
    "epsilon of the paper's mu (not proven)": 3,
    "certified, conservative": 4,
    "certified, moderate": 5,
    "certified, liberal": 6,
}


def two_panels(
    rows: Sequence[Sequence[Cell]], error: str, errors: Mapping[str, int]
) -> str:
    """Returns, as SVG, errors above and guarantees below, for both varied parameters.

    Args:
        rows: Of the table: varied parameter, its value, then numbers.
        error: What the errors are of.
        errors: {name: column} of those to draw.
    """
    figure = new_figure(8.4, 6.4)
    panels = figure.subplots(2, 2, sharex="col", sharey="row")
    for column, varied in enumerate(("f_c", "epsilon_c")):
        chosen = [row for row in rows if row[0] == varied]
        at = [row[1] for row in chosen]
        for panel, lines in zip(panels[:, column], (errors, _GUARANTEES), strict=True):
            for color, (name, index) in zip(_COLORS, lines.items(), strict=False):
                style = "--" if "not proven" in name else "-"
                panel.plot(
                    at,
                    [row[index] for row in chosen],
                    color=color,
                    marker="o",
                    markersize=3.5,
                    linestyle=style,
                    label=name,
                )
            panel.set_yscale("log")
        panels[1, column].set_xlabel(varied)
    panels[0, 0].set_ylabel(error)
    panels[1, 0].set_ylabel("central epsilon")
    panels[0, 0].legend(frameon=False, fontsize=9)
    panels[1, 0].legend(frameon=False, fontsize=8)
    return svg(figure, f"The {error} and central epsilons, against f_c and epsilon_c")
