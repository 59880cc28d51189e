"""Tables of people's values and levels, read from data frames and files."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from shuffledp.datasets.exclusion_notes import exclusion_notes
from shuffledp.datasets.frames import Source, rows_of
from shuffledp.datasets.missing import (
    Missing,
    check_missing,
    cleaned_rows,
    refuse_missing,
)
from shuffledp.errors import DataError
from shuffledp.file_reading import require_file


@dataclass(frozen=True, eq=False)
class Table:
    """People's values: a row for each person, and one value in each column.

    Attributes:
        frame: The columns, without missing values.
        notes: Sentences on the reading: guesses about the format, and people left out.
        orders: Ordered categories of columns that have them, by column.
        first_row: The number of the first row; None if rows may have been left out.
    """

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    first_row: int | None = None

    def __getitem__(self, column: str) -> pl.Series:
        """Returns one column."""
        return self.frame[column]

    @property
    def num_users(self) -> int:
        """The number of people."""
        return self.frame.height


def read_columns(
    source: Source,
    columns: list[str],
    *,
    missing: Missing = "refuse",
    known: Collection[str] = (),
) -> Table:
    """Reads some columns of a data frame, or of a file: see `table_files`.

    Args:
        source: The data frame or file.
        columns: Their names.
        missing: "refuse" rows with a missing value, or "drop" them.
        known: Texts that are values, such as a category named "NA".

    Raises:
        DataError: If the table is missing, empty, unreadable, or lacks a column.
        MissingValueError: If a value is missing, and that is refused; see `missing`.
    """
    check_missing(missing)
    written = rows_of(source, columns)
    orders = {
        column.name: tuple(text.strip() for text in column.dtype.categories)
        for column in written.frame
        if isinstance(column.dtype, pl.Enum)
    }
    rows = cleaned_rows(written, known)
    if missing == "refuse":
        refuse_missing(rows.frame.get_columns(), rows)
        return Table(rows.frame, rows.notes, orders, rows.first)
    complete = rows.frame.drop_nulls()
    if complete.height == 0:
        raise DataError(f"Expected a person with a value in every column of {source}.")
    notes = rows.notes + exclusion_notes(rows.frame, complete.height)
    return Table(complete, notes, orders)


def read_lines(path: Path) -> tuple[str, ...]:
    """Reads a file with one string per line, UTF-8, without white space around them.

    Raises:
        DataError: If it is missing, not UTF-8, or has a NUL character or an empty line.
    """
    require_file(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise DataError(f"Could not read {path}: expected text in UTF-8.") from error
    # Not `splitlines`, which also splits at separators that a string may contain.
    lines = [line.strip() for line in text.removesuffix("\n").split("\n")]
    damaged = next((row for row, line in enumerate(lines, 1) if "\0" in line), None)
    if damaged is not None:
        # Such a string looks like the same one without it, and would be another.
        raise DataError(
            f"Expected text without NUL characters in {path}, found one in line "
            f"{damaged:,}: remove it, or save the file again, in UTF-8."
        )
    if "" in lines:
        raise DataError(
            f"Expected one string in every line of {path}, found nothing in line "
            f"{lines.index('') + 1}."
        )
    return tuple(lines)
