"""Conversion of data frames - Polars, pandas, Arrow, DuckDB, ... - to columns of Polars.

Narwhals, which needs none of these libraries, recognizes a frame and extracts its columns.
Only requested columns are copied.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl

from shuffledp.datasets.table_files import Rows, find_column, read_rows
from shuffledp.errors import DataError, InvalidInputError

_NAME = "the data frame"


@dataclass(frozen=True, eq=False)
class Frame:
    """A data frame of any library, one row per person.

    Attributes:
        native: The frame of its own library.
    """

    native: Any

    def __post_init__(self) -> None:
        try:
            table = nw.from_native(self.native)
        except TypeError:
            raise InvalidInputError(
                "Expected a data frame - Polars, pandas, Arrow, DuckDB, ... - or the path "
                f"of a table, got {type(self.native).__name__}."
            ) from None
        except nw.exceptions.DuplicateError:
            raise DataError(
                f"Expected a name of its own for every column of {_NAME}, found one twice."
            ) from None
        if table.implementation.is_spark_like():
            raise InvalidInputError(
                "Expected a data frame of this process, got one of Spark: "
                "shuffledp_services.spark.rehearse divides its people."
            )

    def __str__(self) -> str:
        """Returns the name of the frame in errors."""
        return _NAME

    @property
    def name(self) -> str:
        """The name of the frame in results."""
        return "data frame"


# Tables of people: files, or frames.
Source: TypeAlias = Path | Frame


def rows_of(source: Source, columns: list[str]) -> Rows:
    """Returns some columns of a file or of a data frame.

    Raises:
        DataError: If a column is missing, or there are no rows; of a file, see
            `read_rows`; of a frame, if a column holds values of several kinds.
    """
    if isinstance(source, Path):
        return read_rows(source, columns)
    table = nw.from_native(source.native)
    # Pandas has columns whose names are no texts: none of them is asked for.
    names = [
        name if isinstance(name, str) else f"{name!r} (no text)"
        for name in table.collect_schema().names()
    ]
    wanted_columns = list(dict.fromkeys(columns))
    for name in wanted_columns:
        find_column(name, names, _NAME, from_line=False)
    selected = table.select(wanted_columns)
    # Lazy frames are computed once.
    collected = (
        selected.collect("polars") if isinstance(selected, nw.LazyFrame) else selected
    )
    if len(collected) == 0:
        raise DataError(f"Expected at least one person in {_NAME}, found none.")
    # Rows of frames are numbered from 0, as in pandas and Polars.
    frame = pl.DataFrame([_polars_column(collected[name]) for name in wanted_columns])
    return Rows(frame, _NAME, first=0, is_written=False)


def _polars_column(column: "nw.Series[Any]") -> pl.Series:
    if column.implementation.is_pandas_like():
        return _of_pandas(column)
    return column.to_polars()


def _of_pandas(column: "nw.Series[Any]") -> pl.Series:
    """Converts a column of pandas without pyarrow, which pandas itself would need.

    Raises:
        DataError: If it holds values of several kinds.
    """
    holes = column.is_null().to_numpy()
    if column.dtype.is_numeric():
        if column.dtype.is_integer() and holes.any():
            return _whole_numbers(column.name, column.fill_null(0).to_numpy(), holes)
        numbers = np.asarray(column.to_numpy())
        # With a missing value, pandas turns whole numbers into floats: 1 is 1.0.
        if holes.any() and _all_whole(numbers[~holes]):
            return _whole_numbers(column.name, np.where(holes, 0.0, numbers), holes)
        return pl.Series(column.name, numbers)
    values = zip(column.to_list(), holes, strict=True)
    try:
        texts = pl.Series(
            column.name, [None if hole else value for value, hole in values]
        )
        # Ordered categories of texts keep their order.
        if isinstance(column.dtype, nw.Enum) and texts.dtype == pl.String:
            return texts.cast(pl.Enum(column.dtype.categories))
        return texts
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise DataError(
            f"Expected values of one kind in column {column.name!r}, such as texts only."
        ) from error


def _all_whole(numbers: Any) -> bool:
    # Above 2^53, double precision may have rounded the number.
    exact = np.abs(numbers) <= 2.0**53
    return bool(np.all(exact) and np.all(np.mod(numbers, 1.0) == 0.0))


def _whole_numbers(name: str, numbers: Any, holes: Any) -> pl.Series:
    whole_series = pl.Series(name, numbers.astype(np.int64))
    return (
        pl.select(pl.when(~pl.Series(holes)).then(whole_series)).to_series().alias(name)
    )
