"""Tables of the leaderboard, as texts: by bound, by collection, and of single entries."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from shuffledp.format_number import plain
from shuffledp_papers.csv_text import csv_text
from shuffledp_papers.leaderboard.entry import (
    ComparedPoint,
    Entry,
    EntryStatus,
    Leaderboard,
    Standing,
)

POINT_HEADINGS = ("randomizer", "people at each level", "delta", "rounds")


@dataclass(frozen=True)
class LeaderboardTable:
    """A table of texts.

    Attributes:
        title: Caption of the table.
        headings: Of the columns.
        rows: One text per heading.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def table_of_bounds(board: Leaderboard) -> LeaderboardTable:
    """Returns one row per bound: how often it is below the attack, tighter, or above."""
    rows = []
    for name, source in board.sources.items():
        chosen = [(each, entry) for each, entry in board.rows if entry.bound == name]
        counts = Counter(entry.comparison for _, entry in chosen)
        statuses = dict.fromkeys(entry.status for _, entry in chosen)
        ratios = [
            entry.epsilon / each.certified
            for each, entry in chosen
            if entry.epsilon is not None and entry.comparison is not Standing.BELOW
        ]
        rows.append(
            (
                name,
                source,
                ", ".join(statuses),
                str(sum(entry.is_refuted for _, entry in chosen)),
                *(str(counts[comparison]) for comparison in Standing),
                f"{median(ratios):.3g}" if ratios else "",
            )
        )
    return LeaderboardTable(
        "Bounds",
        (
            "bound",
            "source",
            "status",
            "refuted",
            "below the attack",
            "tighter",
            "equal",
            "above",
            "states nothing",
            "median of epsilon / certified",
        ),
        tuple(rows),
    )


def table_of_points(board: Leaderboard) -> LeaderboardTable:
    """Returns one row per collection: the band, and the least proven bound."""
    rows = []
    for each in board.points:
        proven = [
            entry
            for entry in each.entries
            if entry.status is EntryStatus.PROVEN and entry.epsilon is not None
        ]
        least = min(proven, key=lambda entry: entry.epsilon or 0.0, default=None)
        counts = Counter(entry.comparison for entry in each.entries)
        rows.append(
            (
                *_point_texts(each),
                plain(each.attack),
                plain(each.certified),
                f"{each.certified / each.attack:.3f}" if each.attack > 0.0 else "",
                "" if least is None else plain(least.epsilon or 0.0),
                "" if least is None else least.bound,
                str(counts[Standing.BELOW]),
                *_cost_texts(each),
            )
        )
    return LeaderboardTable(
        "Collections",
        (
            *POINT_HEADINGS,
            "attack",
            "certified",
            "certified / attack",
            "least proven bound",
            "its name",
            "bounds below the attack",
            "seconds",
            "MB",
        ),
        tuple(rows),
    )


def table_of_entries(
    rows: Sequence[tuple[ComparedPoint, Entry]], title: str
) -> LeaderboardTable:
    """Returns one row per entry, in the order of `rows`."""
    return LeaderboardTable(
        title,
        (
            *POINT_HEADINGS,
            "attack",
            "certified",
            "bound",
            "epsilon",
            "status",
            "comparison",
            "seconds",
            "MB",
        ),
        tuple(
            (
                *_point_texts(each),
                plain(each.attack),
                plain(each.certified),
                entry.bound,
                "" if entry.epsilon is None else plain(entry.epsilon),
                str(entry.status),
                str(entry.comparison),
                *_cost_texts(entry),
            )
            for each, entry in rows
        ),
    )


def tighter_rows(board: Leaderboard) -> list[tuple[ComparedPoint, Entry]]:
    """Returns the entries between attack and certificate, those of proven bounds first."""
    chosen = [
        (each, entry)
        for each, entry in board.rows
        if entry.comparison is Standing.TIGHTER
    ]
    # Sorting is stable: the order of the grid within a status.
    order = list(EntryStatus)
    return sorted(chosen, key=lambda row: order.index(row[1].status))


def sentences(board: Leaderboard) -> tuple[str, ...]:
    """Returns a summary of the entries, in sentences."""
    stated = [entry for _, entry in board.rows if entry.epsilon is not None]
    below = [entry for entry in stated if entry.comparison is Standing.BELOW]
    refuted = [entry.bound for entry in below if entry.is_refuted]
    others = Counter(entry.status for entry in below if not entry.is_refuted)
    statuses = ", ".join(f"{count} {status}" for status, count in others.items())
    ratios = [each.certified / each.attack for each in board.points if each.attack > 0]
    tighter = tighter_rows(board)
    names = ", ".join(dict.fromkeys(entry.bound for _, entry in tighter))
    proven = sum(entry.status is EntryStatus.PROVEN for _, entry in tighter)
    return (
        f"{len(board.points)} collections and {len(board.sources)} bounds: {len(stated)} "
        f"numbers are stated, {len(board.rows) - len(stated)} are not.",
        f"{len(refuted)} are refuted"
        + (f" ({', '.join(dict.fromkeys(refuted))})" if refuted else "")
        + ": they are below the attack beside them, and the statement is "
        f"{EntryStatus.FALSE}.",
        f"{len(below) - len(refuted)} more are below the attack, which refutes no statement"
        + (f": {statuses}." if statuses else "."),
        f"{len(tighter)} are between attack and certificate"
        + (f" ({names}); " if tighter else "; ")
        + (
            f"{proven} of them are proven: there our certificate is not the best bound."
            if proven
            else "none of them is proven."
        ),
        f"The certificate is at most {max(ratios):.3f} times the attack, in the median "
        f"{median(ratios):.4f} times."
        if ratios
        else "No attack is known.",
    )


def as_markdown(table: LeaderboardTable) -> list[str]:
    """Returns the lines of a table in Markdown."""
    rows = (table.headings, ("---",) * len(table.headings), *table.rows)
    return [f"| {' | '.join(row)} |" for row in rows]


def as_csv(board: Leaderboard) -> str:
    """Returns all entries as CSV, with the reasons of bounds that state nothing."""
    table = table_of_entries(board.rows, "")
    reasons = [entry.why for _, entry in board.rows]
    return csv_text(
        [
            (*table.headings, "reason"),
            *((*row, why) for row, why in zip(table.rows, reasons, strict=True)),
        ]
    )


def _point_texts(each: ComparedPoint) -> tuple[str, ...]:
    point = each.point
    people = point.people.replace(",", ", ")
    return point.randomizer, people, plain(point.delta), str(point.rounds)


def _cost_texts(costly: ComparedPoint | Entry) -> tuple[str, str]:
    cost = costly.cost
    memory = "" if cost.megabytes is None else f"{cost.megabytes:.1f}"
    return f"{cost.seconds:.3f}", memory
