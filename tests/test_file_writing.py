"""Files appear whole, or not at all."""

import errno
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from shuffledp.errors import DataError
from shuffledp.file_writing import (
    check_folder,
    check_new,
    write_file,
    write_files,
    write_paths,
)


def test_a_file_is_replaced_by_the_whole_text(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_text("old")

    write_file(path, "new")

    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_ordinary_file_is_left_alone(tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()

    for path in (pipe, folder):
        with pytest.raises(DataError, match="ordinary file"):
            write_file(path, "text")

    assert pipe.is_fifo()
    assert folder.is_dir()
    assert sorted(tmp_path.iterdir()) == [folder, pipe]


def test_several_files_are_written_or_none(tmp_path: Path) -> None:
    texts = {"a.csv": "new", "b.json": "new", "c.svg": "new"}
    (tmp_path / "a.csv").write_text("old")
    (tmp_path / "b.json").mkdir()

    with pytest.raises(DataError, match="ordinary file"):
        write_files(tmp_path, texts)
    assert (tmp_path / "a.csv").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"a.csv", "b.json"}

    (tmp_path / "b.json").rmdir()
    write_files(tmp_path, texts)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == texts


def test_a_full_disk_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_text("old")
    made = tempfile.mkstemp
    calls = iter(range(2))

    def mkstemp(**options: Any) -> tuple[int, str]:
        if next(calls) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return made(**options)

    monkeypatch.setattr("shuffledp.file_writing.tempfile.mkstemp", mkstemp)

    with pytest.raises(DataError, match="No space left"):
        write_files(tmp_path, {"a.csv": "new", "b.json": "new"})
    assert (tmp_path / "a.csv").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_full_disk_leaves_no_folder_that_was_made_for_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mkstemp(**options: Any) -> tuple[int, str]:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shuffledp.file_writing.tempfile.mkstemp", mkstemp)
    (tmp_path / "there").mkdir()

    for folder in ("there", "there/new", "new/report"):
        with pytest.raises(DataError, match="No space left"):
            write_files(tmp_path / folder, {"a.csv": "new"})
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]


def test_files_of_several_folders_are_written_or_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.csv and .*b\.csv: No such file"):
        write_paths({tmp_path / "a.csv": "1", tmp_path / "nowhere" / "b.csv": "2"})

    assert list(tmp_path.iterdir()) == []


def test_a_link_that_leads_nowhere_is_refused_or_replaced(tmp_path: Path) -> None:
    first, second, dangling = (tmp_path / name for name in ("a", "b", "c"))
    first.symlink_to(second)
    second.symlink_to(first)
    dangling.symlink_to(tmp_path / "nowhere")

    for path in (first, dangling):
        with pytest.raises(DataError, match="there already"):
            check_new([path], force=False)
        check_new([path], force=True)
    with pytest.raises(DataError, match="Too many levels"):
        check_folder(first, force=True)


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 300)

    with pytest.raises(DataError, match="too long"):
        check_new([path], force=False)
    with pytest.raises(DataError, match="too long"):
        check_folder(path, force=False)
