"""Numbers that people answered, in a column where a cell may be empty.

What is wrong in a column is named by its rows, as they are counted in the file, and by the
entry of the first one.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shuffledp.datasets.column_values import (
    are_numbers,
    budgets_of,
    numbers_of,
    wanted_number,
)
from shuffledp.datasets.missing import rows_phrase
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.population import MAX_BUDGET
from shuffledp.types import Floats


def answer_numbers(
    column: pl.Series, low: float, high: float, *, first_row: int
) -> Floats:
    """Returns numbers, NaN where a cell is empty, shape (n,).

    Args:
        column: Cleaned cells, with nulls where there is no number.
        low: Smallest possible number.
        high: Largest possible number.
        first_row: The number of the first row, for errors.

    Raises:
        DataError: If a cell is no number.
        InvalidInputError: If a number is out of range.
    """
    is_answered = column.is_not_null().to_numpy()
    numbers = written_numbers(column, first_row=first_row)
    outside = is_answered & ~((numbers >= low) & (numbers <= high))
    if outside.any():
        raise InvalidInputError(
            f"Expected numbers from {low:g} to {high:g} in column {column.name!r}, got "
            f"{entries_phrase(column, outside, first_row)}: widen the range of the "
            "question, or limit the numbers to it."
        )
    return numbers


def written_numbers(column: pl.Series, *, first_row: int) -> Floats:
    """Returns finite numbers, NaN where a cell is empty, shape (n,).

    Args:
        column: Cleaned cells, with nulls where there is no number.
        first_row: The number of the first row, for errors.

    Raises:
        DataError: If a cell is no number.
    """
    is_answered = column.is_not_null().to_numpy()
    _check_readable(column, is_answered, first_row)
    numbers = np.full(column.len(), np.nan)
    # A column that is empty throughout has no type that could be read.
    if is_answered.any():
        numbers[is_answered] = numbers_of(column.drop_nulls())
    return numbers


def answer_targets(
    column: pl.Series, people: NDArray[np.bool_], *, first_row: int
) -> Floats:
    """Returns the central targets of people, shape (k,).

    Args:
        column: Cleaned, with a row for each person of the table.
        people: Which rows are of those who take part, k of them, all with a target, shape
            (n,).
        first_row: The number of the first row, for errors.

    Raises:
        DataError: If a target is no number.
        InvalidInputError: If a target is not above 0, or above the largest budget.
    """
    _check_readable(column, people, first_row)
    targets = budgets_of(column.filter(pl.Series(people)))
    wrong = people.copy()
    wrong[people] = ~((targets > 0.0) & (targets <= MAX_BUDGET))
    if wrong.any():
        raise InvalidInputError(
            f"Expected targets above 0, up to {MAX_BUDGET:g}, in column "
            f"{column.name!r}, got {entries_phrase(column, wrong, first_row)}."
        )
    return targets


def _check_readable(
    column: pl.Series, people: NDArray[np.bool_], first_row: int
) -> None:
    wrong = people & ~are_numbers(column)
    if wrong.any():
        expectation = wanted_number("a finite number", column)
        raise DataError(
            f"Expected {expectation} in column {column.name!r}, got "
            f"{entries_phrase(column, wrong, first_row)}."
        )


def entries_phrase(column: pl.Series, wrong: NDArray[np.bool_], first_row: int) -> str:
    """Returns the first wrong entry, and the rows of all, as a phrase.

    >>> entries_phrase(pl.Series(["7", "x"]), np.array([False, True]), first_row=2)
    "'x' in row 3 (the header is row 1)"

    Args:
        column: That they are in.
        wrong: Which entries are, at least one, shape (n,).
        first_row: The number of the first row.
    """
    rows, count = rows_phrase(wrong, first_row), int(wrong.sum())
    entry = f"{column[int(np.argmax(wrong))]!r:.60}"
    return f"{entry} in {rows}" if count == 1 else f"{entry} and others in {rows}"
