"""One budget per person, from numbers or a column."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shuffledp.datasets.budgets import read_budgets
from shuffledp.errors import DataError, MissingValueError

BUDGETS = [0.1, 0.2, 3.0]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize(
    "name", ["a.txt", "a", "a.npy", "a.csv", "a.jsonl", "a.parquet"]
)
def test_budgets_are_read_from_files_of_all_kinds(
    tmp_path: Path, name: str, kind: type[np.floating]
) -> None:
    path, budgets = tmp_path / name, np.array(BUDGETS, dtype=kind)
    frame, column = pl.DataFrame({"b": budgets}), "b"
    match path.suffix:
        case ".csv":
            frame.write_csv(path)
        case ".jsonl":
            frame.write_ndjson(path)
        case ".parquet":
            frame.write_parquet(path)
        case ".npy":
            np.save(path, budgets)
            column = ""
        case _:
            path.write_text("\n".join(budgets.astype(str)))
            column = ""

    assert read_budgets(path, column or None).tolist() == BUDGETS


def test_a_column_of_text_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("person;b\nx;0.5\ny;2\n")

    assert read_budgets(path, "b").tolist() == [0.5, 2.0]
    with pytest.raises(DataError, match="one number per person"):
        read_budgets(path)


@pytest.mark.parametrize(
    ("name", "content", "column", "words"),
    [
        ("a.txt", b"", None, "at least one person"),
        ("a.txt", b"1\nsecret\n", None, "one number per person"),
        ("a.txt", b"1\n\xff\n", None, "one number per person"),
        ("a.txt", b"1\n1_0\n", None, "one number per person"),
        ("a.txt", "1\n\u0661\n".encode(), None, "one number per person"),
        ("a.txt", b"1\n1e-400\n", None, "at least 5e-324, or 0"),
        ("a.csv", b"b\n1\n1e-400\n", "b", "at least 5e-324, or 0.* entry 2 of 2"),
        ("a.csv", b"b\n-.0" + b"0" * 400 + b"1\n", "b", "at least 5e-324, or 0"),
        ("a.jsonl", b'{"b":1}\n{"b":1e-400}\n', "b", "5e-324, or 0.*'b'.* row 2"),
        ("a.jsonl", b'{"b":0.' + b"0" * 400 + b"1}\n", "b", "5e-324, or 0"),
        ("a.jsonl", b'{"b":1}\n{"b":"1e-400"}\n', "b", "at least 5e-324, or 0"),
        ("a.npy", b"secret", None, "one number per person"),
        ("a.csv", b"b\n1\n", None, "the name of the column"),
        ("a.ndjson", b'{"b":1}', None, "the name of the column"),
        ("a.csv", b"b\n1\n", "c", "found 'b'"),
        ("a.csv", b"b\n1\nsecret\n", "b", "a number for every person"),
        ("a.dat", b"b\n1\n", "b", "a table in a file that ends in"),
    ],
)
def test_other_files_are_refused_and_not_quoted(
    tmp_path: Path, name: str, content: bytes, column: str | None, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(DataError, match=words) as error:
        read_budgets(path, column)

    assert "secret" not in str(error.value)
    with pytest.raises(DataError, match="Expected a file at"):
        read_budgets(tmp_path / "absent", column)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1" + "0" * 30 + ",)}",
        "{'descr': (), 'fortran_order': False, 'shape': (3,)}",
        "[" * 9_000,
        "'\\d'",
    ],
    ids=["cut", "larger than memory", "beyond integers", "no type", "deep", "escape"],
)
@pytest.mark.filterwarnings("error")
def test_arrays_with_damaged_headers_are_refused(tmp_path: Path, header: str) -> None:
    path = tmp_path / "a.npy"
    text = header.encode() + b"\n"
    size = len(text).to_bytes(2, "little")
    path.write_bytes(b"\x93NUMPY\x01\x00" + size + text + bytes(24))

    with pytest.raises(DataError, match=r"one number per person in .*, in NumPy's"):
        read_budgets(path)


def test_an_archive_of_arrays_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", b=np.ones(3))
    path = (tmp_path / "a.npz").rename(tmp_path / "a.npy")

    with pytest.raises(DataError, match="one number per person"):
        read_budgets(path)


def test_whoever_has_no_budget_is_named_by_her_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("b,c\n1,1\n,1\nNA,1\n")

    with pytest.raises(
        MissingValueError, match=r"rows 3 and 4 \(the header is row 1\)"
    ):
        read_budgets(path, "b")


def test_a_byte_order_mark_before_numbers_is_no_part_of_them(tmp_path: Path) -> None:
    path = tmp_path / "budgets.txt"
    path.write_text("1.5\n2\n", encoding="utf-8-sig")

    assert read_budgets(path).tolist() == [1.5, 2.0]


def test_zero_may_be_written_with_any_exponent(tmp_path: Path) -> None:
    text, table, lines = (tmp_path / name for name in ("a.txt", "a.csv", "a.jsonl"))
    text.write_text("0e-400\n5e-324\n-0.0\n")
    table.write_text("b\n0e-400\n5e-324\n-0.0\n")
    lines.write_text('{"b":0e-400,"c":"1e-400"}\n{"b":5e-324}\n{"b":-0.0,"d":1e-400}\n')

    for path, column in ((text, None), (table, "b"), (lines, "b")):
        assert read_budgets(path, column).tolist() == [0.0, 5e-324, 0.0]


@pytest.mark.parametrize("text", ["0.5\n\n1\n", "0.5\n \t\n1", "0.5\r\n\r\n1\r\n"])
def test_a_person_without_a_budget_is_not_left_out_in_silence(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "budgets.txt"
    path.write_bytes(text.encode())

    with pytest.raises(DataError, match="a blank line"):
        read_budgets(path)


@pytest.mark.parametrize("text", ["0.5\n1", "\n0.5\r\n1\r\n\r\n", " 0.5\n 1\n\n"])
def test_lines_before_and_after_all_budgets_may_be_blank(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "budgets.txt"
    path.write_bytes(text.encode())

    assert read_budgets(path).tolist() == [0.5, 1.0]
