"""The README says how far certificates are above attacks; its commands print that."""

import re
from pathlib import Path

import pytest
from command_line import Command

README = Path(__file__).parents[2] / "README.md"
ROW = re.compile(r"^\|.*\| (\d+(?:\.\d+)?) \| `(--[^`]+)` \|$", re.MULTILINE)
RATIOS = [
    # Densities on the real line take seconds.
    pytest.param(*row, marks=[pytest.mark.slow] if "--mechanism" in row[1] else [])
    for row in ROW.findall(README.read_text(encoding="utf-8"))
]


def test_seven_rows_are_found() -> None:
    assert len(RATIOS) == 7


@pytest.mark.parametrize(("stated", "options"), RATIOS)
def test_the_ratio_is_the_stated_one(
    stated: str, options: str, command: Command
) -> None:
    asked = ["account", *options.split(), "--delta", "1e-6", "--json"]
    record = command(*asked).json()
    ratio = max(
        level["epsilon_central"] / level["epsilon_central_lower"]
        for level in record["levels"]
    )
    digits = len(stated.partition(".")[2])
    assert float(stated) - 10.0**-digits < ratio <= float(stated)
