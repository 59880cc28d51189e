"""Missing values and distinct values of a column, computed by the engine."""

from collections.abc import Collection, Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from shuffledp.datasets.column_values import categories_of
from shuffledp.datasets.exclusion_notes import exclusion_sentence
from shuffledp.datasets.missing import WRITTEN, column_names, trimming_sentence
from shuffledp.datasets.table_kinds import MAX_TABLE_CATEGORIES
from shuffledp.errors import DataError, MissingValueError
from shuffledp_services.spark.failures import translated_errors
from shuffledp_services.spark.frame_columns import plain, type_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# (?U) matches white space of any script, as Python and polars do.
_MARGINS = r"(?U)^\s+|\s+$"


def missing(frame: "DataFrame", column: str, known: Collection[str] = ()) -> "Column":
    """Returns a column that is true where a value is missing.

    Args:
        frame: A row per user.
        column: The name of the column.
        known: Texts that are values, such as a category that is called "NA".

    Raises:
        InvalidInputError: If there is no such column.
    """
    values = plain(frame, column, contents="values")
    from pyspark.sql import functions
    from pyspark.sql.types import DoubleType, FloatType, StringType

    kind = type_of(frame, column, contents="values")
    # The same rules as `datasets.missing` for tables.
    if isinstance(kind, FloatType | DoubleType):
        return values.isNull() | functions.isnan(values)
    if not isinstance(kind, StringType):
        return values.isNull()
    text = _trimmed(values)
    written = functions.lower(text).isin(WRITTEN) & ~text.isin(list(known))
    return values.isNull() | written


def refuse_missing(
    frame: "DataFrame", column: str, known: Collection[str] = ()
) -> None:
    """Raises unless every user has a value in a column.

    Raises:
        InvalidInputError: If there is no such column.
        MissingValueError: If a value is missing.
    """
    complete(frame, {column: known}, drop=False)


def complete(
    frame: "DataFrame", columns: Mapping[str, Collection[str]], *, drop: bool
) -> tuple["DataFrame", tuple[str, ...]]:
    """Returns the users with a value in every column, and notes for the reader.

    Args:
        frame: A row per user.
        columns: For each column, the texts that are values, such as "NA".
        drop: Whether to leave out users who lack a value, instead of raising.

    Raises:
        InvalidInputError: If there is no such column.
        MissingValueError: If a user lacks a value, and `drop` is false.
        DataError: If the frame is empty, or every user lacks a value.
    """
    from pyspark.sql import functions

    missing_columns = {
        name: missing(frame, name, known) for name, known in columns.items()
    }
    any_missing = reduce(or_, missing_columns.values())
    trimmed = [
        (_is_trimmed(frame, name) & ~absent) if _holds_texts(frame, name) else _never()
        for name, absent in missing_columns.items()
    ]
    # One pass over the frame: the engine computes all sums together.
    flags = [any_missing, *missing_columns.values(), *trimmed]
    sums = [functions.sum(flag.cast("long")) for flag in flags]
    with translated_errors():
        row = frame.agg(functions.count(functions.lit(1)), *sums).head()
    # Sums over no rows are null.
    total, lacking, *column_counts = (number or 0 for number in row or (0, 0))
    if not total:
        raise DataError("Expected at least one person, found none.")
    # Not strict: the counts of trimmed texts follow those of missing values.
    pairs = zip(missing_columns, column_counts, strict=False)
    empty = [name for name, count in pairs if count]
    notes = trimming_sentence(sum(column_counts[len(missing_columns) :]))
    if not lacking:
        return frame, notes
    if not drop:
        raise MissingValueError(
            f"Expected a value in every row of {column_names(empty)}, found none in "
            f"{lacking:,} of {total:,} rows."
        )
    if lacking == total:
        raise DataError("Expected a person with a value in every column.")
    return frame.where(~any_missing), notes + exclusion_sentence(lacking, total, empty)


def texts_of(frame: "DataFrame", column: str) -> tuple[str, ...]:
    """Returns the distinct values of a column, sorted, as names of categories.

    Raises:
        InvalidInputError: If there is no such column.
        DataError: If the values are too many or too few for categories.
    """
    values = plain(frame, column, contents="values")
    import polars as pl

    if _holds_texts(frame, column):
        values = _trimmed(values)
    named = frame.where(~missing(frame, column)).select(values.alias("value"))
    with translated_errors():
        # Stops at the first value too many: `categories_of` refuses it.
        distinct = named.distinct().limit(MAX_TABLE_CATEGORIES + 1).toArrow()
    series = pl.from_arrow(distinct.column("value"))
    assert isinstance(series, pl.Series)
    return categories_of(series.alias(column), None)[1]


def _trimmed(values: "Column") -> "Column":
    from pyspark.sql import functions

    return functions.regexp_replace(values, _MARGINS, "")


def _holds_texts(frame: "DataFrame", column: str) -> bool:
    from pyspark.sql.types import StringType

    return isinstance(type_of(frame, column, contents="values"), StringType)


def _is_trimmed(frame: "DataFrame", column: str) -> "Column":
    values = plain(frame, column, contents="values")
    return _trimmed(values) != values


def _never() -> "Column":
    from pyspark.sql import functions

    return functions.lit(False)
