"""Columns of a data frame, checked before any work begins."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError, MissingValueError
from shuffledp.extras import require

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

# Rows that are worked on together: few large arrays are faster than many small ones.
_ROWS = 1 << 18


def type_of(frame: "DataFrame", column: str, *, what: str) -> "DataType":
    """Returns the type of a column.

    Args:
        frame: Of Spark, or of what speaks Spark Connect.
        column: Its name.
        what: What it holds, in words.

    Raises:
        InvalidInputError: If there is no such column, or more than one.
        MissingExtraError: If a package is missing.
    """
    for module in ("pyspark", "pyarrow"):
        require(module, extra="spark", what="A data frame of Spark")
    found = [field.dataType for field in frame.schema.fields if field.name == column]
    if len(found) != 1:
        names = ", ".join(frame.columns)
        raise InvalidInputError(
            f"Expected one column {column!r} with {what}, got columns {names}."
        )
    return found[0]


def plain(frame: "DataFrame", column: str, *, what: str) -> "Column":
    """Returns a column as executors read it: decimals as floats, all else as it is.

    Single precision stays what it is: such a number stands for a decimal (`level_array`).

    Args:
        frame: Of Spark, or of what speaks Spark Connect.
        column: Its name.
        what: What it holds, in words.

    Raises:
        InvalidInputError: If there is no such column, or more than one.
    """
    kind = type_of(frame, column, what=what)
    from pyspark.sql import functions
    from pyspark.sql.types import DecimalType, NullType

    # A dot in a name would be a member of a column.
    found = functions.col(f"`{column.replace('`', '``')}`")
    return found.cast("double") if isinstance(kind, DecimalType | NullType) else found


def series(batch: "pa.RecordBatch", column: str, name: str) -> "pl.Series":
    """Returns a column as those of tables are, under the name that errors call it."""
    import polars as pl

    found = pl.from_arrow(batch.column(column))
    assert isinstance(found, pl.Series)
    return found.alias(name)


def pieces(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """Gives the same rows in larger batches, and none for none."""
    kept: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            kept.append(batch)
            rows += batch.num_rows
        if rows >= _ROWS:
            yield _joined(kept)
            kept, rows = [], 0
    if kept:
        yield _joined(kept)


def numbers(batch: "pa.RecordBatch", column: str) -> NDArray[Any]:
    """Returns a column of numbers, shape (n,), or of lists of equally many, shape (n, s).

    Raises:
        MissingValueError: If one is missing.
        InvalidInputError: If lists are of several lengths.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    array = batch.column(column)
    if array.null_count:
        raise MissingValueError(f"Expected a value in every row of column {column!r}.")
    if not pa.types.is_list(array.type):
        found: NDArray[Any] = array.to_numpy(zero_copy_only=False)
        return found
    lengths = np.unique(pc.list_value_length(array).to_numpy(zero_copy_only=False))
    entries = pc.list_flatten(array)
    if lengths.size != 1 or entries.null_count:
        raise InvalidInputError(
            f"Expected lists of one length in column {column!r}, and nothing missing."
        )
    table: NDArray[Any] = entries.to_numpy(zero_copy_only=False)
    return table.reshape(len(array), -1)


def _joined(batches: list["pa.RecordBatch"]) -> "pa.RecordBatch":
    import pyarrow as pa

    table = pa.Table.from_batches(batches).combine_chunks()
    (batch,) = table.to_batches()
    return batch
