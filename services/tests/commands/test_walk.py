"""Walks through docs/how-to run as they stand, and end with a checked result."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[3] / "docs" / "how-to"


@pytest.mark.slow
def test_the_walk_of_three_parties_ends_with_a_result_that_was_checked(
    tmp_path: Path,
) -> None:
    folder, printed = walked(tmp_path, "three-parties.md")

    assert "2,000 of 2,000 reports were accepted." in printed
    assert "The signed result of epoch 1 counts all 2,000 messages." in printed
    assert re.search(r"epoch 2\b", printed.split("counts all 2,000")[1])
    # Nobody's key is in another's folder.
    for party in ("analyst", "shuffler", "enroller"):
        secrets = {path.parts[-3] for path in folder.rglob(f"{party}.json")}
        assert secrets == {party}


@pytest.mark.slow
@pytest.mark.few_cases(0)
def test_the_walk_of_several_questions_ends_with_their_shares(tmp_path: Path) -> None:
    folder, printed = walked(tmp_path, "several-questions.md")

    assert "5,000 of 5,000 reports were accepted." in printed
    assert re.search(
        r"The signed result of epoch 1 counts all [\d,]+ messages", printed
    )
    estimate = json.loads((folder / "result.json").read_text("utf-8"))["estimate"]
    shares = {row["name"]: row for row in estimate["rows"]}
    # 17 options, 7 intervals and 16 cells.
    assert len(shares) == 40
    # Drawn with 0.95 times 4 / 10, of 5,000: seven standard deviations are 0.05.
    bike = shares["How do you get to work?: bike"]
    assert abs(bike["value"] - 0.38) <= 0.05 + 6.0 * bike["standard_error"]
    assert bike["standard_error"] < 0.01
    cell = shares[
        "How do you get to work?: bike & Is there a park near you?: yes & "
        "Did you move here in the last five years?: yes"
    ]
    truth = 0.38 * (0.95 * 2 / 3) ** 2
    assert abs(cell["value"] - truth) <= 0.05 + 6 * cell["standard_error"]
    numbers = {row["name"]: row for row in estimate["numbers"]}
    days = numbers["How many days a week do you work at home?: mean"]
    # The smaller of two dice from 0 to 5.
    assert abs(days["value"] - 55 / 36) <= 0.15 + 6.0 * days["standard_error"]
    assert (days["unit"], days["standard_error"] < 0.1) == ("days", True)
    # From 16 to 95, whole numbers: 49% are below 55.
    low, high = numbers["How old are you?: 50% are below"]["interval"]
    assert 35 <= low <= 55 <= high <= 75
    # Nine of ten say how old they are: seven standard deviations of 5,000 are 150 people.
    answered = numbers["How old are you?: answered"]
    assert abs(answered["value"] - 4_500) <= 150 + 6 * answered["standard_error"]
    assert answered["unit"] == "people"


def walked(tmp_path: Path, page: str) -> tuple[Path, str]:
    """Runs the commands of a page in an empty folder; returns it, and what they print."""
    text = (PAGES / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    # Services that were begun end with the shell, wherever it stops.
    stop = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"
    script = "\n".join(["set -euo pipefail", stop, *blocks, "wait || true"])
    commands = tmp_path / "commands"
    commands.mkdir()
    installed = commands / "shuffledp"
    installed.write_text(f'#!/bin/sh\nexec {sys.executable} -m shuffledp "$@"\n')
    installed.chmod(0o755)
    folder = tmp_path / "empty"
    folder.mkdir()

    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": f"{commands}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout
