"""Numbers and targets of people: what is wrong is named by its rows and its entry."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from shuffledp.datasets.answer_categories import answer_categories
from shuffledp.datasets.answer_numbers import answer_numbers, answer_targets
from shuffledp.datasets.answer_positions import option_positions
from shuffledp.errors import DataError, InvalidInputError


def test_empty_cells_are_nan_and_others_numbers() -> None:
    texts = answer_numbers(pl.Series("a", ["1.5", None, "2"]), 0, 2, first_row=2)
    truths = answer_numbers(pl.Series("a", ["true", None, "False"]), 0, 1, first_row=2)
    none = answer_numbers(
        pl.Series("a", [None, None], dtype=pl.Float64), 0, 1, first_row=0
    )

    assert np.array_equal(texts, [1.5, np.nan, 2.0], equal_nan=True)
    assert np.array_equal(truths, [1.0, np.nan, 0.0], equal_nan=True)
    assert np.isnan(none).all()


@pytest.mark.parametrize(
    ("cells", "first_row", "error", "why"),
    [
        (["1", None, "soon"], 2, DataError, "'soon' in row 4 (the header is row 1)"),
        (
            ["x", None, "1", "y"],
            2,
            DataError,
            "'x' and others in rows 2 and 5 (the header is row 1)",
        ),
        ([1.0, None, float("inf")], 0, DataError, "inf in row 2 (the first is row 0)"),
        (["1,5", None, "2,5"], 2, DataError, "decimal comma, in column 'a', got '1,5'"),
        ([[1.0], None], 0, DataError, "in row 0"),
        (
            ["7", "1", None, "8"],
            2,
            InvalidInputError,
            "from 0 to 5 in column 'a', got '7' and others in rows 2 and 5",
        ),
        (
            [9.0] * 12,
            0,
            InvalidInputError,
            "9.0 and others in 12 rows, the first of which are 0, 1, 2, 3 and 4",
        ),
    ],
)
def test_wrong_numbers_are_named_with_their_rows(
    cells: list[Any], first_row: int, error: type[Exception], why: str
) -> None:
    with pytest.raises(error) as refused:
        answer_numbers(pl.Series("a", cells), 0.0, 5.0, first_row=first_row)

    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("cells", "error", "why"),
    [
        ([1.0, 0.0, 2.0], InvalidInputError, "got 0.0 in row 3"),
        (["1", "-1", "0"], InvalidInputError, "got '-1' and others in rows 3 and 4"),
        ([1.0, 701.0, 2.0], InvalidInputError, "got 701.0 in row 3"),
        (["1", "much", "2"], DataError, "got 'much' in row 3"),
    ],
)
def test_wrong_targets_are_named_with_their_rows(
    cells: list[Any], error: type[Exception], why: str
) -> None:
    everybody = np.ones(3, dtype=np.bool_)

    with pytest.raises(error) as refused:
        answer_targets(pl.Series("t", cells), everybody, first_row=2)

    assert why in str(refused.value)
    # No one is asked about the target of a person who does not take part.
    first = np.array([True, False, False])
    targets = answer_targets(pl.Series("t", cells), first, first_row=2)
    assert targets.tolist() == [1.0]


def test_all_rows_of_unknown_options_are_named() -> None:
    column = pl.Series("way", ["bus", "tram", None, "ship", "tram"])

    with pytest.raises(InvalidInputError) as refused:
        option_positions(column, ("bus", "car"), first_row=2)

    assert "got 'tram' and others in rows 3, 5 and 6" in str(refused.value)


def test_all_rows_of_too_many_options_are_named() -> None:
    column = pl.Series("way", ["a;b", "a", "a;b;c", "b"])

    with pytest.raises(InvalidInputError) as refused:
        option_positions(column, ("a", "b", "c"), most=1, first_row=0)
    assert "got 'a;b' and others in rows 0 and 2" in str(refused.value)
    with pytest.raises(InvalidInputError) as refused:
        option_positions(column, ("a", "b", "c"), most=2, first_row=0)
    assert "got 3 in row 2 " in str(refused.value)
    several = pl.Series("way", ["a;b;c", "a", "a;b;c;d"])
    with pytest.raises(InvalidInputError) as refused:
        option_positions(several, ("a", "b", "c", "d"), most=2, first_row=0)
    assert "got up to 4 in rows 0 and 2" in str(refused.value)


def test_categories_are_positions_and_empty_cells_are_no_answer() -> None:
    written = answer_categories(pl.Series("a", ["0", None, "99"]), 100, first_row=2)
    decimal = answer_categories(pl.Series("a", [7.0, None]), 100, first_row=0)
    none = answer_categories(pl.Series("a", [None], dtype=pl.Int64), 100, first_row=0)

    assert written.tolist() == [0, -1, 99]
    assert decimal.tolist() == [7, -1]
    assert none.tolist() == [-1]


@pytest.mark.parametrize(
    ("cells", "error", "why"),
    [
        ([0, 100], InvalidInputError, "from 0 to 99, in column 'a', got 100 in row 1"),
        ([0, -1], InvalidInputError, "got -1 in row 1"),
        ([0.5, None, 7.0], InvalidInputError, "got 0.5 in row 0"),
        (["1", "home.html"], DataError, "got 'home.html' in row 1"),
        # Rounded to a number of 53 bits, it is far from the list all the same.
        ([2**63 - 1, 3], InvalidInputError, "in row 0"),
    ],
)
def test_what_is_no_position_is_named_with_its_row(
    cells: list[Any], error: type[Exception], why: str
) -> None:
    with pytest.raises(error) as refused:
        answer_categories(pl.Series("a", cells), 100, first_row=0)

    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
