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

# Rows of a batch: few large arrays are faster than many small ones.
_ROWS = 1 << 18


def type_of(frame: "DataFrame", column: str, *, contents: str) -> "DataType":
    """Returns the type of a column.

    Args:
        frame: A data frame of Spark or Spark Connect.
        column: The name of the column.
        contents: The contents of the column, as text for the error message.

    Raises:
        InvalidInputError: If there is no such column, or more than one.
        MissingExtraError: If a package is missing.
    """
    for module in ("pyspark", "pyarrow"):
        require(
            module,
            extra="spark",
            what="A data frame of Spark",
            distribution="shuffledp-services",
        )
    # A frame may have several columns of one name.
    types = [field.dataType for field in frame.schema.fields if field.name == column]
    if len(types) != 1:
        names = ", ".join(frame.columns)
        raise InvalidInputError(
            f"Expected one column {column!r} with {contents}, got columns {names}."
        )
    return types[0]


def plain(frame: "DataFrame", column: str, *, contents: str) -> "Column":
    """Returns a column as executors read it: decimals as floats, other types unchanged.

    Args:
        frame: A data frame of Spark or Spark Connect.
        column: The name of the column.
        contents: The contents of the column, as text for the error message.

    Raises:
        InvalidInputError: If there is no such column, or more than one.
    """
    kind = type_of(frame, column, contents=contents)
    from pyspark.sql import functions
    from pyspark.sql.types import DecimalType, NullType

    # Backticks, because a dot in a bare name would mean a field of a struct.
    selected = functions.col(f"`{column.replace('`', '``')}`")
    # Single precision is not widened: `level_array` reads such a number as a decimal.
    if isinstance(kind, DecimalType | NullType):
        return selected.cast("double")
    return selected


def series(batch: "pa.RecordBatch", column: str, name: str) -> "pl.Series":
    """Returns a column as a polars series under the name that errors mention."""
    import polars as pl

    values = pl.from_arrow(batch.column(column))
    assert isinstance(values, pl.Series)
    return values.alias(name)


def pieces(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """Yields the same rows in larger batches, and no batch without rows."""
    pending: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            pending.append(batch)
            rows += batch.num_rows
        if rows >= _ROWS:
            yield _joined(pending)
            pending, rows = [], 0
    if pending:
        yield _joined(pending)


def numbers(batch: "pa.RecordBatch", column: str) -> NDArray[Any]:
    """Returns a column of numbers, shape (n,), or of lists of one length, shape (n, s).

    Raises:
        MissingValueError: If a number is missing.
        InvalidInputError: If the lengths of lists differ.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    array = batch.column(column)
    if array.null_count:
        raise MissingValueError(f"Expected a value in every row of column {column!r}.")
    if not pa.types.is_list(array.type):
        column_values: NDArray[Any] = array.to_numpy(zero_copy_only=False)
        return column_values
    lengths = np.unique(pc.list_value_length(array).to_numpy(zero_copy_only=False))
    entries = pc.list_flatten(array)
    if lengths.size != 1 or entries.null_count:
        raise InvalidInputError(
            f"Expected lists of one length in column {column!r}, and nothing missing."
        )
    table: NDArray[Any] = entries.to_numpy(zero_copy_only=False)
    return table.reshape(len(array), -1)


def answers(batch: "pa.RecordBatch", column: str) -> NDArray[Any]:
    """Returns a column of answers to a question, shape (n,) or (n, s), NaN for null.

    Raises:
        MissingValueError: If a list is missing.
        InvalidInputError: If entries are no numbers, or the lengths of lists differ.
    """
    import pyarrow as pa

    array = batch.column(column)
    if pa.types.is_floating(array.type):
        # Null is no answer; questions refuse it where they need one.
        column_values: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    else:
        column_values = numbers(batch, column)
    if column_values.dtype.kind not in "iuf":
        raise InvalidInputError(
            "Expected answers as positions of options or categories, and as numbers."
        )
    return column_values


def _joined(batches: list["pa.RecordBatch"]) -> "pa.RecordBatch":
    import pyarrow as pa

    table = pa.Table.from_batches(batches).combine_chunks()
    # Combined chunks give a single batch.
    (batch,) = table.to_batches()
    return batch
