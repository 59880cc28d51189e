"""Who has a value, and which values there are: asked of the engine, before any work."""

from collections.abc import Collection, Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from shuffledp.datasets.exclusion_notes import exclusion_sentence
from shuffledp.datasets.missing import WRITTEN, column_names, trimming_sentence
from shuffledp.datasets.table import categories_of
from shuffledp.datasets.table_kinds import MAX_TABLE_CATEGORIES
from shuffledp.errors import DataError, MissingValueError
from shuffledp.scale.failures import in_our_words
from shuffledp.scale.frames import plain, type_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# White space in any script, as Python and polars know it.
_MARGINS = r"(?U)^\s+|\s+$"


def missing(frame: "DataFrame", column: str, known: Collection[str] = ()) -> "Column":
    """Returns whether somebody has no value: as `datasets.missing` says for tables.

    Args:
        frame: A row per person.
        column: Its name.
        known: Texts that are values, such as a category that is called "NA".

    Raises:
        InvalidInputError: If there is no such column.
    """
    values = plain(frame, column, what="values")
    from pyspark.sql import functions
    from pyspark.sql.types import DoubleType, FloatType, StringType

    kind = type_of(frame, column, what="values")
    if isinstance(kind, FloatType | DoubleType):
        return values.isNull() | functions.isnan(values)
    if not isinstance(kind, StringType):
        return values.isNull()
    text = _trimmed(values)
    nothing = functions.lower(text).isin(WRITTEN) & ~text.isin(list(known))
    return values.isNull() | nothing


def refuse_missing(
    frame: "DataFrame", column: str, known: Collection[str] = ()
) -> None:
    """Counts who has no value, on the engine.

    Raises:
        InvalidInputError: If there is no such column.
        MissingValueError: If anybody has none.
    """
    complete(frame, {column: known}, drop=False)


def complete(
    frame: "DataFrame", columns: Mapping[str, Collection[str]], *, drop: bool
) -> tuple["DataFrame", tuple[str, ...]]:
    """Returns those who have a value in every column, and what a reader should know.

    Args:
        frame: A row per person.
        columns: Their names, and of each the texts that are values, such as "NA".
        drop: Whether others are left out, instead of refused.

    Raises:
        InvalidInputError: If there is no such column.
        MissingValueError: If anybody lacks a value, and is not left out.
        DataError: If everybody does.
    """
    from pyspark.sql import functions

    holes = {name: missing(frame, name, known) for name, known in columns.items()}
    someone = reduce(or_, holes.values())
    trimmed = [
        (_is_trimmed(frame, name) & ~hole) if _holds_texts(frame, name) else _never()
        for name, hole in holes.items()
    ]
    asked = [someone, *holes.values(), *trimmed]
    sums = [functions.sum(each.cast("long")) for each in asked]
    with in_our_words():
        row = frame.agg(functions.count(functions.lit(1)), *sums).head()
    total, lacking, *rest = (number or 0 for number in row or (0, 0))
    if not total:
        raise DataError("Expected at least one person, found none.")
    empty = [name for name, count in zip(holes, rest, strict=False) if count]
    notes = trimming_sentence(sum(rest[len(holes) :]))
    if not lacking:
        return frame, notes
    if not drop:
        raise MissingValueError(
            f"Expected a value in every row of {column_names(empty)}, found none in "
            f"{lacking:,} of {total:,} rows."
        )
    if lacking == total:
        raise DataError("Expected somebody with a value in every column.")
    return frame.where(~someone), notes + exclusion_sentence(lacking, total, empty)


def texts_of(frame: "DataFrame", column: str) -> tuple[str, ...]:
    """Returns the different values of a column, sorted, as names of categories.

    Raises:
        InvalidInputError: If there is no such column.
        DataError: If they are too many or too few for categories.
    """
    values = plain(frame, column, what="values")
    import polars as pl

    if _holds_texts(frame, column):
        values = _trimmed(values)
    named = frame.where(~missing(frame, column)).select(values.alias("value"))
    with in_our_words():
        found = named.distinct().limit(MAX_TABLE_CATEGORIES + 1).toArrow()
    series = pl.from_arrow(found.column("value"))
    assert isinstance(series, pl.Series)
    return categories_of(series.alias(column), None)[1]


def _trimmed(values: "Column") -> "Column":
    from pyspark.sql import functions

    return functions.regexp_replace(values, _MARGINS, "")


def _holds_texts(frame: "DataFrame", column: str) -> bool:
    from pyspark.sql.types import StringType

    return isinstance(type_of(frame, column, what="values"), StringType)


def _is_trimmed(frame: "DataFrame", column: str) -> "Column":
    values = plain(frame, column, what="values")
    return _trimmed(values) != values


def _never() -> "Column":
    from pyspark.sql import functions

    return functions.lit(False)
