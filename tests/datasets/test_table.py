"""Columns of a table are read strictly, and quoted by no error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shuffledp.datasets.column_values import (
    bits_of,
    budgets_of,
    categories_of,
    numbers_of,
    strings_of,
)
from shuffledp.datasets.frames import Frame
from shuffledp.datasets.table import read_columns, read_lines
from shuffledp.errors import DataError, InvalidInputError, MissingValueError


def column(*values: Any) -> pl.Series:
    return pl.Series("v", values)


def test_numbers_are_numbers_of_any_kind() -> None:
    assert numbers_of(column(1, 2)).tolist() == [1.0, 2.0]
    assert numbers_of(column(0.5, -2.0)).tolist() == [0.5, -2.0]
    assert numbers_of(column(" 1e-3", "+2 ", "-.5")).tolist() == [0.001, 2.0, -0.5]


@pytest.mark.parametrize(
    "values",
    [
        (0, 1, 1),
        (False, True, True),
        ("0", "1", "1"),
        ("false", "true", "True"),
        ("FALSE", "1 ", " true"),
    ],
)
def test_bits_are_zeros_and_ones_or_truths(values: tuple[Any, ...]) -> None:
    assert bits_of(column(*values)).tolist() == [0, 1, 1]


def test_strings_are_kept_without_white_space_around_them() -> None:
    assert strings_of(column(" a", "01", "é", "b  c")) == ["a", "01", "é", "b  c"]
    assert strings_of(column(7, 8)) == ["7", "8"]
    assert strings_of(column("null", "a")) == ["null", "a"]


@pytest.mark.parametrize(
    "budgets",
    [
        pl.Series([0.1, 0.2], dtype=pl.Float32),
        pl.Series([0.1, 0.2]),
        pl.Series(["0.1", " .2"]),
        pl.Series(["0.10", "2e-1"], dtype=pl.Categorical),
    ],
)
def test_budgets_are_the_decimals_that_were_meant(budgets: pl.Series) -> None:
    assert budgets_of(budgets).tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    ("read", "values"),
    [
        (numbers_of, (1.0, float("inf"))),
        (numbers_of, ("secret", "2")),
        (numbers_of, ("1_0", "2")),
        (numbers_of, ("-nan", "2")),
        (budgets_of, ("secret", "2")),
        (budgets_of, ("secret", None)),
        (bits_of, (0, 2)),
        (bits_of, (0, -1)),
        (bits_of, (0.0, 1.0)),
        (bits_of, ("yes", "secret")),
        (bits_of, ("01", "1")),
        (strings_of, (0.5, 1.0)),
        (strings_of, ([1], [2])),
        (lambda values: categories_of(values, None), ([1], [2])),
    ],
)
def test_anything_else_is_refused_and_not_quoted(
    read: Callable[[pl.Series], Any], values: tuple[Any, ...]
) -> None:
    with pytest.raises(DataError, match=r"Expected .* column 'v'") as error:
        read(column(*values))

    assert "secret" not in str(error.value)


READERS = [
    numbers_of,
    budgets_of,
    bits_of,
    strings_of,
    lambda values: categories_of(values, None),
]


@pytest.mark.parametrize("text", ["", "  ", "NA", "n/a", " nan ", "NULL", "\tNone"])
def test_words_for_nothing_are_missing_in_files_and_answers_in_frames(
    text: str, tmp_path: Path
) -> None:
    people = pl.DataFrame({"v": ["a", text, "b"]})
    people.write_csv(tmp_path / "people.csv", quote_style="always")

    with pytest.raises(MissingValueError, match=r"none in row 3 \(the header is row 1"):
        read_columns(tmp_path / "people.csv", ["v"])

    if text.strip():
        words = read_columns(Frame(people), ["v"])["v"].to_list()
        assert words == ["a", text.strip(), "b"]
    else:
        with pytest.raises(
            MissingValueError, match="the data frame, found none in row"
        ):
            read_columns(Frame(people), ["v"])


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("text", [None, "", "  "])
def test_missing_texts_are_refused_with_their_rows(
    read: Callable[[pl.Series], Any], text: str | None
) -> None:
    with pytest.raises(MissingValueError) as error:
        read(column("1", text, "0", text))

    assert str(error.value) == (
        "Expected a value in every row of column 'v', found none in rows 2 and 4 "
        "(the first is row 1)."
    )


@pytest.mark.parametrize("read", [numbers_of, budgets_of])
@pytest.mark.parametrize("number", [None, float("nan")])
def test_missing_numbers_are_refused_with_their_rows(
    read: Callable[[pl.Series], Any], number: float | None
) -> None:
    with pytest.raises(MissingValueError, match=r"none in row 3 \(the first is row 1"):
        read(column(1.0, 0.0, number))


def test_only_the_first_of_many_rows_are_named() -> None:
    with pytest.raises(MissingValueError) as error:
        strings_of(column(*["a"] * 999, *[None] * 1500))

    assert (
        "1,500 rows, the first of which are 1,000, 1,001, 1,002, 1,003 and 1,004 ("
        in (str(error.value))
    )


def test_decimal_commas_are_refused_as_such() -> None:
    with pytest.raises(
        DataError, match="decimal point, not a decimal comma, for every"
    ):
        budgets_of(column("0,5", "2"))
    with pytest.raises(DataError, match="Expected a number for every person"):
        budgets_of(column("0,5", "1,000,000"))


def test_categories_can_be_named_numbered_or_found() -> None:
    found, names = categories_of(column("b", " a ", "b"), None)
    assert (found.tolist(), names) == ([1, 0, 1], ("a", "b"))

    found, names = categories_of(column("NA", "yes"), ("yes", "NA", " no"))
    assert (found.tolist(), names) == ([1, 0], ("yes", "NA", " no"))

    found, names = categories_of(column("2", "01"), 3)
    assert (found.tolist(), names) == ([2, 1], ("0", "1", "2"))


@pytest.mark.parametrize(
    ("values", "categories"),
    [
        (("a", "b"), ("a", "c")),
        (("a", "b"), ("a", "b", "b ")),
        (("0", "2"), 2),
        ((-1, 0), 2),
        ((0.0, 1.0), 2),
        ((True, False), 2),
        (("0", "x"), 2),
    ],
)
def test_values_that_are_no_category_are_refused(
    values: tuple[Any, ...], categories: int | tuple[str, ...]
) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        categories_of(column(*values), categories)


@pytest.fixture
def gaps(tmp_path: Path) -> Path:
    path = tmp_path / "gaps.csv"
    path.write_text("answer,epsilon,other\nyes,1,\nNA,1,\n no ,,\n,,\nno,2,\n")
    return path


def test_missing_values_are_refused_with_the_rows_of_the_file(gaps: Path) -> None:
    with pytest.raises(MissingValueError) as error:
        read_columns(gaps, ["answer", "epsilon"])

    assert str(error.value) == (
        "Expected a value in every row of columns 'answer' and 'epsilon' of gaps.csv, "
        "found none in rows 3, 4 and 5 (the header is row 1)."
    )
    with pytest.raises(InvalidInputError, match="'refuse' or 'drop', got 'keep'"):
        read_columns(gaps, ["answer"], missing="keep")  # type: ignore[arg-type]


def test_people_without_a_value_are_left_out_and_counted(gaps: Path) -> None:
    table = read_columns(gaps, ["answer", "epsilon"], missing="drop")

    assert table["answer"].to_list() == ["yes", "no"]
    assert budgets_of(table["epsilon"]).tolist() == [1.0, 2.0]
    assert table.num_users == 2
    assert table.notes == (
        "White space around 1 value was removed.",
        "3 of 5 people were left out, for want of a value in columns 'answer' and "
        "'epsilon'.",
    )
    with pytest.raises(DataError, match="a person with a value in every column"):
        read_columns(gaps, ["answer", "other"], missing="drop")


def test_a_name_that_is_known_is_no_missing_value(gaps: Path) -> None:
    table = read_columns(gaps, ["answer"], missing="drop", known=["yes", "NA"])

    assert table["answer"].to_list() == ["yes", "NA", "no", "no"]
    assert "1 of 5 people was left out" in table.notes[-1]


def test_complete_tables_have_nothing_to_say(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("answer\nyes\nno\n")

    assert read_columns(path, ["answer"]).notes == ()
    assert read_columns(path, ["answer"], missing="drop").notes == ()


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\nb\n", ("a", "b")),
        (b"a\r\nb", ("a", "b")),
        (b"\xef\xbb\xbfa\n", ("a",)),
        (b" a b\t\nb \n", ("a b", "b")),
        ("x\u2028y\n".encode(), ("x\u2028y",)),
    ],
)
def test_a_line_is_what_ends_at_a_newline(
    tmp_path: Path, content: bytes, lines: tuple[str, ...]
) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(content)

    assert read_lines(path) == lines


@pytest.mark.parametrize("content", [b"", b"\n", b"a\n\nb\n", b"a\n \nb", b"\xff\xfe"])
def test_lists_with_gaps_or_in_other_encodings_are_refused(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(content)

    with pytest.raises(DataError, match=r"list\.txt"):
        read_lines(path)
    with pytest.raises(DataError, match="found none"):
        read_lines(tmp_path / "absent.txt")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"a\nb\0\n", "line 2"),
        (b"a\n\nb\n\0", "line 4"),
        ("a\nb\n".encode("utf-16-le"), "line 1"),
        ("a\nb\n".encode("utf-16-be"), "line 1"),
    ],
)
def test_lists_with_nul_characters_are_refused(
    tmp_path: Path, content: bytes, line: str
) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(content)

    with pytest.raises(DataError, match=f"without NUL characters .* in {line}: "):
        read_lines(path)
