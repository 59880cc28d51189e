"""Pictures of a collection, as files or as SVG inside a page."""

import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp.accounting.statement import Statement
from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.format_number import plain
from shuffledp.report.display_text import printable
from shuffledp.report.summary import Summary
from shuffledp.report.writing import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_KINDS = ("svg", "png", "pdf")
_BLUE, _ORANGE, _GREY = "#1f5fa8", "#d9730d", "#6b7280"


@dataclass(frozen=True, eq=False)
class MatplotlibPicture:
    """A figure with a description, displayed by notebooks.

    Attributes:
        figure: The Matplotlib figure, which may be changed before it is saved.
        description: Text alternative of the figure.
    """

    figure: "Figure"
    description: str

    @property
    def svg(self) -> str:
        """The figure as SVG for an HTML page."""
        return svg(self.figure, self.description)

    def save(self, path: str | Path) -> None:
        """Writes the figure in the format of the suffix: .svg, .png or .pdf.

        Raises:
            InvalidInputError: If the path has another suffix.
            DataError: If the file cannot be written.
        """
        target = Path(path)
        kind = picture_kind(target)
        if kind == "svg":
            write_file(target, self.svg.encode())
            return
        _set_style(self.figure)
        content = io.BytesIO()
        # Without a date the same figure gives the same file.
        dates = {"CreationDate": None} if kind == "pdf" else {}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            self.figure.savefig(content, format=kind, dpi=200, metadata=dates)
        write_file(target, content.getvalue())

    def _repr_svg_(self) -> str:
        return self.svg


def picture_kind(path: Path) -> str:
    """Returns the format of a picture: "svg", "png" or "pdf", by the path's suffix.

    Raises:
        InvalidInputError: If the suffix is another.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in _KINDS:
        raise InvalidInputError(
            "Expected the path of a picture to end in .svg, .png or .pdf, got "
            f"{path.name}."
        )
    return kind


def estimate_picture(summary: Summary) -> MatplotlibPicture:
    """Draws estimates with their intervals beside the truth."""
    listed, display = summary.listed_rows(), summary.words.display
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


def guarantee_picture(statement: Statement) -> MatplotlibPicture:
    """Draws the certified central epsilon of each level beside its local one.

    If users chose central targets, these take the place of local levels.
    """
    central_choices = any(level.epsilon_local is None for level in statement.levels)
    beside = "central, asked for" if central_choices else "local, on the device"
    # Larger where both marks may coincide, so that both are visible.
    area = 110.0 if central_choices else None
    title = f"Epsilon of each level: {beside}, and certified"
    levels = [(level.chosen, level.epsilon_central) for level in statement.levels]
    figure = new_figure(7.6, 1.2 + 0.5 * len(levels))
    axes = figure.subplots()
    for row, (level, central) in enumerate(levels):
        # A logarithmic axis has no 0: levels of 0 stay without a mark.
        if central > 0:
            axes.plot(
                [central, level], [row, row], color=_GREY, linewidth=1.2, zorder=1
            )
            axes.annotate(
                plain(central),
                (central, row),
                textcoords="offset points",
                xytext=(0, 8),
                ha="center",
                fontsize=9,
                color=_BLUE,
            )
        axes.scatter([level], [row], s=area, color=_ORANGE, zorder=2)
        axes.scatter([central], [row], color=_BLUE, zorder=2)
    axes.scatter([], [], color=_BLUE, label="central, certified")
    axes.scatter([], [], s=area, color=_ORANGE, label=beside)
    axes.set_xscale("log")
    axes.margins(x=0.12)
    axes.set_yticks(
        range(len(levels)), [f"level {plain(level)}" for level, _ in levels]
    )
    # Reversed: the first level on top, with space for the number above it.
    axes.set_ylim(len(levels) - 0.4, -0.9)
    axes.set_xlabel(f"epsilon (central: at delta = {plain(statement.delta or 0.0)})")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    return MatplotlibPicture(figure, title)


def _label(category: str) -> str:
    # A dollar sign would begin a formula in Matplotlib.
    return printable(category).replace("$", r"\$")


def new_figure(width: float, height: float) -> "Figure":
    """Returns an empty figure of this size in inches."""
    # Without pyplot, which keeps all its figures in memory until they are closed.
    figure: Figure = require(
        "matplotlib.figure", extra="report", what="A picture"
    ).Figure(figsize=(width, height), layout="constrained")
    return figure


def svg(figure: "Figure", description: str) -> str:
    """Returns a figure as SVG for an HTML page."""
    _set_style(figure)
    text = io.StringIO()
    # A fixed salt: identifiers are otherwise random, and every file another.
    settings: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "shuffledp"}
    with (
        require("matplotlib", extra="report", what="A picture").rc_context(settings),
        warnings.catch_warnings(),
    ):
        # svg.fonttype "none" leaves text as text, drawn with the reader's fonts: missing
        # glyphs of local fonts do not matter.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        # Without a date the same collection gives the same file.
        figure.savefig(
            text, format="svg", metadata={"Date": None, "Title": description}
        )
    # Inside a page, SVG has neither an XML declaration nor a doctype.
    svg = text.getvalue()
    return svg[svg.index("<svg") :].replace(
        "<svg ", f'<svg role="img" aria-label="{description}" ', 1
    )


def _set_style(figure: "Figure") -> None:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="x", color="#e5e7eb", linewidth=0.8)
        axes.set_axisbelow(True)
