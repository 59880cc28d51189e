"""Tables for people who look at a terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.accounting.guarantee import Guarantee, LevelGuarantee
from shuffledp.report.summary import FrequencySummary
from shuffledp.report.words import MAX_ROWS, caution, percent, plain, shown

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


def frequency_table(summary: FrequencySummary) -> RenderableType:
    """Returns estimated and true frequencies with intervals and bars."""
    rows = summary.rows()
    confidence = f"{plain(100 * summary.confidence)}%"
    table = Table(
        title=Text(f"Frequencies: {shown(summary.source)}"), title_justify="left"
    )
    table.add_column("category")
    table.add_column("estimate", justify="right", style="bold")
    table.add_column(f"{confidence} interval", justify="right")
    table.add_column("truth", justify="right")
    table.add_column("")
    longest = max(max(row["estimate"] for row in rows), 1e-12)
    for row in summary.largest_rows():
        low, high = row["interval"]
        inside = low <= row["truth"] <= high
        table.add_row(
            Text(shown(row["category"])),
            f"{percent(row['estimate'], 2)}%",
            f"{percent(low, 2)} to {percent(high, 2)}%",
            Text(f"{percent(row['truth'], 2)}%", style="" if inside else "yellow"),
            Text(_bar(row["estimate"] / longest), style="cyan"),
        )
    words = [
        f"{summary.num_covered} of {len(rows)} true frequencies lie inside their "
        f"{confidence} interval.",
        summary.caveat,
    ]
    if len(rows) > MAX_ROWS:
        words.insert(0, f"Shown are the {MAX_ROWS} most frequent of {len(rows):,}.")
    return Group(table, Text("\n".join(words) + "\n"))


def _ends(level: LevelGuarantee, at_delta: bool) -> tuple[float, float]:
    if at_delta:
        return level.epsilon_central, level.epsilon_central_lower
    return level.delta_central, level.delta_central_lower


def _reading(guarantee: Guarantee) -> Text:
    worst = guarantee.worst
    text = Text(
        f"Everything the analyst sees is ({plain(worst.epsilon_central)}, "
        f"{plain(worst.delta_central)})-differentially private for everybody listed, and "
        "better for those with a smaller number. Certified is a proven upper bound; what "
        "the attack shows is a proven lower bound."
    )
    warning = caution(guarantee)
    if warning is not None:
        text.append(f"\n{warning}", style="yellow")
    return text


def _bullets(guarantee: Guarantee) -> Text:
    return Text("\n".join(f"  - {assumption}" for assumption in guarantee.assumptions))


def _bar(part: float) -> str:
    eighths = round(8 * _BAR_WIDTH * min(max(part, 0.0), 1.0))
    return _EIGHTHS[8] * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
