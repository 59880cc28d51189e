"""Columns of people's values and levels from CSV and Parquet files."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.types import Floats, Ints

# More categories than this are no table that anybody reads.
MAX_TABLE_CATEGORIES = 100_000

_BITS = {"0": 0, "1": 1, "false": 0, "true": 1}

_VALUE_TYPES = (
    pl.String,
    pl.Categorical,
    pl.Enum,
    pl.Boolean,
    pl.Date,
    pl.Float32,
    pl.Float64,
    pl.Int8,
    pl.Int16,
    pl.Int32,
    pl.Int64,
    pl.UInt8,
    pl.UInt16,
    pl.UInt32,
    pl.UInt64,
)


def read_columns(
    path: Path, columns: list[str], *, as_text: Sequence[str] = ()
) -> pl.DataFrame:
    """Reads some columns of a CSV (.csv, .tsv, .txt) or Parquet file.

    Args:
        path: The file.
        columns: Their names.
        as_text: Those of them that are read from a CSV as they are written: "01" is not
            "1".

    Raises:
        DataError: If the file is missing, empty, unreadable, or lacks a column.
    """
    if not path.is_file():
        raise DataError(f"Expected a file at {path}, found none.")
    try:
        text = path.suffix.lower() not in (".parquet", ".pq")
        if not text:
            lazy = pl.scan_parquet(path)
        else:
            separator = "\t" if path.suffix.lower() == ".tsv" else ","
            lazy = pl.scan_csv(
                path,
                separator=separator,
                infer_schema_length=None,
                schema_overrides=dict.fromkeys(as_text, pl.String),
            )
        present = lazy.collect_schema().names()
        for column in columns:
            # The names themselves may be people's data, if the header is missing.
            if present.count(column) != 1 or f"{column}_duplicated_0" in present:
                raise DataError(
                    f"Expected exactly one column {column!r} among the {len(present)} "
                    f"that the first line of {path} names."
                )
        # Of text, all columns are read: only then are lines that are too long seen.
        frame = (
            lazy.collect().select(list(dict.fromkeys(columns)))
            if text
            else (lazy.select(list(dict.fromkeys(columns))).collect())
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        # The reader's own message may quote what people wrote.
        raise DataError(
            f"Could not read {path}: expected a Parquet file, or text with a header line "
            "and as many values in every line."
        ) from error
    if frame.height == 0:
        raise DataError(f"Expected at least one person in {path}, found none.")
    return frame


def budgets_of(column: pl.Series) -> Floats:
    """Returns one budget per person.

    Raises:
        DataError: If an entry is missing or not a number.
    """
    if column.null_count() or not column.dtype.is_numeric():
        raise DataError(
            f"Expected a number for every person in column {column.name!r}."
        )
    return column.cast(pl.Float64).to_numpy()


def categories_of(
    column: pl.Series, categories: int | tuple[str, ...] | None
) -> tuple[Ints, tuple[str, ...]]:
    """Returns each person's category by number, and the names of the categories.

    Args:
        column: One value per person.
        categories: How many there are, if values are whole numbers from 0; their names;
            or None to take the distinct values of the column, sorted.

    Raises:
        DataError: If a value is missing.
        InvalidInputError: If a value is not one of the categories.
    """
    if column.null_count():
        raise DataError(f"Expected a value for every person in column {column.name!r}.")
    if not isinstance(column.dtype, _VALUE_TYPES):
        raise DataError(
            f"Expected texts, numbers or dates in column {column.name!r}, not lists."
        )
    if isinstance(column.dtype, pl.Float32 | pl.Float64) and column.is_nan().any():
        raise DataError(f"Expected a value for every person in column {column.name!r}.")
    if isinstance(categories, int):
        refusal = InvalidInputError(
            f"Expected whole numbers from 0 to {categories - 1} in column "
            f"{column.name!r}; name the categories if they are something else."
        )
        parsed = column.cast(pl.Int64, strict=False)
        if parsed.null_count() or isinstance(column.dtype, pl.Float32 | pl.Float64):
            raise refusal
        numbers = parsed.to_numpy()
        if numbers.min() < 0 or numbers.max() >= categories:
            raise refusal
        return numbers, tuple(str(number) for number in range(categories))
    text = column.cast(pl.String)
    if categories is None:
        categories = tuple(text.unique().sort().to_list())
        if not 2 <= len(categories) <= MAX_TABLE_CATEGORIES:
            raise DataError(
                f"Expected 2 to {MAX_TABLE_CATEGORIES:,} different values in column "
                f"{column.name!r}, got {len(categories):,}; name the categories if some "
                "do not occur."
            )
    known = pl.Series(categories, dtype=pl.String)
    codes = text.replace_strict(
        known, np.arange(len(categories)), default=None, return_dtype=pl.Int64
    )
    if codes.null_count():
        raise InvalidInputError(
            f"Expected every value in column {column.name!r} to be one of the "
            f"{len(categories)} categories."
        )
    return codes.to_numpy(), categories


def numbers_of(column: pl.Series) -> Floats:
    """Returns one finite number per person.

    Raises:
        DataError: If an entry is missing, infinite or not a number.
    """
    refusal = DataError(
        f"Expected a finite number for every person in column {column.name!r}."
    )
    if column.null_count() or not column.dtype.is_numeric():
        raise refusal
    numbers = column.cast(pl.Float64).to_numpy()
    if not np.all(np.isfinite(numbers)):
        raise refusal
    return numbers


def bits_of(column: pl.Series) -> Ints:
    """Returns 0 or 1 per person, of whole numbers or of true and false.

    Raises:
        DataError: If an entry is missing or something else.
    """
    refusal = DataError(
        f"Expected 0 or 1, or true or false, for every person in column {column.name!r}."
    )
    kinds = (pl.String, pl.Boolean)
    if not (isinstance(column.dtype, kinds) or column.dtype.is_integer()):
        raise refusal
    bits = (
        column.cast(pl.String)
        .str.to_lowercase()
        .replace_strict(_BITS, default=None, return_dtype=pl.Int64)
    )
    if bits.null_count():
        raise refusal
    return bits.to_numpy()


def strings_of(column: pl.Series) -> list[str]:
    """Returns one string per person, in their order.

    Raises:
        DataError: If an entry is missing, or the column does not hold texts.
    """
    texts = (pl.String, pl.Categorical, pl.Enum)
    if column.null_count() or not (
        isinstance(column.dtype, texts) or column.dtype.is_integer()
    ):
        raise DataError(f"Expected a text for every person in column {column.name!r}.")
    strings: list[str] = column.cast(pl.String).to_list()
    return strings


def read_lines(path: Path) -> tuple[str, ...]:
    """Reads a file with one string per line, UTF-8.

    Raises:
        DataError: If it is missing, not UTF-8, or has an empty line.
    """
    if not path.is_file():
        raise DataError(f"Expected a file at {path}, found none.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise DataError(f"Could not read {path}: expected text in UTF-8.") from error
    # Not `splitlines`, which also splits at characters that a string may contain.
    lines = text.removesuffix("\n").split("\n")
    if "" in lines:
        raise DataError(
            f"Expected one string in every line of {path}, found nothing in line "
            f"{lines.index('') + 1}."
        )
    return tuple(lines)


def read_budgets(path: Path, column: str | None = None) -> Floats:
    """Reads one budget per person from a text, .npy, CSV or Parquet file.

    Args:
        path: Text with one number per line, a one-dimensional .npy array, or a table.
        column: Which column of a table.

    Raises:
        DataError: If the file is missing, empty or unreadable.
    """
    if not path.is_file():
        raise DataError(f"Expected a file at {path}, found none.")
    if column is not None or path.suffix.lower() in (".csv", ".tsv", ".parquet", ".pq"):
        if column is None:
            raise DataError(f"Expected the name of the column of {path} to read.")
        return budgets_of(read_columns(path, [column])[column])
    if path.stat().st_size == 0:
        raise DataError(f"Expected at least one person in {path}, found none.")
    try:
        if path.suffix.lower() == ".npy":
            loaded = np.load(path, allow_pickle=False)
        else:
            loaded = np.array(path.read_text().split(), dtype=np.float64)
    except (OSError, ValueError) as error:
        raise DataError(f"Expected one number per person in {path}.") from error
    if loaded.ndim != 1 or loaded.size == 0 or loaded.dtype.kind not in "fiu":
        raise DataError(f"Expected one number per person in {path}.")
    budgets: Floats = loaded.astype(np.float64)
    return budgets
