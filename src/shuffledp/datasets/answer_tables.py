"""Answers to several questions, from a table with a row for each person."""

from collections.abc import Sequence

import numpy as np

from shuffledp.datasets.answer_positions import check_divided, option_positions
from shuffledp.datasets.frames import Source, rows_of
from shuffledp.datasets.missing import cleaned_rows, refuse_missing
from shuffledp.datasets.table import budgets_of
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.types import Floats, Ints


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
        check_divided(options, most)
    known = {option for options, _ in questions for option in options}
    rows = cleaned_rows(rows_of(source, [*columns, level]), known)
    refuse_missing([rows.frame[level]], rows)
    levels = budgets_of(rows.frame[level])
    total = sum(len(options) for options, _ in questions)
    parts, first = [], 0
    for column, (options, most) in zip(columns, questions, strict=True):
        positions = option_positions(
            rows.frame[column], options, most=most, first_row=rows.first
        )
        parts.append(np.where(positions < len(options), first + positions, total))
        first += len(options)
    answers = np.sort(np.concatenate(parts, axis=1), axis=1)
    return answers, levels
