"""Figures of experiments, readable in print and by color-blind readers.

Every curve has a marker and a dash of its own.
"""

import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp.matplotlib_picture import new_figure, svg
from shuffledp.types import Floats
from shuffledp_papers.figures.table import Cell, Table, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Curves that this library proves, certificates and attacks, are thick and in one blue.
_OURS = "#0072b2"
# Okabe and Ito (2008), in an order in which neighbors differ in lightness as well.
_COLORS = ("#d55e00", "#000000", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
_DASHES = ("-", "--", "-.", ":")
# Thick lines need longer gaps to be told apart.
_OUR_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
_MARKERS = "osD^vPX<>*"
# Of more points than this, only some are marked.
_MARKED = 30


@dataclass(frozen=True)
class Curve:
    """One line of a panel.

    Attributes:
        label: Legend label: the paper and the theorem, or the bound of this library.
        at: Positions on the horizontal axis.
        values: One value per position; None and NaN leave a gap.
        low: Lower ends of intervals, if there are any.
        high: Upper ends.
        ours: Whether this library proves it.
        joined: Whether points are joined.
    """

    label: str
    at: Sequence[Cell]
    values: Sequence[Cell]
    _: KW_ONLY
    low: Sequence[Cell] | None = None
    high: Sequence[Cell] | None = None
    ours: bool = False
    joined: bool = True


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes:
        title: The difference from the other panels; "" for a single panel.
        curves: In the order of the legend; the same label looks the same in all panels.
        horizontal: Name of the axis.
        vertical: Name of the axis.
        log: Which axes are logarithmic: "", "x", "y" or "xy".
        ticks: Names of the positions 1, 2, ... on the horizontal axis, if not numbers.
    """

    title: str
    curves: Sequence[Curve]
    _: KW_ONLY
    horizontal: str
    vertical: str
    log: str = ""
    ticks: Sequence[str] = ()


def draw(
    title: str,
    setting: Mapping[str, Cell],
    panels: Sequence[Panel],
    *,
    description: str,
) -> str:
    """Returns panels with a common title, setting and legend, as SVG.

    Args:
        title: Title of the figure.
        setting: The setting, as in `Result`.
        panels: At least one panel.
        description: Text in place of the figure, for screen readers.
    """
    columns = 2 if len(panels) in (2, 4) else min(len(panels), 3)
    lines = -(-len(panels) // columns)
    width = 7.4 if columns == 1 else 3.7 * columns
    labels = list(dict.fromkeys(c.label for panel in panels for c in panel.curves))
    legend_columns = max(1, min(len(labels), int(width * 13) // _widest(labels)))
    legend_lines = -(-len(labels) // legend_columns)
    height = (4.2 if columns == 1 else 3.1 * lines) + 0.7 + 0.2 * legend_lines
    figure = new_figure(width, height)
    axes = np.ravel(figure.subplots(lines, columns, squeeze=False))
    # The last row may have fewer panels than columns.
    for empty in axes[len(panels) :]:
        figure.delaxes(empty)
    styles = _styles(panels)
    for index, (panel, pair) in enumerate(zip(panels, axes, strict=False)):
        for curve in panel.curves:
            _plot(pair, curve, styles[curve.label])
        if "x" in panel.log:
            pair.set_xscale("log")
        if "y" in panel.log:
            pair.set_yscale("log")
        if panel.ticks:
            positions = range(1, len(panel.ticks) + 1)
            pair.set_xticks(positions, panel.ticks, rotation=30, ha="right", fontsize=8)
        pair.set_title(panel.title, fontsize=10)
        pair.set_xlabel(panel.horizontal)
        # Panels of one row share the label of their vertical axis, if it is the same.
        if index % columns == 0 or panel.vertical != panels[index - 1].vertical:
            pair.set_ylabel(panel.vertical)
    # One entry per label: it looks the same in every panel.
    handles = {
        label: handle
        for pair in axes[: len(panels)]
        for handle, label in zip(*pair.get_legend_handles_labels(), strict=True)
    }
    if len(labels) > 1:
        figure.legend(
            [handles[label] for label in labels],
            labels,
            loc="outside lower center",
            ncols=legend_columns,
            frameon=False,
            fontsize=8.5,
        )
    stated = ", ".join(f"{name} {_text(cell)}" for name, cell in setting.items())
    wide = int(12.5 * width)
    lines_above = [*textwrap.wrap(title, wide), *textwrap.wrap(stated, int(1.2 * wide))]
    # Matplotlib would read text between dollar signs as formulas.
    figure.suptitle("\n".join(lines_above).replace("$", r"\$"), fontsize=10)
    return svg(figure, description)


def column_curves(
    at: Sequence[Cell],
    table: Table,
    columns: Mapping[str, str],
    *,
    ours: Collection[str] = (),
    points: Collection[str] = (),
) -> list[Curve]:
    """Returns curves of columns of a table.

    Args:
        at: Position of each row on the horizontal axis.
        table: The numbers.
        columns: {label of the curve: name of its column}.
        ours: Labels of curves that this library proves.
        points: Labels of curves whose points are not joined.
    """
    return [
        Curve(
            label,
            at,
            table.column(column),
            ours=label in ours,
            joined=label not in points,
        )
        for label, column in columns.items()
    ]


def _styles(panels: Sequence[Panel]) -> dict[str, dict[str, Any]]:
    """Returns the style of each label; colors differ first, then dashes and markers."""
    # By label, so that a curve looks the same in all panels.
    styles: dict[str, dict[str, Any]] = {}
    ours = others = 0
    for curve in (curve for panel in panels for curve in panel.curves):
        if curve.label in styles:
            continue
        if curve.ours:
            look = {
                "color": _OURS,
                "linewidth": 2.2,
                "linestyle": _OUR_DASHES[ours % 4],
            }
            look |= {"marker": "", "zorder": 3}
            ours += 1
        else:
            look = {"color": _COLORS[others % len(_COLORS)], "linewidth": 1.1}
            # A second round of the colors has other dashes.
            look |= {
                "linestyle": _DASHES[(others + 2 * (others // len(_COLORS))) % 4],
                "marker": _MARKERS[others % len(_MARKERS)],
                "markersize": 4,
            }
            others += 1
        styles[curve.label] = look
    return styles


def _plot(axes: "Axes", curve: Curve, style: Mapping[str, Any]) -> None:
    at, values = _floats(curve.at), _floats(curve.values)
    look = dict(style)
    if curve.joined and at.size > _MARKED:
        look |= {"markevery": _marked(values)}
    if not curve.joined:
        look |= {"linestyle": "", "marker": look["marker"] or "o", "markersize": 4.5}
    if curve.low is None or curve.high is None:
        axes.plot(at, values, label=curve.label, **look)
        return
    apart = [values - _floats(curve.low), _floats(curve.high) - values]
    axes.errorbar(
        at,
        values,
        # Lists: Matplotlib before 3.11 warns of arrays of one point.
        yerr=np.maximum(apart, 0.0).tolist(),
        capsize=2.5,
        elinewidth=0.9,
        label=curve.label,
        **look,
    )


def _marked(values: Floats) -> list[int]:
    """Returns the points that get a marker: a few, and isolated ones."""
    # A point between two gaps has no line and would be invisible without a marker.
    gap = np.concatenate([[True], np.isnan(values), [True]])
    alone = ~gap[1:-1] & gap[:-2] & gap[2:]
    spread = np.arange(0, values.size, values.size // (_MARKED // 2))
    marked: list[int] = np.union1d(np.flatnonzero(alone), spread).tolist()
    return marked


def _floats(cells: Sequence[Cell]) -> Floats:
    """Returns numbers of a table; NaN, which leaves a gap, where there is none."""
    return np.array([number(cell, missing=np.nan) for cell in cells])


def _widest(labels: Sequence[str]) -> int:
    # Handle and gaps take the room of some seven letters.
    return max(map(len, labels)) + 7


def _text(cell: Cell) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:g}" if isinstance(cell, float) else str(cell)
