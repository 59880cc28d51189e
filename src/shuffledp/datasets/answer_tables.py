"""Answers to several questions, from a table with a row for each person."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from shuffledp.datasets.answer_numbers import answer_numbers, answer_targets
from shuffledp.datasets.answer_positions import check_no_separator, option_positions
from shuffledp.datasets.frames import Source, rows_of
from shuffledp.datasets.missing import cleaned_rows, refuse_missing
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.types import Floats, Ints


def read_answers(
    source: Source,
    columns: Sequence[str],
    questions: Sequence[tuple[tuple[str, ...], int]],
    *,
    level: str,
    numbers: Mapping[str, tuple[float, float]] | None = None,
    skippable: Collection[str] = (),
) -> tuple[Ints | Floats, Floats]:
    """Returns the positions of people's answers, and their levels.

    Args:
        source: A data frame, or a file. An empty cell is no answer; several answers of a
            cell are divided by semicolons.
        columns: One for each question.
        questions: The options of each, and how many a person may pick.
        level: The column of levels.
        numbers: Columns of numbers, each with the smallest and the largest one.
        skippable: Those of them in which a cell may be empty.

    Returns:
        Positions of options, counted over all questions, ascending in rows that are filled
        up with the number of options, and then the numbers, NaN for none, shape (n,
        answers); and levels, shape (n,).

    Raises:
        DataError: If the table is missing, empty, unreadable, or lacks a column.
        MissingValueError: If a person has no level, or no number where they need one.
        InvalidInputError: If a cell is none of a question's options, or holds too many, or
            a number is out of range.
    """
    if len(columns) != len(questions):
        raise InvalidInputError(
            f"Expected a column for each of {len(questions)} questions, got "
            f"{len(columns)}."
        )
    ends = numbers or {}
    if len({*columns, *ends, level}) <= len(columns) + len(ends):
        raise DataError("Expected different columns for questions and levels.")
    for options, most in questions:
        check_no_separator(options, most)
    known_options = {option for options, _ in questions for option in options}
    rows = cleaned_rows(rows_of(source, [*columns, *ends, level]), known_options)
    # Estimates of other numbers take for granted that all people state one.
    needed_columns = [level, *(name for name in ends if name not in skippable)]
    refuse_missing([rows.frame[name] for name in needed_columns], rows)
    everybody = np.ones(rows.frame.height, dtype=np.bool_)
    levels = answer_targets(rows.frame[level], everybody, first_row=rows.first)
    total = sum(len(options) for options, _ in questions)
    parts, first = [], 0
    for column, (options, most) in zip(columns, questions, strict=True):
        positions = option_positions(
            rows.frame[column], options, most=most, first_row=rows.first
        )
        parts.append(np.where(positions >= 0, first + positions, total))
        first += len(options)
    empty = np.empty((levels.size, 0), dtype=np.int64)
    answers = np.sort(np.concatenate([empty, *parts], axis=1), axis=1)
    if not ends:
        return answers, levels
    in_range = [
        answer_numbers(rows.frame[name], low, high, first_row=rows.first)
        for name, (low, high) in ends.items()
    ]
    return np.column_stack([answers, *in_range]), levels
