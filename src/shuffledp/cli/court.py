"""`shuffledp court`: published claims against exact attacks."""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.table import Table

from shuffledp.cli.console import share_bar, show, show_json
from shuffledp.papers.court.case import CourtVerdict, Ruling
from shuffledp.papers.court.cases import all_cases, case_named, judge_all
from shuffledp.papers.court.search import Finding, Search, search
from shuffledp.report.files import write_text

_COLUMNS = (
    "case",
    "bound",
    "setting",
    "epsilon",
    "claimed delta",
    "exact >=",
    "certified <=",
    "verdict",
)
# So that the setting keeps most of the line.
_WIDTHS = {"bound": 13, "claimed delta": 8, "exact >=": 8, "certified <=": 9}
_NOTE = (
    "Exact: the largest delta that an attack on this very collection reaches; a claim "
    "below it is violated. Certified: what `shuffledp account` states. Where epsilon is "
    "missing, the claim is of local privacy, and the numbers are epsilons."
)


@click.command("court")
@click.option("--case", "name", metavar="NAME", help="Try this case only.")
@click.option(
    "--search",
    "seconds",
    type=click.FloatRange(0.0, min_open=True),
    metavar="SECONDS",
    help="Instead of the cases, try random settings of all bounds for so long.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Of the search: a trial is reproduced by seed and number.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write court.csv and court.json, or search.csv and search.json.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def court_command(
    name: str | None,
    seconds: float | None,
    seed: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Try published bounds against exact attacks.

    Every case is a claim of a paper about one collection, evaluated by the published
    formula; an attack on that collection, computed exactly; and, where there is one, the
    certificate. Cases that start with C are claims that stand.

    \b
    Examples:
      shuffledp court
      shuffledp court --case V8
      shuffledp court --search 60 --seed 7
    """
    if name is not None and seconds is not None:
        raise click.UsageError("Expected either --case or --search, not both.")
    if seconds is not None:
        with share_bar("search") as on_share:
            found = search(seed=seed, seconds=seconds, on_share=on_share)
        rows = [_finding_row(finding) for finding in _sorted(found)]
        _print("search", _search_table(found), rows, found.trials, output, as_json)
        return
    cases = all_cases() if name is None else (case_named(name),)
    with share_bar("court") as on_share:
        rulings = judge_all(cases, on_share)
    rows = [_ruling_row(ruling) for ruling in rulings]
    _print("court", _court_table(rulings), rows, len(rulings), output, as_json)


def _print(
    stem: str,
    table: Table,
    rows: list[dict[str, Any]],
    tried: int,
    output: Path | None,
    as_json: bool,
) -> None:
    document = {"tried": tried, stem: rows}
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        write_text(output / f"{stem}.csv", _as_csv(rows))
        text = json.dumps(document, indent=2, allow_nan=False)
        write_text(output / f"{stem}.json", text + "\n")
    if as_json:
        show_json(document)
        return
    show(table, f"\n{_NOTE}")
    if output is not None:
        show(f"\nWritten to {output}: {stem}.csv, {stem}.json")


def _court_table(rulings: Sequence[Ruling]) -> Table:
    table = _table("Published claims against exact attacks")
    for ruling in rulings:
        certified = "-" if ruling.certified is None else f"{ruling.certified:.3g}"
        verdict = str(ruling.verdict)
        if not ruling.certificate_holds:
            verdict += ", and the certificate, too"
        if ruling.verdict != ruling.expected:
            verdict += f" (expected: {ruling.expected})"
        table.add_row(
            ruling.case,
            ruling.bound,
            ruling.setting,
            "-" if ruling.epsilon is None else f"{ruling.epsilon:.4g}",
            f"{ruling.claimed:.3g}",
            f"{ruling.exact:.3g}",
            certified,
            verdict,
        )
    fallen = sum(ruling.verdict is CourtVerdict.VIOLATED for ruling in rulings)
    table.caption = f"{fallen} of {len(rulings)} claims fall."
    return table


def _search_table(found: Search) -> Table:
    table = _table(f"Random search: {found.trials} trials, the worst of each bound")
    for finding in _worst(found):
        table.add_row(
            f"{finding.seed}/{finding.trial}",
            finding.bound,
            f"{finding.setting}; a victim at {finding.victim:g}",
            f"{finding.epsilon:.4g}",
            f"{finding.claimed:.3g}",
            f"{finding.exact:.3g}",
            f"{finding.certified:.3g}",
            str(CourtVerdict.VIOLATED if finding.violated else CourtVerdict.CONSISTENT),
        )
    table.caption = f"{len(found.violations)} claims fall in all."
    return table


def _table(title: str) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for column in _COLUMNS:
        numbers = column in _COLUMNS[3:7]
        table.add_column(
            column,
            justify="right" if numbers else "left",
            max_width=_WIDTHS.get(column),
            overflow="fold",
        )
    return table


def _worst(found: Search) -> list[Finding]:
    return sorted(found.worst.values(), key=lambda finding: -finding.ratio)


def _sorted(found: Search) -> list[Finding]:
    """Returns the worst of each bound, then every violation that is not among them."""
    worst = _worst(found)
    return [*worst, *(one for one in found.violations if one not in worst)]


def _ruling_row(ruling: Ruling) -> dict[str, Any]:
    return asdict(ruling) | {"certificate_holds": ruling.certificate_holds}


def _finding_row(finding: Finding) -> dict[str, Any]:
    ratio = finding.ratio if math.isfinite(finding.ratio) else None
    return asdict(finding) | {"ratio": ratio, "violated": finding.violated}


def _as_csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()
