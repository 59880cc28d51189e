"""Reader of columns of a file: separated text, JSON lines, Parquet.

The separator of text is guessed from the first line: the comma, semicolon, tab or bar that
makes the most columns of it.
"""

import csv
import difflib
import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from shuffledp.datasets.json_lines import refuse_misread_lines, unmarked
from shuffledp.datasets.table_kinds import (
    JSON_LINES,
    PARQUET,
    SEPARATED,
    TABLES,
)
from shuffledp.errors import DataError
from shuffledp.file_reading import require_file

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_FORMS = (
    dict.fromkeys(
        SEPARATED, "text with a header line and as many values in every line, in UTF-8"
    )
    | dict.fromkeys(JSON_LINES, "a JSON object in every line, in UTF-8")
    | dict.fromkeys(PARQUET, "a Parquet file")
)
# Limits of an error: number of columns, and length of their names.
_MOST_COLUMNS = 20
_LONGEST_NAME = 40


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of a file.

    Attributes:
        frame: The requested columns.
        name: Of the file.
        first: The number of the first row in the file: 2, if a header line is row 1.
        notes: Sentences on guesses and changes.
        is_written: Whether words such as "NA" may mean a missing value: see `missing`.
    """

    frame: pl.DataFrame
    name: str
    first: int
    notes: tuple[str, ...] = ()
    is_written: bool = True


def read_rows(path: Path, columns: list[str]) -> Rows:
    """Reads some columns of a file.

    Args:
        path: One that ends in .csv, .tsv, .txt, .jsonl, .ndjson, .parquet or .pq.
        columns: Their names. White space around names in a header line does not count.

    Raises:
        DataError: If the file is missing, empty, unreadable, of another kind, or lacks a
            column.
    """
    require_file(path)
    kind = path.suffix.lower()
    if kind not in TABLES:
        raise DataError(
            f"Expected a table in a file that ends in {', '.join(TABLES[:-1])} or "
            f"{TABLES[-1]}, got {path.name}."
        )
    wanted_columns = list(dict.fromkeys(columns))
    try:
        # Polars cannot open a name that is not.
        str(path).encode()
        rows = (_separated if kind in SEPARATED else _typed)(path, wanted_columns)
    except pl.exceptions.DuplicateError as error:
        raise DataError(
            f"Expected exactly one column of each name in {path}."
        ) from error
    except (
        pl.exceptions.PolarsError,
        OSError,
        UnicodeError,
        csv.Error,
        json.JSONDecodeError,
        RecursionError,
    ) as error:
        # The reader's own message may quote what people wrote.
        raise DataError(f"Could not read {path}: expected {_FORMS[kind]}.") from error
    if rows.frame.height == 0:
        raise DataError(f"Expected at least one person in {path}, found none.")
    return rows


def separator_of(line: str, usual: str, where: Path | str) -> str:
    """Returns the separator of a header line, as `read_rows` guesses it.

    >>> separator_of("age;income;level", ",", "people.csv")
    ';'

    Args:
        line: The header line.
        usual: The separator if no other one makes more columns.
        where: The table's name in errors.

    Raises:
        DataError: If the line is too long.
    """

    def columns(separator: str) -> int:
        with _limited_header(where):
            return len(next(csv.reader([line], delimiter=separator), []))

    return _of_most(usual, columns)


def _of_most(usual: str, columns: Callable[[str], int]) -> str:
    """Returns the separator that makes the most columns, or the usual one if tied."""
    # `max` returns the first of equals, so the usual separator is put first.
    ordered = sorted(_SEPARATORS, key=lambda separator: separator != usual)
    return max(ordered, key=columns)


def _separated(path: Path, wanted: list[str]) -> Rows:
    usual = "\t" if path.suffix.lower() == ".tsv" else ","
    separator = _of_most(usual, lambda separator: len(_header(path, separator)[0]))
    names, row = _header(path, separator)
    indices = [find_column(name, names, path, from_line=True) for name in wanted]
    # All columns are read: otherwise lines with too many values would go unnoticed.
    # Values stay texts, as "01" is not "1": the caller converts them to numbers.
    frame = pl.scan_csv(path, separator=separator, infer_schema=False).collect()
    if frame.width != len(names):
        raise DataError(f"Could not read {path}: expected {_FORMS['.csv']}.")
    columns = [
        frame.to_series(index).alias(name)
        for index, name in zip(indices, wanted, strict=True)
    ]
    notes: tuple[str, ...] = ()
    if separator != usual:
        notes = (
            f"The columns of {path.name} are separated by {_SEPARATORS[separator]}.",
        )
    return Rows(pl.DataFrame(columns), path.name, row + 1, notes)


def _header(path: Path, separator: str) -> tuple[list[str], int]:
    """Returns the names in the first row that is not blank, and its number."""
    # A byte order mark would be taken for a part of the first name.
    with path.open(encoding="utf-8-sig", newline="") as file, _limited_header(path):
        for row, names in enumerate(csv.reader(file, delimiter=separator), start=1):
            # UTF-16 without a mark of its byte order is text in UTF-8, too. Names in other
            # scripts may have no NUL there, but the end of their line has one after it.
            if any("\0" in name for name in names) or (
                names and next(file, "").startswith("\0")
            ):
                raise DataError(f"Could not read {path}: expected {_FORMS['.csv']}.")
            if names:
                return [name.strip() for name in names], row
    raise DataError(f"Expected a header line in {path}, found an empty file.")


@contextmanager
def _limited_header(where: Path | str) -> Iterator[None]:
    """Replaces the error of `csv` about the length of a field."""
    try:
        yield
    except csv.Error as error:
        # To a separator that it does not use, a header line is a single field.
        if "field limit" not in str(error):
            raise
        raise DataError(
            f"Expected a header line of at most {csv.field_size_limit():,} characters in "
            f"{where}, got a longer one: leave out columns, or save the table as Parquet."
        ) from error


def _typed(path: Path, wanted: list[str]) -> Rows:
    if path.suffix.lower() in PARQUET:
        lazy = pl.scan_parquet(path)
    elif path.stat().st_size == 0:
        raise DataError(f"Expected at least one person in {path}, found none.")
    else:
        # From all lines: a type that fits the first ones may not fit a later one.
        lazy = pl.scan_ndjson(unmarked(path), infer_schema_length=None)
    names = lazy.collect_schema().names()
    for name in wanted:
        find_column(name, names, path, from_line=False)
    try:
        rows = Rows(lazy.select(wanted).collect(), path.name, first=1)
    except pl.exceptions.PolarsError as error:
        # Such as decimal numbers of more than 38 digits; other columns can be read.
        unread = next(name for name in wanted if not _is_readable(lazy.select(name)))
        raise DataError(
            f"Could not read column {unread!r} of {path}: expected numbers, texts or "
            "dates, and a file that is not damaged."
        ) from error
    if path.suffix.lower() in JSON_LINES:
        refuse_misread_lines(path, wanted)
    return rows


def _is_readable(column: pl.LazyFrame) -> bool:
    try:
        column.collect()
    except pl.exceptions.PolarsError:
        return False
    return True


def find_column(
    name: str, names: list[str], where: Path | str, *, from_line: bool
) -> int:
    """Returns the index of a column.

    Args:
        name: Of the column.
        names: Of all columns.
        where: The table's name in errors.
        from_line: Whether the names were read from a line, which may be no header.

    Raises:
        DataError: If there is none or several of this name, with the names of all.
    """
    if names.count(name) == 1:
        return names.index(name)
    if name in names:
        raise DataError(
            f"Expected exactly one column {name!r} in {where}, found {names.count(name)}."
        )
    if from_line and any(map(_is_number, names)):
        # Without a header line these are a person's answers, which no error may quote.
        raise DataError(
            f"Expected a column {name!r} in {where}, whose first line should name the "
            "columns, and holds numbers."
        )
    raise DataError(
        f"Expected a column {name!r} in {where}, found {_names_as_text(names)}."
        f"{_suggestion(name, names)}"
    )


def _names_as_text(names: list[str]) -> str:
    if not names:
        return "no column at all"
    quoted = [repr(name[:_LONGEST_NAME]) for name in names[:_MOST_COLUMNS]]
    if len(names) > _MOST_COLUMNS:
        quoted.append(f"{len(names) - _MOST_COLUMNS:,} more")
    return ", ".join(quoted)


def _suggestion(name: str, names: list[str]) -> str:
    # Reversed, so that of names that differ in case only the first one stays.
    folded = {other.strip().casefold(): other for other in reversed(names)}
    close = difflib.get_close_matches(name.strip().casefold(), folded, n=1)
    return f" Did you mean {folded[close[0]][:_LONGEST_NAME]!r}?" if close else ""


def _is_number(name: str) -> bool:
    try:
        return not math.isnan(float(name))
    except ValueError:
        return False
