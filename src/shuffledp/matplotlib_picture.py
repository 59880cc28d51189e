"""Matplotlib figures with a description, as files or as SVG inside a page."""

import io
import warnings
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.arguments import expect_path
from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.file_writing import write_file
from shuffledp.picture_fonts import fonts_with_all_characters

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_KINDS = ("svg", "png", "pdf")


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
        target = expect_path(path, "a picture")
        write_file(target, self.content(picture_kind(target)))

    def content(self, kind: str) -> bytes:
        """Returns the content of a file of a format: see `picture_kind`."""
        if kind == "svg":
            return self.svg.encode()
        _set_style(self.figure)
        content = io.BytesIO()
        # Without a date the same figure gives the same file.
        dates = {"CreationDate": None} if kind == "pdf" else {}
        with fonts_with_all_characters(self.figure):
            self.figure.savefig(content, format=kind, dpi=200, metadata=dates)
        return content.getvalue()

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
        "<svg ", f'<svg role="img" aria-label="{escape(description)}" ', 1
    )


def _set_style(figure: "Figure") -> None:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="x", color="#e5e7eb", linewidth=0.8)
        axes.set_axisbelow(True)
