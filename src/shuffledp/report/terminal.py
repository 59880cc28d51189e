"""Tables of guarantees and estimates for a terminal."""

import math
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.level_table import level_table, solved
from shuffledp.accounting.statement import Statement
from shuffledp.display_text import (
    error_text,
    interval_text,
    number_format,
    printable,
    printable_names,
)
from shuffledp.format_number import plain
from shuffledp.report.listed_rows import MAX_ROWS, listed_rows
from shuffledp.statistics.estimate_row import EstimateRow
from shuffledp.statistics.summary import Summary
from shuffledp.statistics.summary_section import SummarySection

_BAR_WIDTH = 24
# Blocks from 0 to 8 eighths of a character's width.
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def guarantee_table(
    guarantee: Guarantee, targets: Sequence[float] = ()
) -> RenderableType:
    """Returns all statements per level, their cautions and assumptions.

    Args:
        guarantee: The guarantee.
        targets: Central epsilon that each level was calibrated for, infinite for none;
            empty if no level was.
    """
    several = len(guarantee.statements) > 1
    # Of several statements, each is about shuffles of its own.
    times = guarantee.repetitions
    after = f" after {times}" if times else " after shuffling"
    after, subject = ("", "This") if several else (after, "Everything the analyst sees")
    parts: list[RenderableType] = []
    for statement in guarantee.statements:
        if several:
            space = "\n" if parts else ""
            parts.append(Text(f"{space}{_sentence(statement.about)}", style="bold"))
        parts.append(_statement_table(statement, after, targets))
        parts.append(_reading(statement, subject))
        unamplified = _levels_without_amplification(statement)
        if unamplified is not None:
            parts.append(Text(unamplified, style="yellow"))
    parts += [Text(sentence) for sentence in guarantee.coalition]
    parts += [Text(caution, style="yellow") for caution in guarantee.cautions]
    return Group(*parts, Text("\nAssumed:"), _bullets(guarantee))


def _statement_table(
    statement: Statement, after: str, targets: Sequence[float]
) -> Table:
    """Returns the table of one statement."""
    symbol = solved(statement)
    given_number = (
        f"epsilon = {plain(statement.epsilon)}"
        if statement.epsilon is not None
        else f"delta = {plain(statement.delta or 0.0)}"
    )
    table = Table(title=f"Guarantee{after}, at {given_number}", title_justify="left")
    levels = level_table(statement)
    # The last two have headings of their own, as a local guarantee is not central.
    for heading in levels.headings[:-2]:
        table.add_column(heading, justify="right")
    if targets:
        table.add_column("target", justify="right")
    where = "local" if statement.local else "central"
    table.add_column(
        f"{where} {symbol}\n(certified)", justify="right", style="bold green"
    )
    table.add_column(f"{where} {symbol}\n(attack shows)", justify="right")
    cells = [[plain(t) if math.isfinite(t) else "-"] for t in targets]
    for row, target in zip(levels.rows, cells or [[]] * len(levels.rows), strict=True):
        table.add_row(*row[:-2], *target, *row[-2:])
    return table


def _sentence(about: str) -> str:
    return f"{about[:1].upper()}{about[1:]}:"


def estimate_table(summary: Summary) -> RenderableType:
    """Returns estimates, intervals and truths; shares with bars."""
    sections = summary.sections
    several = len(sections) > 1
    parts: list[RenderableType] = []
    if several:
        heading = f"{summary.words.title}: {printable(summary.source)}"
        parts.append(Text(heading, style="bold"))
    for section in sections:
        parts.append(_section_table(section, summary, named=several))
        words = [section.coverage(summary.confidence)]
        num_listed = sum(row.listed for row in section.rows)
        if num_listed > MAX_ROWS:
            words.insert(
                0, f"Shown are the {MAX_ROWS} most frequent of {num_listed:,}."
            )
        # A blank line before the next table; of one table, its sentences come at once.
        parts.append(Text("\n".join(words) + ("\n" if several else "")))
    text = Text("\n".join(summary.sentences) + "\n")
    for warning in summary.warnings:
        text.append(f"{warning}\n", style="yellow")
    return Group(*parts, text)


def _section_table(section: SummarySection, summary: Summary, *, named: bool) -> Table:
    """Returns the table of one section: with its own title if there are others."""
    title = printable(section.words.title)
    table = Table(
        # As Text: brackets in the name of a file or column are not markup.
        title=Text(title if named else f"{title}: {printable(summary.source)}"),
        title_justify="left",
    )
    table.add_column(section.words.row)
    table.add_column("estimate", justify="right", style="bold")
    if section.has_consistent:
        table.add_column("consistent", justify="right")
    bars = section.words.display.has_bar_column
    if not bars:
        table.add_column("standard error", justify="right")
    table.add_column(f"{plain(100 * summary.confidence)}% interval", justify="right")
    table.add_column("truth", justify="right")
    if bars:
        table.add_column("")
    _add_rows(table, section)
    return table


def _add_rows(table: Table, section: SummarySection) -> None:
    display, rows = section.words.display, listed_rows(section)
    text = number_format(display, [row.spread for row in rows])
    # All estimates may be 0 or less: bars then have length 0.
    finite_estimates = [row.estimate for row in rows if math.isfinite(row.estimate)]
    longest_bar = max([*finite_estimates, 1e-12])
    names = printable_names([row.name for row in rows])
    for name, row in zip(names, rows, strict=True):
        error = [] if display.has_bar_column else [error_text(text, row.standard_error)]
        bar = [Text(_bar_text(row.estimate / longest_bar), style="cyan")]
        table.add_row(
            Text(name),
            text(row.estimate),
            *([] if row.consistent is None else [text(row.consistent)]),
            *error,
            # The unit of an interval stands once.
            interval_text(text, row.low, row.high, display.suffix),
            _truth(row, "-" if row.truth is None else text(row.truth)),
            *(bar if display.has_bar_column else []),
        )


def _truth(row: EstimateRow, words: str) -> Text:
    return Text(words, style="" if row.covered else "yellow")


def _reading(statement: Statement, subject: str) -> Text:
    table = level_table(statement)
    epsilon, delta = table.worst
    better = ", and better for those with a smaller number" if table.differ else ""
    return Text(
        f"{subject} is ({plain(epsilon)}, {plain(delta)})-differentially private for all "
        f"people listed{better}. Certified is a proven upper bound; what the attack shows "
        "is a proven lower bound."
    )


def _levels_without_amplification(statement: Statement) -> str | None:
    """Returns a sentence on the levels without a proven benefit of the shuffle, if any."""
    levels = [entry for entry in statement.levels if entry.rests_on == "device"]
    # Nothing is better than an epsilon or a delta of 0.
    levels = [e for e in levels if e.epsilon_central > 0.0 and e.delta_central > 0.0]
    if statement.local or not levels:
        return None
    names = ", ".join(dict.fromkeys(plain(entry.chosen) for entry in levels))
    kind = "level" if levels[0].target is None else "target"
    return (
        f"Nothing better is proven for {kind} {names} than what a device keeps alone."
    )


def _bullets(guarantee: Guarantee) -> Text:
    return Text("\n".join(f"  - {assumption}" for assumption in guarantee.assumptions))


def _bar_text(part: float) -> str:
    # An unknown number has no bar.
    part = part if math.isfinite(part) else 0.0
    # Full blocks, then one block in eighths.
    eighths = round(8 * _BAR_WIDTH * min(max(part, 0.0), 1.0))
    return _EIGHTHS[8] * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
