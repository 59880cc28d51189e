"""Tables that fit narrow terminals without cutting a word or a number."""

import copy
from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

# Columns of bars and rules may be cut to this many characters.
_LITTLE = 4
# Wide enough for any table.
_ANY_WIDTH = 100_000


def fitted(part: RenderableType, console: Console) -> RenderableType:
    """Returns a table or group in which no word is cut at the width of a console.

    Columns of a table that is too wide break between words; if that is not enough, every
    row becomes lines of its own, "heading: cell". All else is returned unchanged.
    """
    # rich would cut words, and half a number is another number.
    if isinstance(part, Group):
        return Group(*(fitted(each, console) for each in part.renderables))
    if not isinstance(part, Table) or not part.columns:
        return part
    options = console.options.update(width=_ANY_WIDTH, markup=False)
    # Without a limit of width: the measure of a table that is wider than the console.
    natural_width = Measurement.get(console, options, part).maximum
    if natural_width <= console.width:
        return part
    texts = [_column_texts(column) for column in part.columns]
    pairs = list(zip(part.columns, texts, strict=True))
    max_widths = [_widest(text, column, words=False) for column, text in pairs]
    min_widths = [_widest(text, column, words=True) for column, text in pairs]
    # Beside cells, a table has lines and gaps.
    room = console.width - (natural_width - sum(max_widths)) - sum(min_widths)
    if room < 0:
        return _row_blocks(part, texts)
    # A copy: the caller may print the table on another console.
    narrow = copy.copy(part)
    narrow.columns = []
    for column, width in zip(
        part.columns, _shared_widths(min_widths, max_widths, room), strict=True
    ):
        narrow.columns.append(replace(column, width=width))
    return narrow


def _column_texts(column: Column) -> list[str]:
    """Returns the heading and the cells of a column, without their styles."""
    parts = (column.header, *column.cells)
    return [part.plain if isinstance(part, Text) else str(part) for part in parts]


def _widest(texts: Sequence[str], column: Column, *, words: bool) -> int:
    """Returns the length of the longest line, or of the longest word."""
    lengths = [
        cell_len(part) if not words or any(map(str.isalnum, part)) else _LITTLE
        for text in texts
        for part in (text.split() if words else text.split("\n"))
    ]
    return max(1, column.min_width or 0, *lengths)


def _shared_widths(
    min_widths: Sequence[int], max_widths: Sequence[int], room: int
) -> list[int]:
    """Returns the widths of columns that share `room` more characters."""
    # Columns that need few more characters come first, so that most fit on one line.
    widths = list(min_widths)
    order = sorted(
        range(len(min_widths)), key=lambda index: max_widths[index] - min_widths[index]
    )
    for index in order:
        added_width = min(max_widths[index] - min_widths[index], room)
        widths[index] += added_width
        room -= added_width
    return widths


def _row_blocks(table: Table, texts: Sequence[Sequence[str]]) -> RenderableType:
    """Returns a table as text, a block of lines per row."""
    headings, *rows = zip(*texts, strict=True)
    title = table.title
    lines = [] if title is None else [title if isinstance(title, Text) else Text(title)]
    for row in rows:
        block = []
        for heading, cell in zip(headings, row, strict=True):
            label, words = " ".join(heading.split()), ", ".join(cell.split("\n"))
            # A cell without a heading is a remark or a bar.
            block.append(f"{label}: {words}" if label else words)
        lines.append(Text("\n  ".join(line for line in block if line.strip())))
    return Group(*lines)
