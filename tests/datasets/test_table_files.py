"""Files of every kind hold the same people; damaged ones are refused, and not quoted."""

import os
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from shuffledp.datasets.column_values import budgets_of
from shuffledp.datasets.frames import Frame
from shuffledp.datasets.table import read_columns
from shuffledp.datasets.table_files import read_rows, separator_of
from shuffledp.errors import DataError, MissingValueError

PEOPLE = [("yes", 0.5), ("no", 2.0), ("a;b|c,d\te", 0.1)]


def write(path: Path, separator: str = ",") -> Path:
    frame = pl.DataFrame(PEOPLE, schema=["answer", "epsilon"], orient="row")
    if path.suffix in (".parquet", ".pq"):
        frame.write_parquet(path)
    elif path.suffix in (".jsonl", ".ndjson"):
        frame.write_ndjson(path)
    else:
        frame.write_csv(path, separator=separator)
    return path


@pytest.mark.parametrize(
    ("name", "separator", "note"),
    [
        ("a.csv", ",", None),
        ("a.CSV", ",", None),
        ("a.csv", ";", "semicolons"),
        ("a.csv", "\t", "tabs"),
        ("a.txt", "|", "bars"),
        ("a.tsv", "\t", None),
        ("a.tsv", ",", "commas"),
        ("a.jsonl", ",", None),
        ("a.ndjson", ",", None),
        ("a.parquet", ",", None),
        ("a.pq", ",", None),
    ],
)
def test_tables_of_all_kinds_hold_the_same(
    tmp_path: Path, name: str, separator: str, note: str | None
) -> None:
    path = write(tmp_path / name, separator)

    table = read_columns(path, ["answer", "epsilon"])

    people = zip(table["answer"], budgets_of(table["epsilon"]).tolist(), strict=True)
    assert list(people) == PEOPLE
    said = (f"The columns of {name} are separated by {note}.",) if note else ()
    assert table.notes == said


@pytest.mark.parametrize(
    ("content", "values", "first"),
    [
        ("v\n1\n2\n", ["1", "2"], 2),
        ("\ufeffv,w\r\n1,3\r\n2,3\r\n", ["1", "2"], 2),
        ("\n\n v ,w\n1,3\n2,3\n", ["1", "2"], 4),
        ('"w\nx",v\n3,1\n3,2\n', ["1", "2"], 2),
        ('w,"v"\n"a\nb",1\n"a,b","2"\n', ["1", "2"], 2),
        ("w;v\n1,5;1\n2,5;2\n", ["1", "2"], 2),
        ('"w;x;y",v\n3,1\n3,2\n', ["1", "2"], 2),
        ("v\n01\n1.50\n", ["01", "1.50"], 2),
    ],
)
def test_separated_text_is_read_as_it_is_written(
    tmp_path: Path, content: str, values: list[str], first: int
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content, encoding="utf-8", newline="")

    rows = read_rows(path, ["v"])

    assert rows.frame["v"].to_list() == values
    assert rows.first == first


def test_rows_are_counted_as_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('\nv,w\n1,"two\nlines"\n,3\n\n4,4\n5\n')

    with pytest.raises(
        MissingValueError, match=r"rows 4 and 5 \(the header is row 2\)"
    ):
        read_columns(path, ["v"])
    with pytest.raises(MissingValueError, match="rows 5 and 7 "):
        read_columns(path, ["w"])


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_files_without_a_header_count_from_1(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({"v": ["a", " NULL", "b"], "w": [1.0, 2.0, None]})
    path = tmp_path / name
    if name == "a.jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_parquet(path)

    with pytest.raises(MissingValueError, match=r"rows 2 and 3 \(the first is row 1\)"):
        read_columns(path, ["v", "w"])


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("Answer", "found 'answer', 'epsilon'. Did you mean 'answer'?"),
        ("answr", "found 'answer', 'epsilon'. Did you mean 'answer'?"),
        (" answer", "found 'answer', 'epsilon'. Did you mean 'answer'?"),
        ("EPS", "found 'answer', 'epsilon'. Did you mean 'epsilon'?"),
        ("zzz", "found 'answer', 'epsilon'."),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_a_column_that_is_not_there_is_guessed(
    tmp_path: Path, name: str, column: str, words: str
) -> None:
    path = write(tmp_path / name)

    with pytest.raises(DataError) as error:
        read_columns(path, ["answer", column])

    assert str(error.value) == f"Expected a column {column!r} in {path}, {words}"


def test_errors_name_some_of_many_columns_and_no_control_characters(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    names = ["x" * 100, "\x1b[31m", *(f"c{place}" for place in range(98))]
    path.write_text(",".join(names) + "\n")

    with pytest.raises(DataError) as error:
        read_columns(path, ["answer"])

    assert "'c17', 80 more." in str(error.value)
    assert "x" * 41 not in str(error.value)
    assert "\x1b" not in str(error.value)


@pytest.mark.parametrize("content", ["secret,0.5\nno,2\n", "2\n3\n", "secret;1e3\n"])
def test_answers_in_place_of_names_are_not_quoted(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content)

    with pytest.raises(DataError, match="whose first line should name") as error:
        read_columns(path, ["answer"])

    assert "secret" not in str(error.value)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("v, v,w\n1,2,3\n")

    with pytest.raises(DataError, match=r"exactly one column 'v' in .*, found 2"):
        read_columns(path, ["v"])
    assert read_columns(path, ["w"])["w"].to_list() == ["3"]


@pytest.mark.parametrize("name", ["a.xlsx", "a.json", "a.csv.gz", "a", ".csv"])
def test_files_of_other_kinds_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"secret")

    with pytest.raises(DataError) as error:
        read_columns(path, ["v"])

    assert str(error.value) == (
        "Expected a table in a file that ends in .csv, .tsv, .txt, .jsonl, .ndjson, "
        f".parquet or .pq, got {name}."
    )


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"", "empty file"),
        ("a.csv", b"\n\n", "empty file"),
        ("a.csv", b"v\n", "at least one person"),
        ("a.csv", b"v,w\n1,secret,3\n", "as many values in every line"),
        ("a.csv", b"v\nsecret\xff\n", "in UTF-8"),
        ("a.csv", b"v\xff\n1\n", "in UTF-8"),
        ("a.csv", "v,w\nsecret,1\n".encode("utf-16"), "in UTF-8"),
        ("a.csv", "v,w\nsecret,1\n".encode("utf-16-be"), "in UTF-8"),
        ("a.csv", "v,w\nsecret,1\n".encode("utf-16-le"), "in UTF-8"),
        ("a.csv", "名前\nsecret\n".encode("utf-16-le"), "in UTF-8"),
        ("a.csv", b"v\nyes\nsec\0ret\n", r"'v' of a\.csv, found one in row 3 "),
        (
            "a.jsonl",
            b'{"v":"sec\\u0000ret"}\n',
            r"'v' of a\.jsonl, found one in row 1 ",
        ),
        ("a.csv", b'v\n"secret\n', "as many values in every line"),
        ("a.csv", b'"' + b"v" * 200_000, "a header line of at most"),
        ("a.jsonl", b"", "at least one person"),
        ("a.jsonl", b"\n", "a JSON object in every line"),
        ("a.jsonl", b'{"v":1}\n["secret"]\n', "a JSON object in every line"),
        ("a.jsonl", b'{"v":1}\n{"v":"secret"\n', "a JSON object in every line"),
        ("a.jsonl", b'{"v":NaN}\n', "a JSON object in every line"),
        ("a.jsonl", b"[" * 5000, "a JSON object in every line"),
        ("a.jsonl", b'{"v":"\xff"}\n', "a JSON object in every line"),
        ("a.parquet", b"secret", "a Parquet file"),
        ("a.parquet", b"", "a Parquet file"),
    ],
)
def test_damaged_files_are_refused_and_not_quoted(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(DataError, match=words) as error:
        read_columns(path, ["v"])

    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)
    assert r"\x00" not in str(error.value)


def test_a_category_with_a_nul_character_is_refused_in_a_data_frame() -> None:
    texts = pl.Series("v", ["yes", "y\0es"])

    for column in (texts, texts.cast(pl.Categorical)):
        with pytest.raises(DataError, match=r"without NUL characters .* in row 1 "):
            read_columns(Frame(pl.DataFrame([column])), ["v"])


def test_folders_and_absent_files_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folder.csv"
    folder.mkdir()

    for path in (folder, tmp_path / "absent.csv"):
        with pytest.raises(DataError, match="Expected a file at"):
            read_columns(path, ["v"])


def test_a_header_line_that_is_too_long_is_told_from_uneven_lines(
    tmp_path: Path,
) -> None:
    path = tmp_path / "wide.csv"
    names = [f"column {number}" for number in range(20_000)]
    path.write_text(f"{','.join(names)}\n{','.join(['1'] * len(names))}\n")

    for read in (
        lambda: read_rows(path, ["column 5"]),
        lambda: separator_of(",".join(names), ",", path),
    ):
        with pytest.raises(DataError) as error:
            read()
        assert str(error.value) == (
            f"Expected a header line of at most 131,072 characters in {path}, got a "
            "longer one: leave out columns, or save the table as Parquet."
        )


def test_two_columns_of_one_name_are_told_from_files_of_another_kind(
    tmp_path: Path,
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "twice.parquet"
    column = arrow.array([1.0, 2.0])
    table = arrow.Table.from_arrays([column, column], names=["way", "way"])
    parquet.write_table(table, path)

    with pytest.raises(DataError, match="exactly one column of each name"):
        read_rows(path, ["way"])


def test_a_column_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    # More digits than a decimal number of Polars has.
    wide = arrow.array([Decimal("1.5")] * 2, arrow.decimal256(60, 3))
    parquet.write_table(arrow.table({"answer": ["a", "b"], "epsilon": wide}), path)

    with pytest.raises(DataError, match=r"column 'epsilon' of .*a\.parquet: expected"):
        read_rows(path, ["answer", "epsilon"])
    assert read_rows(path, ["answer"]).frame.height == 2


def test_a_table_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.csv")
    try:
        path.write_text("a\n1\n")
    except OSError:
        pytest.skip("this file system has names of UTF-8 only")

    with pytest.raises(DataError, match="Could not read"):
        read_rows(path, ["a"])
