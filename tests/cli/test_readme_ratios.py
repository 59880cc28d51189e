"""The README says how far certificates are above attacks; its commands print that."""

import re
import shlex
from pathlib import Path

import pytest
from command_line import Command

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
HEAD = "| certificate over attack |"
ROW = re.compile(r"^\|.*\| (\d+(?:\.\d+)?) \| `(--[^`]+)` \|$", re.MULTILINE)
RATIOS = [
    # Densities on the real line take seconds.
    pytest.param(*row, marks=[pytest.mark.slow] if "--mechanism" in row[1] else [])
    for row in ROW.findall(README)
]


def test_every_row_of_the_table_has_a_ratio_and_options() -> None:
    table = README.partition(HEAD)[2].partition("\n\n")[0]
    # Two lines are no rows: the end of the head, and the rule below it.
    assert len(RATIOS) == len(table.splitlines()) - 2 > 0


@pytest.mark.parametrize(("stated", "options"), RATIOS)
def test_the_ratio_is_the_stated_one(
    stated: str, options: str, command: Command
) -> None:
    asked = ["account", *shlex.split(options), "--delta", "1e-6", "--json"]
    record = command(*asked).json()
    ratio = max(
        level["epsilon_central"] / level["epsilon_central_lower"]
        for level in record["levels"]
    )
    digits = len(stated.partition(".")[2])
    assert float(stated) - 10.0**-digits < ratio <= float(stated)
