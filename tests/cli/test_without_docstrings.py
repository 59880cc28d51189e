"""`python -OO` removes docstrings and assertions: commands answer all the same."""

import subprocess
import sys
from pathlib import Path

import pytest

LEVELS = ("--levels", "1:500")
COMMANDS = {
    "account": ("account", "--categories", "5", *LEVELS, "--delta", "1e-4"),
    "plan": ("plan", "frequency", "--categories", "4", *LEVELS, "--delta", "1e-4"),
    "calibrate": ("calibrate", "levels", "--mechanism", "one-bit", "--targets", "0.5:500",
                  "--delta", "1e-4"),
    "audit": ("audit", "randomizer", "kary-response(categories=3)",
              "--levels", "1", "--samples", "2000", "--seed", "1"),
    "estimate": ("estimate", "values.csv", "--value", "value", "--level", "level",
                 "--delta", "1e-4"),
    "quickstart": ("quickstart", "--people", "1000"),
}  # fmt: skip


def without_docstrings(
    folder: Path, *arguments: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-OO", "-m", "shuffledp", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "name",
    [
        name if name == "account" else pytest.param(name, marks=pytest.mark.slow)
        for name in COMMANDS
    ],
)
@pytest.mark.slow
def test_commands_need_no_docstrings(name: str, tmp_path: Path) -> None:
    rows = [f"{value},1.0\n" for value in "aab" * 100]
    (tmp_path / "values.csv").write_text(f"value,level\n{''.join(rows)}")

    done = without_docstrings(tmp_path, *COMMANDS[name], "--json")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{")


@pytest.mark.slow
def test_parameters_are_then_explained_by_their_names(tmp_path: Path) -> None:
    done = without_docstrings(tmp_path, "mechanisms", "subset-selection")

    assert done.returncode == 0, done.stderr
    assert "subset_size: subset_size [required]." in " ".join(done.stdout.split())
