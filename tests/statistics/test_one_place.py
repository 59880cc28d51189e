"""Few files name a statistic: its folder, the catalog and the public names."""

import re
from pathlib import Path

import pytest

import shuffledp
from shuffledp.statistics.statistic_catalog import STATISTICS, SURVEYS, statistic_named

ROOT = Path(shuffledp.__file__).parent
# Beside it in the repository.
SERVICES = ROOT.parents[1] / "services" / "src" / "shuffledp_services"
ROOMS = (
    "wire",
    "collection",
    "device",
    "shuffler",
    "analyst",
    "operator",
    "participant",
)
# The folder of a statistic - protocol, rehearsal, truth, survey -, its line in the catalog,
# and the public names.
MOST_FILES = 6


def files_that_name(statistic: str) -> set[str]:
    named = re.compile(rf"[\"']{statistic}[\"']|statistics\.{statistic}\b")
    return {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if named.search(path.read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize("statistic", ["sum", "strings"])
def test_few_files_name_a_statistic(statistic: str) -> None:
    files = files_that_name(statistic)

    assert "statistics/statistic_catalog.py" in files
    assert len(files) <= MOST_FILES, files


def test_services_and_reports_name_no_statistic() -> None:
    for statistic in STATISTICS:
        # A mean and a sum are words of other things, too; in quotes they are statistics.
        quoted = re.compile(rf"[\"']{statistic}[\"']")
        for folder in (*(SERVICES / room for room in ROOMS), ROOT / "report"):
            for path in folder.rglob("*.py"):
                assert not quoted.search(path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("name", STATISTICS)
def test_the_catalog_knows_a_statistic_by_its_own_name(name: str) -> None:
    assert statistic_named(name).words.name == name


def test_what_people_can_be_asked_about_is_a_statistic() -> None:
    assert set(SURVEYS) <= set(STATISTICS)
