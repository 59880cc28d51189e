"""Files are opened only if their reading ends."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Command

from shuffledp.datasets.budgets import read_budgets
from shuffledp.datasets.table import read_columns, read_lines
from shuffledp.errors import DataError
from shuffledp.file_reading import require_file
from shuffledp.question_tables import read_question_tables
from shuffledp.strict_json import read_json_file

READERS: dict[str, Callable[[Path], Any]] = {
    "budgets": read_budgets,
    "table": lambda path: read_columns(path, ["a"]),
    "lines": read_lines,
    "questions": read_question_tables,
    "certificate": read_json_file,
}


@pytest.fixture
def _limited() -> Iterator[None]:
    """Ends a test that waits for the writer of a pipe."""
    former = signal.signal(signal.SIGALRM, _refuse_to_wait)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, former)


def _refuse_to_wait(*_: object) -> None:
    raise TimeoutError("a pipe without a writer was opened")


@pytest.mark.usefixtures("_limited")
@pytest.mark.parametrize("name", READERS)
def test_readers_refuse_all_but_ordinary_files(name: str, tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe.csv", tmp_path / "folder.csv"
    os.mkfifo(pipe)
    folder.mkdir()
    long = tmp_path / f"{'a' * 300}.csv"

    for path, words in (
        (pipe, r"a file at .*pipe\.csv, found a pipe or a device\."),
        (folder, r"a file at .*folder\.csv, found a directory\."),
        (tmp_path / "none.csv", r"a file at .*none\.csv, found none\."),
        (long, r"Could not read .*: File name too long\."),
    ):
        with pytest.raises(DataError, match=words):
            READERS[name](path)


@pytest.mark.usefixtures("_limited")
def test_commands_refuse_a_pipe_without_a_writer(
    command: Command, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")

    for arguments in (
        ("verify", "pipe"),
        ("plan", "questionnaire", "--questions", "pipe", "--targets", "1:1000"),
    ):
        outcome = command(*arguments)
        assert outcome.is_refusal
        assert "Expected a file at pipe, found a pipe or a device." in outcome.err


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to("file")

    require_file(tmp_path / "link")
