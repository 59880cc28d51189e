"""Writes a collection to a folder: a one-file HTML report, its pictures, JSON, CSV."""

import json
import os
import tempfile
from pathlib import Path

from shuffledp.errors import DataError
from shuffledp.extras import require
from shuffledp.report.levels import level_table
from shuffledp.report.picture import estimate_picture, guarantee_picture
from shuffledp.report.summary import Statistic, Summary
from shuffledp.report.words import caution, decimals, percent, plain, rounded, shown
from shuffledp.version import __version__

_HEADINGS: dict[Statistic, str] = {
    "frequency": "How often each category occurs",
    "mean": "What the mean is",
    "sum": "How many people say yes",
    "strings": "How many people hold each string that was found",
    "items": "How many people hold each item",
}


def html_report(summary: Summary) -> str:
    """Returns the report as one HTML page that needs no other file and no network."""
    jinja2 = require("jinja2", extra="report", what="The HTML report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("shuffledp.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    digits = decimals(row.standard_error for row in summary.rows)

    def written(number: float) -> str:
        if summary.unit == "share":
            return f"{percent(number, 3)}%"
        return rounded(number, digits)

    environment.filters |= {"plain": plain, "shown": shown, "written": written}
    rows = summary.listed_rows()
    page: str = environment.get_template("report.html.j2").render(
        title=f"{summary.title} from people at different privacy levels",
        heading=_HEADINGS[summary.statistic],
        version=__version__,
        summary=summary,
        table=f"{_stem(summary)}.csv",
        estimate_svg=estimate_picture(summary),
        rows=rows,
        num_listed=sum(row.listed for row in summary.rows),
        confidence=f"{plain(100 * summary.confidence)}%",
        guarantees=[
            (
                heading,
                guarantee,
                level_table(guarantee),
                caution(guarantee),
                guarantee_picture(guarantee),
            )
            for heading, guarantee in summary.guarantees
        ],
    )
    return page


def write_report(summary: Summary, folder: Path) -> list[Path]:
    """Writes report.html, its pictures, estimate.json and a CSV of all rows.

    Returns their paths.

    All texts are complete before the first is written, and each file appears whole.

    Raises:
        DataError: If the folder cannot be written to.
        MissingExtraError: If the report extra is not installed.
    """
    stem = _stem(summary)
    texts = {
        "report.html": html_report(summary),
        f"{stem}.svg": estimate_picture(summary),
    }
    for heading, guarantee in summary.guarantees:
        name = f"guarantee {heading}".strip().replace(" ", "-")
        texts[f"{name}.svg"] = guarantee_picture(guarantee)
    texts |= {
        "estimate.json": json.dumps(summary.to_dict(), indent=2) + "\n",
        f"{stem}.csv": summary.to_csv(),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            _write_whole(folder / name, text)
    except OSError as error:
        raise DataError(f"Could not write to {folder}: {error.strerror}.") from error
    return [folder / name for name in texts]


def _stem(summary: Summary) -> str:
    return "frequencies" if summary.statistic == "frequency" else "estimates"


def write_text(path: Path, text: str) -> None:
    """Writes one file, whole or not at all.

    Raises:
        DataError: If it cannot be written.
    """
    try:
        _write_whole(path, text)
    except OSError as error:
        raise DataError(f"Could not write {path}: {error.strerror}.") from error


def _write_whole(path: Path, text: str) -> None:
    # What takes its place would replace a device itself.
    if path.exists() and not path.is_file():
        raise DataError(f"Expected an ordinary file to write to, got {path}.")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
