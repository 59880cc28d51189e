"""Files appear whole, or not at all."""

import os
from pathlib import Path

import pytest

from shuffledp.errors import DataError
from shuffledp.report.files import write_text


def test_a_file_is_replaced_by_the_whole_text(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_text("old")

    write_text(path, "new")

    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_ordinary_file_is_left_alone(tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()

    for path in (pipe, folder):
        with pytest.raises(DataError, match="ordinary file"):
            write_text(path, "text")

    assert pipe.is_fifo()
    assert folder.is_dir()
    assert sorted(tmp_path.iterdir()) == [folder, pipe]
