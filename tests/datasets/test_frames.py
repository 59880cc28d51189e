"""A data frame of any library is read as a file with the same people is."""

from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest

from shuffledp.datasets.column_values import budgets_of, categories_of, numbers_of
from shuffledp.datasets.frames import Frame, rows_of
from shuffledp.datasets.table import read_columns
from shuffledp.errors import DataError, InvalidInputError, MissingValueError

PEOPLE: dict[str, list[Any]] = {
    "answer": ["yes", " no ", None, "yes"],
    "number": [1, 0, 2, None],
    "epsilon": [0.1, 0.5, 2.0, 0.1],
    "smokes": [True, False, None, True],
}


LIBRARIES = (
    "polars",
    "lazy",
    "arrow",
    "pandas",
    "pandas of extension types",
    "pandas of Arrow",
)


def pandas() -> Any:
    return pytest.importorskip("pandas")


def frames(people: dict[str, list[Any]]) -> dict[str, Any]:
    """The same people, as different libraries have them."""
    table = pl.DataFrame(people)
    arrow = pytest.importorskip("pyarrow").table(people)
    made = (
        table,
        table.lazy(),
        arrow,
        pandas().DataFrame(people),
        pandas().DataFrame(people).convert_dtypes(),
        arrow.to_pandas(types_mapper=pandas().ArrowDtype),
    )
    return dict(zip(LIBRARIES, made, strict=True))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("column", list(PEOPLE))
def test_people_are_the_same_in_every_library(library: str, column: str) -> None:
    expected = read_columns(Frame(pl.DataFrame(PEOPLE)), [column], missing="drop")

    table = read_columns(Frame(frames(PEOPLE)[library]), [column], missing="drop")

    assert table[column].to_list() == expected[column].to_list()
    assert table.notes == expected.notes


def test_whole_numbers_of_pandas_stay_whole_where_one_is_missing() -> None:
    table = pandas().DataFrame({"v": [1, 2, None, 1], "w": [1.5, 2, None, 1]})

    rows = read_columns(Frame(table), ["v"], missing="drop")

    assert categories_of(rows["v"], None)[1] == ("1", "2")
    fractions = read_columns(Frame(table), ["w"], missing="drop")
    assert categories_of(fractions["w"], None)[1] == ("1.0", "1.5", "2.0")


def test_levels_in_single_precision_are_the_decimals_they_stand_for() -> None:
    levels = np.array([0.1, 0.7], dtype=np.float32)

    for table in (pl.DataFrame({"e": levels}), pandas().DataFrame({"e": levels})):
        assert budgets_of(read_columns(Frame(table), ["e"])["e"]).tolist() == [0.1, 0.7]


def test_levels_may_be_decimal_numbers() -> None:
    table = pl.DataFrame({"e": [Decimal("0.1"), Decimal("0.70")]})

    assert budgets_of(read_columns(Frame(table), ["e"])["e"]).tolist() == [0.1, 0.7]


def test_a_missing_value_is_refused_with_the_row_that_lacks_it() -> None:
    for table in frames(PEOPLE).values():
        with pytest.raises(
            MissingValueError, match=r"the data frame, found none in row 2 \(.*row 0\)"
        ):
            read_columns(Frame(table), ["answer", "epsilon"])


def test_only_the_columns_asked_for_are_read() -> None:
    table = pandas().DataFrame({"v": [1, 2], "mixed": ["a", 3]})

    assert rows_of(Frame(table), ["v"]).frame.columns == ["v"]
    with pytest.raises(DataError, match="one kind in column 'mixed'"):
        rows_of(Frame(table), ["mixed"])


def test_a_column_that_is_not_there_is_said_with_those_that_are() -> None:
    with pytest.raises(DataError, match=r"'answr' in the data frame, .* 'answer'\?"):
        rows_of(Frame(pl.DataFrame(PEOPLE)), ["answr"])
    with pytest.raises(DataError, match="at least one person in the data frame"):
        rows_of(Frame(pl.DataFrame({"v": []})), ["v"])


@pytest.mark.parametrize("names", [[0, 1], [("v", 1), ("w", 2)], ["w", 7]])
def test_columns_whose_names_are_no_texts_are_listed_as_such(names: list[Any]) -> None:
    table = pandas().DataFrame([[1, 2], [3, 4]])
    table.columns = pandas().Index(names)

    with pytest.raises(DataError, match=r"column 'v' in the data frame.*\(no text\)"):
        rows_of(Frame(table), ["v"])


def test_a_name_that_two_columns_have_is_refused() -> None:
    table = pandas().DataFrame([[1, 2, 3]], columns=["v", "w", "w"])

    with pytest.raises(DataError, match="own for every column of the data frame"):
        rows_of(Frame(table), ["v"])


def test_of_true_and_false_a_mean_is_the_share_of_true() -> None:
    for table in frames({"v": [True, False, True, True]}).values():
        column = read_columns(Frame(table), ["v"])["v"]
        assert numbers_of(column).tolist() == [1.0, 0.0, 1.0, 1.0]
    texts = pl.Series("v", ["true", "False"])
    assert numbers_of(texts).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("other", [{"v": [1]}, [1, 2], 5, np.zeros(3), None])
def test_what_is_no_data_frame_is_refused(other: object) -> None:
    with pytest.raises(InvalidInputError, match=f"got {type(other).__name__}"):
        Frame(other)


def test_infinite_and_huge_numbers_of_pandas_stay_what_they_are() -> None:
    numbers = [float("inf"), None, 2.0**60]

    frame = rows_of(Frame(pandas().DataFrame({"v": numbers})), ["v"]).frame

    assert frame["v"].fill_nan(None).to_list() == numbers


def test_times_are_neither_categories_nor_numbers() -> None:
    table = pandas().DataFrame(
        {"v": pandas().to_datetime(["2026-01-01 08:00", "2026-01-02"], format="mixed")}
    )

    column = read_columns(Frame(table), ["v"])["v"]

    with pytest.raises(DataError, match="not lists or times"):
        categories_of(column, None)
    with pytest.raises(DataError, match="number, not a date or time, for every person"):
        numbers_of(column)
