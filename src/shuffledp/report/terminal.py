"""Tables for people who look at a terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.accounting.guarantee import Guarantee, LevelGuarantee
from shuffledp.accounting.items.guarantee import ItemsGuarantee
from shuffledp.report.levels import AnyGuarantee, level_table
from shuffledp.report.summary import Row, Summary
from shuffledp.report.words import (
    MAX_ROWS,
    caution,
    decimals,
    percent,
    plain,
    rounded,
    shown,
)

_BAR_WIDTH = 24
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def guarantee_table(guarantee: Guarantee) -> RenderableType:
    """Returns the guarantee per level, and under which assumptions it holds."""
    at_delta = guarantee.delta is not None
    symbol = "epsilon" if at_delta else "delta"
    given = (
        f"delta = {plain(guarantee.delta)}"
        if guarantee.delta is not None
        else f"epsilon = {plain(guarantee.epsilon or 0.0)}"
    )
    times = guarantee.rounds * guarantee.coordinates
    after = "the shuffle" if times == 1 else f"{times:,} shuffles"
    table = Table(title=f"Guarantee after {after}, at {given}", title_justify="left")
    if any(level.quantile for level in guarantee.levels):
        table.add_column("budget")
    for heading in ("local epsilon", "people", "hide among"):
        table.add_column(heading, justify="right")
    table.add_column(
        f"central {symbol}\n(certified)", justify="right", style="bold green"
    )
    table.add_column(f"central {symbol}\n(attack shows)", justify="right")
    for level in guarantee.levels:
        upper, lower = _ends(level, at_delta)
        table.add_row(
            *([level.quantile] if level.quantile else []),
            plain(level.epsilon_local),
            f"{level.count:,}",
            f"{level.hides_among:,}",
            plain(upper),
            plain(lower) if lower > 0.0 else "nothing",
        )
    return Group(table, _reading(guarantee), Text("\nAssumed:"), _bullets(guarantee))


def items_guarantee_table(guarantee: ItemsGuarantee) -> RenderableType:
    """Returns the same of a guarantee of sets, whose levels are central epsilons."""
    levels = level_table(guarantee)
    table = Table(
        title=f"Guarantee after the shuffle, at delta = {plain(guarantee.delta)}",
        title_justify="left",
    )
    for heading in levels.headings[:-2]:
        table.add_column(heading, justify="right")
    table.add_column(
        "central epsilon\n(certified)", justify="right", style="bold green"
    )
    table.add_column("central epsilon\n(attack shows)", justify="right")
    for row in levels.rows:
        table.add_row(*row)
    theorem = Text(f"Theorem: {guarantee.theorem}.")
    assumed = Text("\nAssumed:")
    return Group(table, _reading(guarantee), theorem, assumed, _bullets(guarantee))


def guarantee_tables(summary: Summary) -> RenderableType:
    """Returns every guarantee of a collection, under its heading if there are several."""
    parts: list[RenderableType] = []
    for heading, guarantee in summary.guarantees:
        if len(summary.guarantees) > 1:
            space = "\n" if parts else ""
            parts.append(Text(f"{space}{heading.capitalize()}:", style="bold"))
        if isinstance(guarantee, ItemsGuarantee):
            parts.append(items_guarantee_table(guarantee))
        else:
            parts.append(guarantee_table(guarantee))
    return Group(*parts)


def estimate_table(summary: Summary) -> RenderableType:
    """Returns estimates and truths with intervals; shares with bars, too."""
    rows, listed = summary.listed_rows(), sum(row.listed for row in summary.rows)
    table = Table(
        title=Text(f"{summary.title}: {shown(summary.source)}"), title_justify="left"
    )
    table.add_column(summary.column)
    table.add_column("estimate", justify="right", style="bold")
    if summary.unit == "number":
        table.add_column("standard error", justify="right")
    table.add_column(f"{plain(100 * summary.confidence)}% interval", justify="right")
    table.add_column("truth", justify="right")
    if summary.unit == "share":
        table.add_column("")
        _add_shares(table, rows)
    else:
        _add_numbers(table, rows)
    words = [summary.coverage, *summary.sentences]
    if listed > MAX_ROWS:
        words.insert(0, f"Shown are the {MAX_ROWS} most frequent of {listed:,}.")
    text = Text("\n".join(words) + "\n")
    for warning in summary.warnings:
        text.append(f"{warning}\n", style="yellow")
    return Group(table, text)


def _add_shares(table: Table, rows: list[Row]) -> None:
    longest = max(max(row.estimate for row in rows), 1e-12)
    for row in rows:
        table.add_row(
            Text(shown(row.name)),
            f"{percent(row.estimate, 2)}%",
            f"{percent(row.low, 2)} to {percent(row.high, 2)}%",
            _truth(row, "-" if row.truth is None else f"{percent(row.truth, 2)}%"),
            Text(_bar(row.estimate / longest), style="cyan"),
        )


def _add_numbers(table: Table, rows: list[Row]) -> None:
    digits = decimals(row.standard_error for row in rows)
    for row in rows:
        table.add_row(
            Text(shown(row.name)),
            rounded(row.estimate, digits),
            rounded(row.standard_error, digits),
            f"{rounded(row.low, digits)} to {rounded(row.high, digits)}",
            _truth(row, "-" if row.truth is None else rounded(row.truth, digits)),
        )


def _truth(row: Row, words: str) -> Text:
    return Text(words, style="" if row.covered else "yellow")


def _ends(level: LevelGuarantee, at_delta: bool) -> tuple[float, float]:
    if at_delta:
        return level.epsilon_central, level.epsilon_central_lower
    return level.delta_central, level.delta_central_lower


def _reading(guarantee: AnyGuarantee) -> Text:
    epsilon, delta = level_table(guarantee).worst
    text = Text(
        f"Everything the analyst sees is ({plain(epsilon)}, "
        f"{plain(delta)})-differentially private for everybody listed, and "
        "better for those with a smaller number. Certified is a proven upper bound; what "
        "the attack shows is a proven lower bound."
    )
    warning = caution(guarantee)
    if warning is not None:
        text.append(f"\n{warning}", style="yellow")
    return text


def _bullets(guarantee: AnyGuarantee) -> Text:
    return Text("\n".join(f"  - {assumption}" for assumption in guarantee.assumptions))


def _bar(part: float) -> str:
    eighths = round(8 * _BAR_WIDTH * min(max(part, 0.0), 1.0))
    return _EIGHTHS[8] * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
