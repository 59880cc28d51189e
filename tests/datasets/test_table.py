"""Columns of a table are read strictly, and quoted by no error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shuffledp.datasets.table import (
    bits_of,
    numbers_of,
    read_columns,
    read_lines,
    strings_of,
)
from shuffledp.errors import DataError


def column(*values: Any) -> pl.Series:
    return pl.Series("v", values)


def test_numbers_are_numbers_of_any_kind() -> None:
    assert numbers_of(column(1, 2)).tolist() == [1.0, 2.0]
    assert numbers_of(column(0.5, -2.0)).tolist() == [0.5, -2.0]


@pytest.mark.parametrize(
    "values",
    [
        (0, 1, 1),
        (False, True, True),
        ("0", "1", "1"),
        ("false", "true", "True"),
        ("FALSE", "1", "true"),
    ],
)
def test_bits_are_zeros_and_ones_or_truths(values: tuple[Any, ...]) -> None:
    assert bits_of(column(*values)).tolist() == [0, 1, 1]


def test_strings_are_kept_as_they_are() -> None:
    assert strings_of(column(" a", "01", "é")) == [" a", "01", "é"]
    assert strings_of(column(7, 8)) == ["7", "8"]


@pytest.mark.parametrize(
    ("read", "values"),
    [
        (numbers_of, (1.0, None)),
        (numbers_of, (1.0, float("nan"))),
        (numbers_of, (1.0, float("inf"))),
        (numbers_of, ("secret", "2")),
        (numbers_of, (True, False)),
        (bits_of, (0, None)),
        (bits_of, (0, 2)),
        (bits_of, (0, -1)),
        (bits_of, (0.0, 1.0)),
        (bits_of, ("yes", "secret")),
        (bits_of, ("01", "1")),
        (strings_of, ("secret", None)),
        (strings_of, (0.5, 1.0)),
        (strings_of, ([1], [2])),
    ],
)
def test_anything_else_is_refused_and_not_quoted(
    read: Callable[[pl.Series], Any], values: tuple[Any, ...]
) -> None:
    with pytest.raises(DataError, match="for every person in column 'v'") as error:
        read(column(*values))

    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\nb\n", ("a", "b")),
        (b"a\r\nb", ("a", "b")),
        (b"\xef\xbb\xbfa\n", ("a",)),
        ("x\u2028y\n".encode(), ("x\u2028y",)),
    ],
)
def test_a_line_is_what_ends_at_a_newline(
    tmp_path: Path, content: bytes, lines: tuple[str, ...]
) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(content)

    assert read_lines(path) == lines


@pytest.mark.parametrize("content", [b"", b"\n", b"a\n\nb\n", b"\xff\xfe"])
def test_lists_with_gaps_or_in_other_encodings_are_refused(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(content)

    with pytest.raises(DataError, match=r"list\.txt"):
        read_lines(path)
    with pytest.raises(DataError, match="found none"):
        read_lines(tmp_path / "absent.txt")


def test_lines_with_more_values_than_names_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "comma.csv"
    file.write_text("epsilon,hours,smokes\n1,3,5,1\n1,4,9,0\n")

    with pytest.raises(DataError, match="as many values in every line"):
        read_columns(file, ["hours"])


def test_people_are_told_apart_as_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("person,level\n01,1\n1,2\n")

    frame = read_columns(file, ["person", "level"], as_text=["person"])

    assert frame["person"].to_list() == ["01", "1"]
    assert frame["level"].to_list() == [1, 2]
