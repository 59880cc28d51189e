"""A year of a task, with all that goes wrong: nobody is lost, and the ledger is right."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.few_cases(0)
@pytest.mark.slow
def test_the_ledger_of_a_year_is_what_was_published() -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "year"], capture_output=True, text=True, check=False
    )

    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert said.count("published  ") == 8, said
    assert said.count("skipped  ") == 3, said
    assert said.count("withheld  ") == 1, said
