"""Answers in a column as positions in a list of very many categories."""

import numpy as np
import polars as pl

from shuffledp.datasets.answer_numbers import entries_phrase, written_numbers
from shuffledp.errors import InvalidInputError
from shuffledp.types import Ints


def answer_categories(
    column: pl.Series, num_categories: int, *, first_row: int
) -> Ints:
    """Returns positions, -1 where a cell is empty, shape (n,).

    >>> answer_categories(pl.Series(["7", None]), 100, first_row=2).tolist()
    [7, -1]

    Args:
        column: Cleaned cells: whole numbers from 0, with nulls for no answer.
        num_categories: Of the list.
        first_row: The number of the first row, for errors.

    Raises:
        DataError: If a cell is no number.
        InvalidInputError: If a number is no position of the list.
    """
    numbers = written_numbers(column, first_row=first_row)
    is_answered = ~np.isnan(numbers)
    positions = np.where(is_answered, numbers, -1.0)
    is_inside = (positions >= 0.0) & (positions < num_categories)
    outside = is_answered & ~(is_inside & (positions % 1.0 == 0.0))
    if outside.any():
        raise InvalidInputError(
            "Expected positions of categories, whole numbers from 0 to "
            f"{num_categories - 1}, in column {column.name!r}, got "
            f"{entries_phrase(column, outside, first_row)}: the first of the list is 0, "
            "and an empty cell is no answer."
        )
    return positions.astype(np.int64)
