"""`shuffledp leaderboard`: published bounds beside certificates on a fixed grid."""

import json
import time
from datetime import date as calendar_date
from pathlib import Path

import click

from shuffledp.cli.console import show, show_json, width
from shuffledp.cli.shared_options import force_option, json_option
from shuffledp.cli.waiting import duration, share_bar
from shuffledp.extras import require
from shuffledp.file_writing import check_folder, check_new, write_file, write_files
from shuffledp_papers.commands.leaderboard_summary import summary
from shuffledp_papers.leaderboard.computation import leaderboard
from shuffledp_papers.leaderboard.grid import read_grid
from shuffledp_papers.leaderboard.leaderboard_page import (
    FILES,
    document,
    relative_folder,
    stored_files,
)
from shuffledp_papers.leaderboard.outside_bound import outside_bound


@click.command("leaderboard")
@click.option(
    "--bound",
    "locations",
    multiple=True,
    metavar="MODULE:NAME",
    help="An accountant from outside, as `shuffledp audit accountant` takes it; may be "
    "repeated.",
)
@click.option(
    "--date",
    metavar="YYYY-MM-DD",
    help="Of the run, for --output and --document; it is recorded as it is given.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write the page, its pictures, and all entries as CSV and JSON.",
)
@click.option(
    "--document",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="With --output: write the tables as a page in Markdown, too.",
)
@force_option
@json_option
def leaderboard_command(
    locations: tuple[str, ...],
    date: str | None,
    output: Path | None,
    page: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Compare all published bounds with certificate and attack on a fixed grid.

    A few minutes. Numbers below the attack are counted by status: only a statement that
    is false under every reading is refuted. Where a bound is tighter than the
    certificate, that is said.

    \b
    Examples:
      shuffledp leaderboard
      shuffledp leaderboard --date 2026-11-27 --output board
      shuffledp leaderboard --bound mymodule:account
    """
    if page is not None and output is None:
        raise click.UsageError("Expected --document only together with --output.")
    if (date is None) != (output is None):
        raise click.UsageError("Expected --date and --output together, or neither.")
    if date is not None:
        _check_date(date)
    # Before the run: what could fail later would take its results away.
    check_new([page], force=force)
    if output is not None:
        require("matplotlib", extra="report", what="A picture")
        check_folder(output, force=force, names=FILES)
    outside = [outside_bound(location) for location in locations]
    start = time.monotonic()
    with share_bar("leaderboard") as on_share:
        board = leaderboard(
            read_grid(), date=date or "", outside=outside, on_share=on_share
        )
    record = board.to_dict()
    # Shown before it is written: a full disk does not take it away.
    if as_json:
        show_json(record)
    else:
        show(summary(board, width=width()))
    if output is not None:
        text = json.dumps(record, indent=1, allow_nan=False) + "\n"
        write_files(output, stored_files(board, text))
        if page is not None:
            write_file(page, document(board, folder=relative_folder(output, page)))
    if not as_json:
        took = duration(time.monotonic() - start)
        written = f"; written to {output}: {', '.join(FILES)}" if output else ""
        show(f"\nAfter {took}{written}{f'; written: {page}' if page else ''}")


def _check_date(date: str) -> None:
    try:
        calendar_date.fromisoformat(date)
    except ValueError as error:
        raise click.UsageError(
            f"Expected --date as YYYY-MM-DD, got {date!r}."
        ) from error
