"""Commands in the column "how to run it" of docs/papers/reproduction.md run as they stand.

Experiments of a minute and more, which train or simulate, run by their own tests.
"""

import importlib.util
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from command_line import Command

import shuffledp
from shuffledp_papers.contents.papers import PAPERS

ENTRIES = [entry for paper in PAPERS for entry in paper.contents]
RESULTS = Path(shuffledp.__file__).parents[2] / "docs" / "papers" / "results"
COMMANDS = {entry.where for entry in ENTRIES if entry.where.startswith("shuffledp ")}
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


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("text", marked(COMMANDS - SERVICES))
def test_a_command_that_the_page_names_runs_as_it_stands(
    text: str, command: Command
) -> None:
    outcome = command(*shlex.split(text)[1:])

    assert outcome.code == 0, outcome.err
    assert outcome.out


# The first case of a row stands there as a command; the others are of the same kind.
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", sorted({entry.cases[0] for entry in ENTRIES if entry.cases})
)
def test_the_case_of_a_row_is_tried_with_its_reading(
    name: str, command: Command
) -> None:
    outcome = command("claims", "--case", name)

    assert outcome.code == 0, outcome.err
    assert "reading: " in outcome.out
    assert "adversary: " in outcome.out


def quick_experiments() -> list[str]:
    """Names of experiments that took less than 10 seconds when stored, quickest first."""
    names = sorted({entry.result for entry in ENTRIES if entry.result})
    paths = [RESULTS / f"{name}.json" for name in names]
    if not RESULTS.is_dir():
        return []
    results = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    results.sort(key=lambda result: float(result["seconds"]))
    return [result["experiment"] for result in results if result["seconds"] < 10.0]


@pytest.mark.slow
@pytest.mark.parametrize("name", quick_experiments())
def test_an_experiment_of_a_row_is_reproduced(
    name: str, command: Command, tmp_path: Path
) -> None:
    outcome = command("reproduce", name, "--output", "results")

    assert outcome.code == 0, outcome.err
    assert (tmp_path / "results" / f"{name}.csv").is_file()


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("shuffledp_services") is None,
    reason="shuffledp-services is not installed",
)
@pytest.mark.parametrize("text", sorted(SERVICES))
def test_a_service_of_a_row_starts_and_ends(text: str, tmp_path: Path) -> None:
    words = [sys.executable, "-m", *shlex.split(text)]
    with subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as service:
        assert service.stdout is not None
        # The last line before it waits; without it the output ends, and so does this.
        shown = next((line for line in service.stdout if "Ctrl-C" in line), "")
        service.send_signal(signal.SIGINT)
        service.stdout.read()
        code = service.wait(timeout=60)

    assert shown
    assert code == 0


def test_most_commands_need_no_data() -> None:
    assert len([each for each in COMMANDS if not reads_data(each)]) >= 25
