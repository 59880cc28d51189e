"""Summary of the leaderboard for a terminal."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp_papers.leaderboard.entry import Leaderboard
from shuffledp_papers.leaderboard.leaderboard_tables import sentences, table_of_bounds

# Below this, the papers are left out: the names of bounds have authors and years.
_WIDE = 120


def summary(board: Leaderboard, *, width: int) -> RenderableType:
    """Returns one row per bound, and a summary of all entries.

    Args:
        board: The leaderboard.
        width: Of the terminal, in characters.
    """
    stated = table_of_bounds(board)
    columns = [
        index
        for index, heading in enumerate(stated.headings)
        if width >= _WIDE or heading not in ("source", "status")
    ]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for index in columns:
        table.add_column(
            stated.headings[index],
            justify="left" if index < 3 else "right",
            overflow="fold",
        )
    for row in stated.rows:
        table.add_row(*(Text(row[index]) for index in columns))
    return Group(table, *map(Text, sentences(board)))
