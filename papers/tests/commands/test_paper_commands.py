"""Commands in the column "how to run it" of docs/papers/reproduction.md run as they stand.

Those of `reproduce` and `court` run beside it.
"""

import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from command_line import Command

from shuffledp_papers.contents.papers import PAPERS

COMMANDS = {
    entry.where
    for paper in PAPERS
    for entry in paper.contents
    if entry.where.startswith("shuffledp ")
}
SERVICES = {"shuffledp serve demo"}
DATA = os.environ.get("SHUFFLEDP_DATA", "")


def reads_data(command: str) -> bool:
    """Whether a command reads MNIST or MSNBC, and so takes longer, too."""
    return "--dataset" in command or command.startswith("shuffledp train ")


def marked(commands: Iterable[str]) -> list[Any]:
    data = pytest.mark.skipif(
        not (Path(DATA) / "mnist").is_dir(),
        reason="SHUFFLEDP_DATA does not name a folder with mnist",
    )

    def marks(command: str) -> list[pytest.MarkDecorator]:
        if reads_data(command):
            return [pytest.mark.slow, data]
        return [pytest.mark.slow] if command.startswith("shuffledp plan ") else []

    return [pytest.param(each, id=each, marks=marks(each)) for each in sorted(commands)]


@pytest.mark.parametrize("text", marked(COMMANDS - SERVICES))
def test_a_command_that_the_page_names_runs_as_it_stands(
    text: str, command: Command
) -> None:
    outcome = command(*shlex.split(text)[1:])

    assert outcome.code == 0, outcome.err
    assert outcome.out


def test_most_commands_need_no_data() -> None:
    assert len([each for each in COMMANDS if not reads_data(each)]) >= 25
