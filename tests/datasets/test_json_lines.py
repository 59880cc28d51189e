"""JSON lines that programs could read differently are refused, with their row."""

from pathlib import Path

import pytest

from shuffledp.datasets.table_files import read_rows
from shuffledp.errors import DataError


def test_a_byte_order_mark_before_json_lines_is_no_part_of_them(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"v": 1, "w": "x"}\n{"v": 2, "w": "y"}\n', encoding="utf-8-sig")

    rows = read_rows(path, ["v"])

    assert rows.frame["v"].to_list() == [1, 2]


@pytest.mark.parametrize(
    "line",
    [
        b'{"v": 1, "v": 2}',
        b'{"v": 1, "w": "secret", "v": 1}',
        b'{"\\u0076": 1, "v": 2}',
        b'{"v": 1, "w": 2, "\\u0076": 3}',
    ],
)
def test_a_key_that_stands_twice_in_a_json_line_is_refused(
    tmp_path: Path, line: bytes
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"v": 0, "w": "v"}\n\n{"v": 0}\n' + line + b"\n")

    with pytest.raises(DataError) as error:
        read_rows(path, ["v"])

    wanted = f"Expected every key once, got 'v' twice in row 3 of {path}."
    assert str(error.value) == wanted


def test_texts_of_json_lines_may_be_spelled_as_keys_are(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"v": "v", "w": "\\u0076"}\n{"v": "w, \\"v\\": 1", "w": "v"}\n')

    rows = read_rows(path, ["v", "w"])

    assert rows.frame["v"].to_list() == ["v", 'w, "v": 1']
