"""Terminal tables of results of experiments; no digit is ever cut."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp_papers.figures.result import Result
from shuffledp_papers.figures.table import Cell

FLAG = "!"
# Of the box: both ends of a line; and around a cell, with the gap to the next.
_EDGES = 2
_BETWEEN = 3


def result_table(result: Result, *, width: int) -> RenderableType:
    """Returns the table, with its notes and comparisons.

    A table that is too wide is printed in several parts, each beside the columns that
    identify a row. Flags stand behind the number that they are about.

    Args:
        result: The result to show.
        width: Width of the terminal, in characters.
    """
    columns = _columns(result)
    keys, others = columns[: result.keys], columns[result.keys :]
    taken = _EDGES + sum(_BETWEEN + _width(column) for column in keys)
    parts: list[list[list[str]]] = [[]]
    used = taken
    for column in others:
        needed = _BETWEEN + _width(column)
        # A part has a column even if that is wider than the terminal: no digit is cut.
        if parts[-1] and used + needed > width:
            parts.append([])
            used = taken
        parts[-1].append(column)
        used += needed
    setting = ", ".join(
        f"{name} {_text(cell)}" for name, cell in result.setting.items()
    )
    return Group(
        Text(result.title, style="bold"),
        *([Text(setting)] if setting else []),
        *(_part([*keys, *part]) for part in parts),
        *(Text(f"- {note}") for note in result.notes),
        *_comparisons(result),
    )


def _columns(result: Result) -> list[list[str]]:
    """Returns columns of texts, each with its name first; flags joined to numbers."""
    columns: list[list[str]] = []
    for name in result.table.columns:
        cells = result.table.column(name)
        # A flag of the column "x" is called "x: " and its meaning.
        if columns and name.startswith(f"{columns[-1][0]}: "):
            marks = [FLAG if cell else "" for cell in cells]
            texts = zip(columns[-1][1:], marks, strict=True)
            columns[-1][1:] = [text + mark for text, mark in texts]
        else:
            columns.append([name, *(_text(cell) for cell in cells)])
    return columns


def _width(column: Sequence[str]) -> int:
    """Returns the width of a column in characters."""
    # Names may be folded between words, cells may not.
    words = column[0].split() or [""]
    return max(*(len(word) for word in words), *(len(text) for text in column[1:]), 1)


def _part(columns: Sequence[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 1), pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(
            column[0],
            justify="left" if index == 0 else "right",
            min_width=_width(column),
            overflow="fold",
        )
    for row in zip(*(column[1:] for column in columns), strict=True):
        table.add_row(*(Text(text) for text in row))
    return table


def _comparisons(result: Result) -> list[RenderableType]:
    if not result.comparisons:
        return []
    differ = [each for each in result.comparisons if not each.agrees]
    count = len(result.comparisons)
    lines = [f"{count - len(differ)} of {count} numbers of the paper are found again."]
    lines += [
        f"{each.what}: printed {each.printed}, here {each.here:.4g}"
        + (f" ({each.why})" if each.why else "")
        for each in differ
    ]
    return [Text(f"- {line}") for line in lines]


def _text(cell: Cell) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if cell is None:
        return "-"
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)
