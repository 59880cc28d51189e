"""Report of a collection in a folder: one-file HTML, its pictures, JSON, CSV."""

import json
from pathlib import Path

from shuffledp.accounting.level_table import level_table
from shuffledp.display_text import number_format, printable
from shuffledp.extras import require
from shuffledp.file_writing import write_files
from shuffledp.format_number import plain
from shuffledp.report.estimate_picture import estimate_picture
from shuffledp.report.estimates_csv import estimates_csv
from shuffledp.report.guarantee_picture import guarantee_picture
from shuffledp.report.listed_rows import listed_rows
from shuffledp.statistics.summary import Summary
from shuffledp.version import __version__

_STEM = "estimates"


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
    written = number_format(
        summary.words.display,
        [row.standard_error for row in summary.rows],
        more_decimals=1,
    )
    environment.filters |= {"plain": plain, "printable": printable, "written": written}
    rows = listed_rows(summary)
    page: str = environment.get_template("report.html.j2").render(
        title=f"{summary.words.title} from people at different privacy levels",
        heading=summary.words.asked,
        version=__version__,
        summary=summary,
        table=f"{_STEM}.csv",
        estimate_svg=estimate_picture(summary).svg,
        rows=rows,
        num_listed=sum(row.listed for row in summary.rows),
        confidence=f"{plain(100 * summary.confidence)}%",
        guarantee=summary.guarantee,
        statements=[
            (statement, level_table(statement), guarantee_picture(statement).svg)
            for statement in summary.guarantee.statements
        ],
    )
    return page


def write_report(summary: Summary, folder: Path) -> list[Path]:
    """Writes report.html, its pictures, estimate.json and a CSV of all rows.

    All files are written, or none.

    Returns:
        The paths of the files.

    Raises:
        DataError: If the folder cannot be written to.
        MissingExtraError: If the report extra is not installed.
    """
    texts = {
        "report.html": html_report(summary),
        f"{_STEM}.svg": estimate_picture(summary).svg,
    }
    # One picture per statement; the first keeps the name without a number.
    for number, statement in enumerate(summary.guarantee.statements, start=1):
        name = "guarantee" if number == 1 else f"guarantee-{number}"
        texts[f"{name}.svg"] = guarantee_picture(statement).svg
    texts |= {
        "estimate.json": json.dumps(summary.to_dict(), indent=2) + "\n",
        f"{_STEM}.csv": estimates_csv(summary),
    }
    write_files(folder, texts)
    # A folder holds one report: further pictures of an earlier one are removed.
    for path in folder.glob("guarantee-[0-9]*.svg"):
        if path.name not in texts:
            path.unlink()
    return [folder / name for name in texts]
