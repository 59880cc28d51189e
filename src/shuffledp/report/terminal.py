"""Tables for people who look at a terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.accounting.guarantee import Guarantee, LevelGuarantee
from shuffledp.report.summary import FrequencySummary

_BAR_WIDTH = 24
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def guarantee_table(guarantee: Guarantee) -> RenderableType:
    """Returns the guarantee per level, and under which assumptions it holds."""
    at_delta = guarantee.delta is not None
    symbol = "epsilon" if at_delta else "delta"
    given = (
        f"delta = {guarantee.delta:g}"
        if at_delta
        else f"epsilon = {guarantee.epsilon:g}"
    )
    table = Table(
        title=f"Guarantee after the shuffle, at {given}", title_justify="left"
    )
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
            f"{level.epsilon_local:.6g}",
            f"{level.count:,}",
            f"{level.hides_among:,}",
            f"{upper:.6g}",
            f"{lower:.6g}",
        )
    return Group(table, _reading(guarantee), Text("\nAssumed:"), _bullets(guarantee))


def frequency_table(summary: FrequencySummary) -> RenderableType:
    """Returns estimated and true frequencies with intervals and bars."""
    rows = summary.rows()
    percent = f"{100 * summary.confidence:g}%"
    table = Table(title=f"Frequencies: {summary.source}", title_justify="left")
    table.add_column("category")
    table.add_column("estimate", justify="right", style="bold")
    table.add_column(f"{percent} interval", justify="right")
    table.add_column("truth", justify="right")
    table.add_column("")
    longest = max(max(row["estimate"] for row in rows), 1e-12)
    for row in rows:
        low, high = row["interval"]
        inside = low <= row["truth"] <= high
        table.add_row(
            row["category"],
            f"{100 * row['estimate']:.2f}%",
            f"{100 * low:.2f} to {100 * high:.2f}%",
            Text(f"{100 * row['truth']:.2f}%", style="" if inside else "yellow"),
            Text(_bar(row["estimate"] / longest), style="cyan"),
        )
    covered = Text(
        f"{summary.num_covered} of {len(rows)} true frequencies lie inside their "
        f"{percent} interval.\n{summary.caveat}\n"
    )
    return Group(table, covered)


def _ends(level: LevelGuarantee, at_delta: bool) -> tuple[float, float]:
    if at_delta:
        return level.epsilon_central, level.epsilon_central_lower
    return level.delta_central, level.delta_central_lower


def _reading(guarantee: Guarantee) -> Text:
    worst = guarantee.worst
    return Text(
        "Everything the analyst sees is "
        f"({worst.epsilon_central:.6g}, {worst.delta_central:.6g})-differentially private "
        "for everybody listed, and better for those with a smaller number. Certified is "
        "proven; an attack shows that less is not true."
    )


def _bullets(guarantee: Guarantee) -> Text:
    return Text("\n".join(f"  - {assumption}" for assumption in guarantee.assumptions))


def _bar(part: float) -> str:
    eighths = round(8 * _BAR_WIDTH * min(max(part, 0.0), 1.0))
    return _EIGHTHS[8] * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
