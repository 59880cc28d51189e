"""Columns of people's values and levels from CSV and Parquet files."""

from pathlib import Path

import numpy as np
import polars as pl

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.types import Floats, Ints


def read_columns(path: Path, columns: list[str]) -> pl.DataFrame:
    """Reads some columns of a CSV (.csv, .tsv, .txt) or Parquet file.

    Raises:
        DataError: If the file is missing, empty, unreadable, or lacks a column.
    """
    if not path.is_file():
        raise DataError(f"Expected a file at {path}, found none.")
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            lazy = pl.scan_parquet(path)
        else:
            separator = "\t" if path.suffix.lower() == ".tsv" else ","
            lazy = pl.scan_csv(path, separator=separator, infer_schema_length=None)
        present = lazy.collect_schema().names()
        missing = [column for column in columns if column not in present]
        if missing:
            raise DataError(
                f"Expected column {missing[0]!r} in {path}; it has "
                f"{', '.join(map(repr, present[:20]))}."
            )
        frame = lazy.select(list(dict.fromkeys(columns))).collect()
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
    if isinstance(categories, int):
        refusal = InvalidInputError(
            f"Expected whole numbers from 0 to {categories - 1} in column "
            f"{column.name!r}; name the categories if they are something else."
        )
        if not column.dtype.is_integer():
            raise refusal
        values = column.to_numpy()
        if values.min() < 0 or values.max() >= categories:
            raise refusal
        return values, tuple(str(number) for number in range(categories))
    text = column.cast(pl.String)
    if categories is None:
        categories = tuple(text.unique().sort().to_list())
        if len(categories) < 2:
            raise DataError(
                f"Expected at least 2 different values in column {column.name!r}; name "
                "the categories if some do not occur."
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
