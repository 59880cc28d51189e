"""Run, display and report of a simulated collection, for `estimate` and `quickstart`."""

from pathlib import Path

from shuffledp.cli.console import show, show_json
from shuffledp.cli.options import Settings
from shuffledp.cli.waiting import progress
from shuffledp.errors import DataError, MissingExtraError
from shuffledp.extras import require
from shuffledp.file_writing import check_folder, free_folder
from shuffledp.rehearsal.rehearse import perform
from shuffledp.report.files import check_drawable, write_report
from shuffledp.report.terminal import estimate_table, guarantee_table
from shuffledp.statistics.rehearsal_stage import Rehearsal

_FOLDER = Path("shuffledp-report")


def run(rehearsal: Rehearsal, settings: Settings) -> None:
    """Runs a collection, prints it, and writes the report.

    Args:
        rehearsal: Loads people, runs the collection and summarizes it.
        settings: Of the run and its output.
    """
    output, without = _output(settings)
    with progress("read") as (on_bytes, on_step):
        summary = perform(
            rehearsal,
            mode=settings.mode,
            delta=settings.delta,
            confidence=settings.confidence,
            seed=settings.seed,
            on_bytes=on_bytes,
            on_step=on_step,
        )
    if output is not None:
        # What cannot be drawn is refused whole: no table stands before an error.
        check_drawable(summary)
    # Shown before it is written: a full disk does not take it away.
    if settings.as_json:
        show_json(summary.to_dict())
    else:
        show(estimate_table(summary), guarantee_table(summary.guarantee))
    if output is None:
        if without:
            show(f"\n{without}")
        return
    written = write_report(summary, output)
    if not settings.as_json:
        names = ", ".join(path.name for path in written)
        show(f"\nWritten to {output}: {names}")


def _output(settings: Settings) -> tuple[Path | None, str]:
    """Returns the folder of the report; or None, and the reason for it.

    Raises:
        DataError: If the folder of --output has files, or no folder can be written to.
        MissingExtraError: If --output was given, and packages for reports are missing.
    """
    # With --json a report is written only into a folder that was asked for.
    if settings.output is None and settings.as_json:
        return None, ""
    try:
        for module in ("jinja2", "matplotlib"):
            require(module, extra="report", what="A report with pictures")
    except MissingExtraError as error:
        # A report that was asked for must not be left out in silence.
        if settings.output is not None:
            raise
        return None, str(error)
    if settings.output is None:
        # Never over an older report: the folder gets the next free number.
        folder = free_folder(_FOLDER)
        try:
            check_folder(folder, force=False)
        except DataError as error:
            raise DataError(f"{error} Name another folder with --output.") from error
        return folder, ""
    check_folder(settings.output, force=settings.force)
    return settings.output, ""
