"""Ctrl-C is one line and exit code 130, whenever it comes; nothing is half written."""

import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest
from command_line import Command

INTERRUPTED = "shuffledp: stopped.\n"
WHILE_LOADING = """
import sys


class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "shuffledp.cli.main":
            raise KeyboardInterrupt


sys.meta_path.insert(0, Interrupting())
"""
# Of data classes, say: Python then remembers to end itself by the signal.
WHILE_A_TEXT_IS_EXECUTED = """
from shuffledp.cli import main


def interrupted(**_):
    exec("raise KeyboardInterrupt")


main.app.main = interrupted
"""
# As matplotlib does, which transforms a path in compiled code.
WHILE_COMPILED_CODE_CALLS_PYTHON = """
import signal

from shuffledp.cli import main


def interrupted(**_):
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise ValueError("Invalid affine transformation matrix") from None


main.app.main = interrupted
"""


def interrupt(*_arguments: Any, **_named: Any) -> NoReturn:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "prepare",
    [WHILE_LOADING, WHILE_A_TEXT_IS_EXECUTED, WHILE_COMPILED_CODE_CALLS_PYTHON],
    ids=["loading", "text", "compiled"],
)
def test_an_interrupt_is_one_line_and_an_exit_code(
    prepare: str, tmp_path: Path
) -> None:
    program = f"{prepare}\nfrom shuffledp.__main__ import run\nrun()\n"

    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (130, "", INTERRUPTED)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("quickstart", "--people", "1000"), "shuffledp.cli.collection_run.perform"),
        (("quickstart", "--people", "1000"), "shuffledp.file_writing.check_target"),
        (
            ("estimate", "survey.csv", "--value", "smokes", "--level", "epsilon"),
            "shuffledp.cli.collection_run.write_report",
        ),
        (
            ("train", "shuffled-sgd", "--levels", "1:1", "--dataset", "digits"),
            "shuffledp.cli.train_command.load",
        ),
        (
            ("train", "apes", "--levels", "1:1", "--dataset", "digits"),
            "shuffledp.cli.training_rounds.load",
        ),
    ],
    ids=range(5),
)
def test_an_interrupted_command_leaves_nothing_half_written(
    arguments: tuple[str, ...],
    place: str,
    command: Command,
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(place, interrupt)

    outcome = command(*arguments, "--output", "out")

    assert (outcome.code, outcome.err) == (130, INTERRUPTED)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [table]
