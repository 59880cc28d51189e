"""Results of experiments for people who look at a terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.papers.figures.result import Cell, Result


def result_table(result: Result) -> RenderableType:
    """Returns the table, and what to make of it."""
    table = Table(title=result.title, title_justify="left")
    for index, column in enumerate(result.columns):
        table.add_column(column, justify="left" if index == 0 else "right")
    for row in result.rows:
        table.add_row(*(_shown(cell) for cell in row))
    return Group(table, *(Text(f"- {note}") for note in result.notes))


def _shown(cell: Cell) -> str:
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)
