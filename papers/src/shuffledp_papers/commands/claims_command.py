"""`shuffledp claims`: published claims against exact attacks."""

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from shuffledp.cli.console import show, show_json, width
from shuffledp.cli.number_types import NUMBER, WholeRange
from shuffledp.cli.shared_options import force_option, json_option
from shuffledp.cli.waiting import duration, share_bar, working
from shuffledp.file_writing import check_folder, check_new, write_file, write_files
from shuffledp.version import __version__
from shuffledp_papers.commands.court_table import (
    NOTE,
    court_table,
    record_text,
    register_table,
    search_table,
)
from shuffledp_papers.court.case_registry import all_cases, case_named, judge_all
from shuffledp_papers.court.court_page import document
from shuffledp_papers.court.search import Finding, Search, search
from shuffledp_papers.court.small.counterexample import (
    COUNTEREXAMPLES,
    counterexample_of,
)
from shuffledp_papers.court.small.programs import program_of
from shuffledp_papers.court.small.shrink import smallest
from shuffledp_papers.court.stated_claim import (
    CLAIMS,
    StatedClaim,
    claims_of,
    earlier_names,
)
from shuffledp_papers.csv_text import csv_text

# Of a search, in seconds: a shorter one has no trial, a longer one takes over 11 days.
_SHORTEST, _LONGEST = 0.1, 1e6


@click.command("claims")
@click.option(
    "--case",
    "name",
    metavar="NAME",
    help="Try this case only, and show the statement, its reading and the adversary.",
)
@click.option(
    "--list",
    "as_list",
    is_flag=True,
    help="Show all statements with their verdicts; nothing is tried.",
)
@click.option(
    "--python",
    "as_python",
    is_flag=True,
    help="With --case: print five lines of Python that show why the claim falls.",
)
@click.option(
    "--shrink",
    is_flag=True,
    help="With --case: search again for the fewest people; print the five lines for them.",
)
@click.option(
    "--search",
    "seconds",
    type=NUMBER,
    metavar="SECONDS",
    help="Instead of the cases, try random settings of all bounds for so long, 0.1 to "
    "1e6 seconds.",
)
@click.option(
    "--seed",
    type=WholeRange(0),
    help="With --search: a trial is reproduced by seed and number [1].",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write court.csv and court.json, or search.csv and search.json.",
)
@click.option(
    "--document",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write all cases as a page in Markdown.",
)
@force_option
@json_option
def claims_command(
    name: str | None,
    as_list: bool,
    as_python: bool,
    shrink: bool,
    seconds: float | None,
    seed: int | None,
    output: Path | None,
    page: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Check published claims against exact attacks.

    Every case is a claim of a paper about one collection, evaluated by the published
    formula; an attack on that collection, computed exactly; and, where there is one, the
    certificate. Each belongs to a statement, with the reading that is tried, what the
    attacker sees, and a verdict; only statements that are false under every reading count
    as refuted. Cases that start with C are claims that stand. Those that end in "-small"
    have the fewest people for which the claim is known to fall.

    \b
    Examples:
      shuffledp claims --list
      shuffledp claims --case V8
      shuffledp claims --case V8 --python | python
      shuffledp claims --search 60 --seed 7
    """
    lines = as_python or shrink
    _check_together(name, seconds, page, lines=lines)
    if lines and (as_json or output is not None):
        raise click.UsageError(
            "Expected --python or --shrink without --json and --output."
        )
    # For this check --seed has no default of its own; the search begins from 1.
    if seed is not None and seconds is None:
        raise click.UsageError("Expected --seed only with --search.")
    if as_list:
        if name or seconds or page or output:
            raise click.UsageError("Expected --list alone, or with --json.")
        _show_statements(CLAIMS, as_json=as_json)
        return
    # A case that is no longer run has a verdict, but neither an attack nor a program.
    if name is not None and name.lower() in {each.lower() for each in earlier_names()}:
        if lines or output is not None:
            case_named(name)
        _show_statements(claims_of(name), as_json=as_json)
        return
    if name is not None and lines:
        # As the registry spells it: names of smaller variants are compared with it.
        _print_program(case_named(name).name, shrink=shrink)
        return
    # Files are checked before the trials, whose results would be lost otherwise.
    stem = "court" if seconds is None else "search"
    check_new([page], force=force)
    if output is not None:
        check_folder(output, force=force, names=_names(stem))
    start = time.monotonic()
    if seconds is not None:
        with share_bar("search") as on_share:
            search_result = search(
                seed=1 if seed is None else seed, seconds=seconds, on_share=on_share
            )
        rows = [_finding_row(finding) for finding in _sorted(search_result)]
        described = _described("search", rows, search_result.trials, start)
        described |= {"seed": search_result.seed}
        table = search_table(search_result, width=width())
    else:
        cases = all_cases() if name is None else (case_named(name),)
        with share_bar("court") as on_share:
            rulings = judge_all(cases, on_share)
        rows = [
            asdict(ruling) | {"certificate_holds": ruling.certificate_holds}
            for ruling in rulings
        ]
        described = _described("court", rows, len(rulings), start)
        statements = CLAIMS if name is None else claims_of(cases[0].name)
        described["statements"] = [asdict(each) for each in statements]
        table = court_table(rulings, width=width())
    # Shown before it is written: a full disk does not take it away.
    if as_json:
        show_json(described)
    else:
        show(table, f"\n{NOTE}")
        if name is not None:
            show(*map(record_text, claims_of(name)))
            # Only claims that fall, whose names begin with V, have a program.
            if name.lower().startswith("v"):
                show(f"\nIn five lines: shuffledp claims --case {name} --python")
        elif seconds is None:
            show("", register_table(CLAIMS))
    if page is not None:
        write_file(page, document(rulings))
    written = _written(output, rows, described)
    if not as_json:
        took = duration(time.monotonic() - start)
        show(f"\nAfter {took}{written}{f'; written: {page}' if page else ''}")


def _show_statements(claims: Sequence[StatedClaim], *, as_json: bool) -> None:
    """Shows statements without trying them: whole records, or one line each of all."""
    if as_json:
        untried = _described("court", [], 0, time.monotonic())
        show_json(untried | {"statements": [asdict(each) for each in claims]})
    elif claims is CLAIMS:
        show(register_table(claims))
    else:
        show(*map(record_text, claims))


def _print_program(known: str, *, shrink: bool) -> None:
    """Prints the five lines of a case, or those of its smaller variant."""
    program = program_of(known)
    if shrink:
        with working("searching"):
            small = counterexample_of(known)
            text = program.with_numbers(smallest(small))
    else:
        text = program.text
    for small in COUNTEREXAMPLES:
        if small.program is program and small.name != known:
            # On the error output: the standard output is piped into Python.
            click.echo(
                f"{small.name} stands for {known}: fewer people or coordinates",
                err=True,
            )
    # As it is: the text of a program ends with a newline.
    click.echo(claims_of(known)[0].comment + text, nl=False)


def _check_together(
    name: str | None, seconds: float | None, page: Path | None, *, lines: bool
) -> None:
    # Written this way round, it refuses NaN, too.
    if seconds is not None and not _SHORTEST <= seconds <= _LONGEST:
        raise click.UsageError(
            f"Expected --search of {_SHORTEST:g} to {_LONGEST:g} seconds, got {seconds:g}."
        )
    if name is not None and seconds is not None:
        raise click.UsageError("Expected either --case or --search, not both.")
    if lines and name is None:
        raise click.UsageError("Expected --case with --python or --shrink.")
    if page is not None and (name is not None or seconds is not None):
        raise click.UsageError("Expected --document without --case and --search.")


def _described(
    stem: str, rows: list[dict[str, Any]], tried: int, start: float
) -> dict[str, Any]:
    """Returns the rows with the version and the time of their computation, for JSON."""
    return {
        "version": __version__,
        "seconds": round(time.monotonic() - start, 1),
        "tried": tried,
        stem: rows,
    }


def _written(
    output: Path | None, rows: list[dict[str, Any]], described: Mapping[str, Any]
) -> str:
    """Writes the files, and returns their names as part of a sentence."""
    if output is None:
        return ""
    names = _names("search" if "search" in described else "court")
    lines = [list(rows[0]), *(list(row.values()) for row in rows)] if rows else []
    text = json.dumps(described, indent=2, allow_nan=False) + "\n"
    write_files(output, dict(zip(names, (csv_text(lines), text), strict=True)))
    return f"; written to {output}: {', '.join(names)}"


def _names(stem: str) -> list[str]:
    return [f"{stem}.csv", f"{stem}.json"]


def _sorted(search_result: Search) -> list[Finding]:
    """Returns the worst trial of each bound, then all other violations."""
    # The table shows the worst of each bound only; files record all that fall.
    worst = search_result.worst_first
    return [
        *worst,
        *(finding for finding in search_result.violations if finding not in worst),
    ]


def _finding_row(finding: Finding) -> dict[str, Any]:
    # JSON has no infinity, which is the ratio to a claimed delta of 0.
    ratio = finding.ratio if math.isfinite(finding.ratio) else None
    return asdict(finding) | {"ratio": ratio, "violated": finding.violated}
