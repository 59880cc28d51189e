"""Results as text and HTML tables, for the interpreter and for notebooks.

A view is made of texts and knows nothing of results. Printed, it fits a screen of 80
characters and a few dozen lines; as HTML it is a table that takes a notebook's own colors.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from unicodedata import combining, east_asian_width

WIDTH = 80
_GAP = 2
# More rows than these are for a data frame.
_MOST_ROWS = 12


@dataclass(frozen=True)
class TextTable:
    """A table with cautions and notes.

    Attributes:
        title: A single line.
        headings: Of the columns; the first names the subject of a row.
        rows: As many texts each as there are headings.
        cautions: Warnings, in sentences.
        notes: Further remarks, in sentences.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    cautions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def as_text(*views: TextTable) -> str:
    """Returns views one below the other, at most 80 characters wide where words allow it.

    >>> print(as_text(TextTable("Shares", ("who", "share"), (("a", "9%"), ("b", "91%")))))
    Shares
      who  share
      a       9%
      b      91%
    """
    return "\n\n".join("\n".join(_view_lines(view)) for view in views)


def as_html(*views: TextTable) -> str:
    """Returns views as HTML without colors of its own."""
    return "\n".join(_html_table(view) for view in views)


def _view_lines(view: TextTable) -> list[str]:
    rows, left_out_line = _shown_rows(view)
    widths = _widths([view.headings, *rows])
    headings = [view.headings]
    if sum(widths) + _GAP * len(widths) > WIDTH:
        # Only headings break: half a number in a cell would be another number.
        headings = _narrow_headings(view.headings, rows)
        widths = _widths([*headings, *rows])
    return [
        *textwrap.wrap(view.title, WIDTH),
        *(_row_line(row, widths) for row in (*headings, *rows)),
        *([f"  {left_out_line}"] if left_out_line else []),
        *_wrapped([*view.cautions, *view.notes]),
    ]


def _widths(table: Sequence[tuple[str, ...]]) -> list[int]:
    return [max(map(_text_width, column)) for column in zip(*table, strict=True)]


def _text_width(text: str) -> int:
    """Returns how many columns of a terminal a text fills."""
    # East Asian letters and most emoji fill two; marks on a letter fill none.
    return sum(
        0 if combining(letter) else 1 + (east_asian_width(letter) in "WF")
        for letter in text
    )


def _narrow_headings(
    headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]
) -> list[tuple[str, ...]]:
    """Returns headings on several lines, as wide as their cells and words ask for."""
    columns = zip(headings, _widths([("",) * len(headings), *rows]), strict=True)
    wrapped = [
        textwrap.wrap(text, max(width, *map(len, text.split())))
        for text, width in columns
    ]
    max_lines = max(map(len, wrapped))
    # Aligned at the bottom, so that the last lines stand right above the cells.
    padded = [[""] * (max_lines - len(lines)) + lines for lines in wrapped]
    return list(zip(*padded, strict=True))


def _row_line(row: Sequence[str], widths: Sequence[int]) -> str:
    (label, label_width), *others = zip(row, widths, strict=True)
    # Not `ljust`, which counts letters: some are two columns wide, or none.
    cells = [
        label + " " * (label_width - _text_width(label)),
        *(" " * (width - _text_width(text)) + text for text, width in others),
    ]
    gap = " " * _GAP
    return f"{gap}{gap.join(cells)}".rstrip()


def _wrapped(sentences: Sequence[str]) -> list[str]:
    return [line for text in sentences for line in textwrap.wrap(text, WIDTH)]


def _html_table(view: TextTable) -> str:
    rows, left_out_line = _shown_rows(view)
    heads = "".join(f'<th scope="col">{escape(text)}</th>' for text in view.headings)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    paragraphs = [f"<strong>{escape(text)}</strong>" for text in view.cautions]
    paragraphs += [escape(text) for text in filter(None, (left_out_line, *view.notes))]
    return (
        f'<table><caption style="text-align: left; white-space: normal">'
        f"{escape(view.title)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table>{''.join(f'<p>{text}</p>' for text in paragraphs)}"
    )


def _cell(text: str) -> str:
    # Names may come from data: none may become markup in a notebook.
    return f"<td>{escape(text)}</td>"


def _shown_rows(view: TextTable) -> tuple[tuple[tuple[str, ...], ...], str]:
    """Returns the rows that fit, and how many do not."""
    rows = view.rows[:_MOST_ROWS]
    num_more = len(view.rows) - len(rows)
    return rows, f"... and {num_more:,} more: see to_frame()." if num_more else ""
