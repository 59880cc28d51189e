"""Answers to several questions, from a table with a row for each person."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from shuffledp.datasets.frames import Source, rows_of
from shuffledp.datasets.missing import cleaned_rows, refuse_missing
from shuffledp.datasets.table import budgets_of
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.types import Floats, Ints

# Between the answers of a cell, where a question takes several.
_BETWEEN = ";"


def read_answers(
    source: Source,
    columns: Sequence[str],
    questions: Sequence[tuple[tuple[str, ...], int]],
    *,
    level: str,
) -> tuple[Ints, Floats]:
    """Returns the positions of people's answers, and their levels.

    Args:
        source: A data frame, or a file. An empty cell is no answer; several answers of a
            cell are divided by semicolons.
        columns: One for each question.
        questions: The options of each, and how many a person may pick.
        level: The column of levels.

    Returns:
        Positions of options, counted over all questions, ascending in rows that are filled
        up with the number of options, shape (n, answers); and levels, shape (n,).

    Raises:
        DataError: If the table is missing, empty, unreadable, or lacks a column.
        MissingValueError: If a person has no level.
        InvalidInputError: If a cell is none of a question's options, or holds too many.
    """
    if len(columns) != len(questions):
        raise InvalidInputError(
            f"Expected a column for each of {len(questions)} questions, got "
            f"{len(columns)}."
        )
    if len({*columns, level}) <= len(columns):
        raise DataError("Expected different columns for questions and levels.")
    for options, most in questions:
        divided = [option for option in options if _BETWEEN in option]
        if most > 1 and divided:
            raise InvalidInputError(
                f"Expected options without {_BETWEEN!r} where several may be picked, got "
                f"{divided[0]!r:.60}: in a table it divides answers."
            )
    known = {option for options, _ in questions for option in options}
    rows = cleaned_rows(rows_of(source, [*columns, level]), known)
    refuse_missing([rows.frame[level]], rows)
    levels = budgets_of(rows.frame[level])
    total = sum(len(options) for options, _ in questions)
    parts, first = [], 0
    for column, (options, most) in zip(columns, questions, strict=True):
        parts.append(_positions(rows.frame[column], options, most, first, total))
        first += len(options)
    answers = np.sort(np.concatenate(parts, axis=1), axis=1)
    return answers, levels


def _positions(
    column: pl.Series, options: tuple[str, ...], most: int, first: int, total: int
) -> Ints:
    """Returns positions from `first` on, and `total` for none, shape (n, most)."""
    cells = pl.DataFrame({"text": column.cast(pl.String)}).with_row_index("person")
    if most > 1:
        cells = cells.with_columns(pl.col("text").str.split(_BETWEEN)).explode("text")
    picked = cells.with_columns(pl.col("text").str.strip_chars()).drop_nulls("text")
    picked = picked.filter(pl.col("text") != "").unique(maintain_order=True)
    names = pl.Series(options, dtype=pl.String).str.strip_chars()
    codes = picked["text"].replace_strict(
        names, np.arange(len(options)), default=None, return_dtype=pl.Int64
    )
    if codes.null_count():
        unknown = picked.filter(codes.is_null())["text"][0]
        raise InvalidInputError(
            f"Expected one of the {len(options)} answers in column {column.name!r}, got "
            f"{unknown!r:.60}."
        )
    people = picked["person"].to_numpy()
    column_of = (
        picked.select(pl.int_range(pl.len()).over("person")).to_series().to_numpy()
    )
    if column_of.size and column_of.max() >= most:
        raise InvalidInputError(
            f"Expected at most {most} answers of a person in column {column.name!r}, got "
            f"{column_of.max() + 1}."
        )
    positions = np.full((column.len(), most), total, dtype=np.int64)
    positions[people, column_of] = first + codes.to_numpy()
    return positions
