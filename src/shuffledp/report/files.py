"""Writes a collection to a folder: a one-file HTML report, its pictures, JSON, CSV."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from shuffledp.errors import DataError
from shuffledp.extras import require
from shuffledp.report.levels import level_table
from shuffledp.report.picture import estimate_picture, guarantee_picture
from shuffledp.report.summary import Summary
from shuffledp.report.words import caution, decimals, percent, plain, rounded, shown
from shuffledp.version import __version__

_STEM = "estimates"


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
        if summary.words.unit == "share":
            return f"{percent(number, 3)}%"
        return rounded(number, digits)

    environment.filters |= {"plain": plain, "shown": shown, "written": written}
    rows = summary.listed_rows()
    page: str = environment.get_template("report.html.j2").render(
        title=f"{summary.words.title} from people at different privacy levels",
        heading=summary.words.asked,
        version=__version__,
        summary=summary,
        table=f"{_STEM}.csv",
        estimate_svg=estimate_picture(summary),
        rows=rows,
        num_listed=sum(row.listed for row in summary.rows),
        confidence=f"{plain(100 * summary.confidence)}%",
        guarantee=summary.guarantee,
        caution=caution(summary.guarantee),
        statements=[
            (statement, level_table(statement), guarantee_picture(statement))
            for statement in summary.guarantee.statements
        ],
    )
    return page


def write_report(summary: Summary, folder: Path) -> list[Path]:
    """Writes report.html, its pictures, estimate.json and a CSV of all rows.

    Returns their paths.

    All files are written, or none.

    Raises:
        DataError: If the folder cannot be written to.
        MissingExtraError: If the report extra is not installed.
    """
    texts = {
        "report.html": html_report(summary),
        f"{_STEM}.svg": estimate_picture(summary),
    }
    for number, statement in enumerate(summary.guarantee.statements, start=1):
        name = "guarantee" if number == 1 else f"guarantee-{number}"
        texts[f"{name}.svg"] = guarantee_picture(statement)
    texts |= {
        "estimate.json": json.dumps(summary.to_dict(), indent=2) + "\n",
        f"{_STEM}.csv": summary.to_csv(),
    }
    write_texts(folder, texts)
    return [folder / name for name in texts]


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Writes files to a folder, which is made if need be: all of them, or none.

    Args:
        folder: Where.
        texts: By names of files.

    Raises:
        DataError: If one cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_whole({folder / name: text for name, text in texts.items()})
    except OSError as error:
        raise DataError(f"Could not write to {folder}: {error.strerror}.") from error


def write_text(path: Path, text: str) -> None:
    """Writes one file, whole or not at all.

    Raises:
        DataError: If it cannot be written.
    """
    try:
        _write_whole({path: text})
    except OSError as error:
        raise DataError(f"Could not write {path}: {error.strerror}.") from error


def check_target(path: Path) -> None:
    """Checks that nothing but an ordinary file is in the way.

    Raises:
        DataError: If there is a folder or a device of that name.
    """
    # What takes its place would replace a device itself.
    if path.exists() and not path.is_file():
        raise DataError(f"Expected an ordinary file to write to, got {path}.")


def _write_whole(texts: Mapping[Path, str]) -> None:
    """Writes all beside their places first: a full disk leaves everything as it was."""
    for path in texts:
        check_target(path)
    beside: dict[Path, Path] = {}
    try:
        for path, text in texts.items():
            handle, temporary = tempfile.mkstemp(
                dir=path.parent, prefix=f".{path.name}-"
            )
            beside[path] = Path(temporary)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            beside[path].chmod(0o644)
        for path, written in beside.items():
            written.replace(path)
    except BaseException:
        for written in beside.values():
            written.unlink(missing_ok=True)
        raise
