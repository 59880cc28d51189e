"""Where time is short, every long test runs on some of its cases."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from fewer_cases import spread

TESTS = """
import pytest

@pytest.mark.slow
@pytest.mark.parametrize("case", range(7))
def test_long(case):
    print("long", case)

@pytest.mark.parametrize("case", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
def test_short(case):
    print("short", case)

@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    "case", [0, 1, 2, 3, pytest.param(4, marks=pytest.mark.slow)]
)
def test_few(case):
    print("few", case)
"""
CONFTEST = """
import pytest
from fewer_cases import mark_further_cases

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    mark_further_cases(items)
"""
SHORT = {("short", 0), ("short", 1)}
FEW = {("few", 0), ("few", 3)}


@pytest.mark.parametrize(
    ("most", "kept"),
    [
        (0, ""),
        (1, "a"),
        (2, "ag"),
        (3, "adg"),
        (4, "aceg"),
        (7, "abcdefg"),
        (9, "abcdefg"),
    ],
)
def test_cases_are_evenly_spaced_from_the_first_to_the_last(
    most: int, kept: str
) -> None:
    assert "".join(spread("abcdefg", most)) == kept


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    ("option", "ran"),
    [
        (
            (),
            {("long", case) for case in range(7)}
            | {("few", case) for case in range(5)}
            | {("short", 2)},
        ),
        (("--cases=2",), {("long", 0), ("long", 6), ("short", 2)}),
        (("--cases=1",), {("long", 0), ("short", 2)}),
        (("-m", "not slow"), set()),
    ],
)
def test_every_slow_test_and_every_quick_case_is_run(
    tmp_path: Path, option: tuple[str, ...], ran: set[tuple[str, int]]
) -> None:
    assert cases_run(tmp_path, *option) == ran | SHORT | FEW


def test_quick_tests_run_on_as_many_cases_as_are_asked_for(tmp_path: Path) -> None:
    one, both = (
        cases_run(tmp_path, "-m", "not slow", f"--quick-cases={most}")
        for most in (1, 2)
    )

    assert one == {("short", 0), ("few", 0)}
    assert both == SHORT | FEW


def cases_run(folder: Path, *option: str) -> set[tuple[str, int]]:
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "pytest.ini").write_text(
        "[pytest]\nmarkers =\n  slow\n  few_cases\n", encoding="utf-8"
    )

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-s", "-p", "fewer_cases", *option],
        cwd=folder,
        env={"PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=True,
    )

    words = done.stdout.replace(".", " ").split()
    return {
        (name, int(case))
        for name, case in itertools.pairwise(words)
        if name in ("long", "short", "few")
    }
