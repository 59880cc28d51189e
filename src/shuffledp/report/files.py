"""Report of a collection in a folder: one-file HTML, its pictures, JSON, and tables.

All rows are in three tables: CSV, Parquet, and an Arrow file (IPC).
"""

import io
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from shuffledp.accounting.level_table import level_table
from shuffledp.display_text import (
    error_text,
    interval_text,
    number_format,
    printable,
)
from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.file_writing import write_files
from shuffledp.format_number import plain
from shuffledp.report.estimate_picture import section_picture
from shuffledp.report.estimates_csv import estimates_csv
from shuffledp.report.estimates_frame import estimates_frame
from shuffledp.report.guarantee_picture import guarantee_picture
from shuffledp.report.listed_rows import listed_rows
from shuffledp.statistics.estimate_row import EstimateRow
from shuffledp.statistics.summary import Summary
from shuffledp.statistics.summary_section import SummarySection
from shuffledp.version import __version__

_STEM = "estimates"
# Axes are several times as long as the largest number on them.
_LARGEST_DRAWN = 1e300


def html_report(summary: Summary) -> str:
    """Renders the report as one HTML page that needs no other file and no network."""
    jinja2 = require("jinja2", extra="report", what="The HTML report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("shuffledp.report"),
        # Names of categories come from data, and may look like HTML.
        autoescape=True,
        # A name that the template misspells raises, and is not rendered as nothing.
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "plain": plain,
        "printable": printable,
        "interval_by": lambda row, by: interval_text(by, row.low, row.high),
        "error_by": lambda row, by: error_text(by, row.standard_error),
    }
    page: str = environment.get_template("report.html.j2").render(
        title=f"{summary.words.title} from people at different privacy levels",
        heading=summary.words.asked,
        version=__version__,
        summary=summary,
        table=f"{_STEM}.csv",
        parts=[_section_part(section, summary) for section in summary.sections],
        confidence=f"{plain(100 * summary.confidence)}%",
        guarantee=summary.guarantee,
        statements=[
            (statement, level_table(statement), guarantee_picture(statement).svg)
            for statement in summary.guarantee.statements
        ],
    )
    return page


@dataclass(frozen=True)
class _Part:
    """A section as the page shows it."""

    section: SummarySection
    svg: str | None
    rows: list[EstimateRow]
    num_listed: int
    written: Callable[[float], str]


def _section_part(section: SummarySection, summary: Summary) -> _Part:
    drawn = section.chart is not None
    return _Part(
        section,
        section_picture(section, summary.confidence).svg if drawn else None,
        listed_rows(section),
        sum(row.listed for row in section.rows),
        number_format(
            section.words.display, [row.spread for row in section.rows], more_decimals=1
        ),
    )


def _pictures(summary: Summary) -> dict[str, str]:
    """Returns the pictures of all sections and statements, by the names of their files."""
    drawn = [section for section in summary.sections if section.chart is not None]
    pictures = {
        _STEM: [section_picture(each, summary.confidence).svg for each in drawn],
        "guarantee": [
            guarantee_picture(statement).svg
            for statement in summary.guarantee.statements
        ],
    }
    # The first of a kind keeps the name without a number.
    return {
        f"{stem}.svg" if number == 1 else f"{stem}-{number}.svg": svg
        for stem, svgs in pictures.items()
        for number, svg in enumerate(svgs, start=1)
    }


def _table_files(summary: Summary) -> dict[str, bytes]:
    """Returns all rows in formats with types, by the names of their files."""
    # Imported on use: Polars takes long to load.
    import polars as pl

    frame, parquet, arrow = estimates_frame(summary), io.BytesIO(), io.BytesIO()
    frame.write_parquet(parquet)
    # Texts of the oldest layout, which every reader of Arrow knows.
    frame.write_ipc(arrow, compat_level=pl.CompatLevel.oldest())
    return {
        f"{_STEM}.parquet": parquet.getvalue(),
        f"{_STEM}.arrow": arrow.getvalue(),
    }


def check_drawable(summary: Summary) -> None:
    """Raises InvalidInputError if numbers are too large for the axes of pictures."""
    rows = [row for section in summary.sections for row in section.rows]
    ends = [abs(end) for row in rows for end in (row.low, row.high)]
    if any(_LARGEST_DRAWN < end < math.inf for end in ends):
        raise InvalidInputError(
            f"Expected intervals within {_LARGEST_DRAWN:g} of 0, as axes of pictures are "
            "longer than these: divide values and range by a constant."
        )


def write_report(summary: Summary, folder: Path) -> list[Path]:
    """Writes report.html, its pictures, estimate.json, the certificate, and three tables.

    All files are written, or none. The tables hold all rows; the certificate is the one in
    estimate.json, alone, as `shuffledp verify` reads it.

    Returns:
        The paths of the files.

    Raises:
        DataError: If the folder cannot be written to.
        InvalidInputError: If numbers are too large for the axes of pictures.
        MissingExtraError: If the report extra is not installed.
    """
    check_drawable(summary)
    contents: dict[str, str | bytes] = {
        "report.html": html_report(summary),
        **_pictures(summary),
        "estimate.json": json.dumps(summary.to_dict(), indent=2) + "\n",
        "certificate.json": json.dumps(summary.guarantee.to_dict(), indent=2) + "\n",
        f"{_STEM}.csv": estimates_csv(summary),
        **_table_files(summary),
    }
    write_files(folder, contents)
    # A folder holds one report: further pictures of an earlier one are removed.
    for stem in (_STEM, "guarantee"):
        for path in folder.glob(f"{stem}-[0-9]*.svg"):
            if path.name not in contents:
                path.unlink()
    return [folder / name for name in contents]
