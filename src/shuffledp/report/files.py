"""Writes a collection to a folder: a one-file HTML report, its pictures, JSON, CSV."""

import json
import os
import tempfile
from pathlib import Path

from shuffledp.errors import DataError
from shuffledp.report.extra import require
from shuffledp.report.picture import frequency_picture, guarantee_picture
from shuffledp.report.summary import FrequencySummary
from shuffledp.report.words import caution, percent, plain, shown
from shuffledp.version import __version__


def html_report(summary: FrequencySummary) -> str:
    """Returns the report as one HTML page that needs no other file and no network."""
    jinja2 = require("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("shuffledp.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"plain": plain, "percent": percent, "shown": shown}
    guarantee = summary.collection.guarantee
    page: str = environment.get_template("frequency.html.j2").render(
        title="Frequencies from people at different privacy levels",
        source=summary.source,
        version=__version__,
        num_users=guarantee.num_users,
        seed=summary.seed,
        worst=guarantee.worst,
        frequency_svg=frequency_picture(summary),
        rows=summary.largest_rows(),
        num_categories=len(summary.rows()),
        covered=summary.num_covered,
        confidence=f"{plain(100 * summary.confidence)}%",
        caution=caution(guarantee),
        caveat=summary.caveat,
        guarantee_svg=guarantee_picture(guarantee),
        delta=guarantee.delta,
        levels=guarantee.levels,
        assumptions=guarantee.assumptions,
        theorem=guarantee.theorem,
        mechanism=guarantee.mechanism,
        parameters=guarantee.parameters,
    )
    return page


def write_report(summary: FrequencySummary, folder: Path) -> list[Path]:
    """Writes report.html, two pictures, estimate.json and frequencies.csv.

    Returns their paths.

    All texts are complete before the first is written, and each file appears whole.

    Raises:
        DataError: If the folder cannot be written to.
        MissingExtraError: If the report extra is not installed.
    """
    texts = {
        "report.html": html_report(summary),
        "frequencies.svg": frequency_picture(summary),
        "guarantee.svg": guarantee_picture(summary.collection.guarantee),
        "estimate.json": json.dumps(summary.to_dict(), indent=2) + "\n",
        "frequencies.csv": summary.to_csv(),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            _write_whole(folder / name, text)
    except OSError as error:
        raise DataError(f"Could not write to {folder}: {error.strerror}.") from error
    return [folder / name for name in texts]


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
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
