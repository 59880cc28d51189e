"""Definition of missing values, and their removal or refusal.

A value is missing if it is null or blank or, in a file, written as NA, N/A, NaN, null or
None, in any case and with any white space around it. White space around values is not part
of them.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import time
from typing import Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shuffledp.datasets.table_files import Rows
from shuffledp.errors import DataError, InvalidInputError, MissingValueError

# Treatment of people with a missing value.
Missing: TypeAlias = Literal["refuse", "drop"]

BLANK = [""]
WRITTEN = [*BLANK, "na", "n/a", "nan", "null", "none"]
# Largest number of rows that an error names.
_MOST_ROWS = 5


def cleaned(
    column: pl.Series, missing: Sequence[str], known: Collection[str] = ()
) -> pl.Series:
    """Returns a column with null for missing values, and texts without outer white space.

    Args:
        column: Texts, numbers, dates, ...; times that are all midnight become dates.
        missing: Texts that mean a missing value: `BLANK`, or `WRITTEN` in a file.
        known: Texts that are values, such as a category named "NA".
    """
    if column.dtype.is_float():
        return column.fill_nan(None)
    if isinstance(column.dtype, pl.Datetime):
        # pandas has no type for dates: they are times of midnight.
        dates = column.dt.replace_time_zone(None).dt.date()
        midnight = column.dt.time() == pl.Series([time()])
        return dates if midnight.all() else column
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        return column
    text = column.cast(pl.String).str.strip_chars()
    # A category of such a name is an answer if it is written as the category is.
    nothing = text.str.to_lowercase().is_in(missing) & ~text.is_in(list(known))
    return pl.select(pl.when(~nothing).then(text)).to_series().alias(column.name)


def cleaned_rows(rows: Rows, known: Collection[str] = ()) -> Rows:
    """Returns cleaned columns, and a note if white space was removed.

    Raises:
        DataError: If a text has a NUL character.
    """
    # A data frame has a null of its own: there "None" is an answer.
    missing = WRITTEN if rows.is_written else BLANK
    columns = [cleaned(column, missing, known) for column in rows.frame]
    for column in columns:
        if column.dtype == pl.String:
            _refuse_nul_characters(column, rows)
    trimmed = sum(
        int((after != before.cast(pl.String)).sum())
        for before, after in zip(rows.frame, columns, strict=True)
        if after.dtype == pl.String
    )
    notes = rows.notes
    notes += trimming_sentence(trimmed)
    return replace(rows, frame=pl.DataFrame(columns), notes=notes)


def _refuse_nul_characters(column: pl.Series, rows: Rows) -> None:
    """Raises DataError with the rows whose text has a NUL character, if there are any."""
    # Such a text looks like the same one without it, and would be a category of its own.
    damaged = column.str.contains("\0", literal=True).fill_null(value=False).to_numpy()
    if damaged.any():
        raise DataError(
            f"Expected text without NUL characters in column {column.name!r} of "
            f"{rows.name}, found one in {rows_phrase(damaged, rows.first)}: remove it, or "
            "save the table again, in UTF-8."
        )


def trimming_sentence(trimmed: int) -> tuple[str, ...]:
    """Returns a sentence on removed white space, if any was removed."""
    if not trimmed:
        return ()
    values = "value" if trimmed == 1 else "values"
    return (f"White space around {trimmed:,} {values} was removed.",)


def check_missing(missing: Missing) -> None:
    """Raises InvalidInputError unless `missing` is "refuse" or "drop"."""
    if missing not in ("refuse", "drop"):
        raise InvalidInputError(
            f"Expected missing to be 'refuse' or 'drop', got {missing!r}."
        )


def refuse_missing(columns: Sequence[pl.Series], rows: Rows | None = None) -> None:
    """Raises MissingValueError with the rows of missing values, if there are any.

    Args:
        columns: Cleaned columns.
        rows: The file that they come from, if any.
    """
    holes = [column for column in columns if column.null_count()]
    if not holes:
        return
    names = [column.name for column in holes]
    empty = np.any([column.is_null().to_numpy() for column in holes], axis=0)
    where = rows_phrase(empty, 1 if rows is None else rows.first)
    source = "" if rows is None else f" of {rows.name}"
    raise MissingValueError(
        f"Expected a value in every row of {column_names(names)}{source}, found none in "
        f"{where}."
    )


def rows_phrase(marked: NDArray[np.bool_], first: int) -> str:
    """Returns the numbers of marked rows as a phrase.

    >>> rows_phrase(np.array([False, True, True]), first=2)
    'rows 3 and 4 (the header is row 1)'

    Args:
        marked: At least one of them, shape (rows,).
        first: The number of the first row: 2 in a file, whose header line counts as a row.
    """
    numbers = [f"{row:,}" for row in (np.flatnonzero(marked) + first)[:_MOST_ROWS]]
    count = int(marked.sum())
    if count > len(numbers):
        where = f"{count:,} rows, the first of which are {_and(numbers)}"
    else:
        where = f"row{'s' if count > 1 else ''} {_and(numbers)}"
    counting_phrase = (
        f"the header is row {first - 1}" if first > 1 else f"the first is row {first}"
    )
    return f"{where} ({counting_phrase})"


def column_names(columns: Sequence[str]) -> str:
    """Returns "column 'a'", or "columns 'a' and 'b'"."""
    names = [repr(column) for column in columns]
    return f"column{'s' if len(names) > 1 else ''} {_and(names)}"


def _and(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
