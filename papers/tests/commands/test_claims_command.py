import csv
import json
from pathlib import Path

import pytest
from command_line import Command

from shuffledp import __version__
from shuffledp_papers.court.search import Search
from shuffledp_papers.court.small.shrink import printed
from shuffledp_papers.court.stated_claim import CLAIMS, counts_of_verdicts


def test_one_case_is_a_table_and_json(command: Command) -> None:
    shown, document = (
        command("claims", "--case", "v10"),
        command("claims", "--case", "V10", "--json"),
    )

    assert shown.code == document.code == 0
    assert "false under every reading" in shown.out
    (case,) = document.json()["court"]
    assert case["case"] == "V10"
    assert case["exact"] == 9 / 128
    assert case["verdict"] == "violated"
    assert case["certificate_holds"] is True
    assert case["judgment"] == "false under every reading"
    assert [row["name"] for row in document.json()["statements"]] == [
        "wang2024-reduction",
        "segmented-theorem-2",
    ]
    for words in ("reading: ", "adversary: ", "neighbors: ", "charitable reading: "):
        assert words in shown.out


def test_statements_are_listed_without_being_tried(command: Command) -> None:
    shown, rows = command("claims", "--list"), command("claims", "--list", "--json")

    assert shown.code == rows.code == 0
    assert rows.json()["tried"] == 0
    assert len(rows.json()["statements"]) == len(CLAIMS)
    words = " ".join(shown.out.split())
    for claim in CLAIMS:
        assert f"{claim.name} ({claim.source}): {claim.verdict}." in words
        assert f"Adversary: {claim.adversary}." in words
    errors = counts_of_verdicts()["false under every reading"]
    assert f"{errors} errors are refuted:" in words
    assert command("claims", "--list", "--case", "V8").is_refusal


def test_a_case_that_is_no_longer_run_has_its_record(
    command: Command, tmp_path: Path
) -> None:
    shown = command("claims", "--case", "v5")
    document = command("claims", "--case", "V5", "--json").json()

    assert shown.code == 0
    assert "verdict: false as printed, a slip" in shown.out
    assert document["court"] == []
    assert [row["name"] for row in document["statements"]] == [
        "apes-theorem-4-appendix"
    ]
    for option in (("--python",), ("--shrink",), ("--output", "out")):
        refused = command("claims", "--case", "V5", *option)
        assert refused.is_refusal
        assert "V5 is no longer run" in refused.err
    assert list(tmp_path.iterdir()) == []


def test_results_are_written(command: Command, tmp_path: Path) -> None:
    outcome = command("claims", "--case", "V6", "--output", "found")

    assert outcome.code == 0
    text = (tmp_path / "found/court.csv").read_text(encoding="utf-8")
    (row,) = csv.DictReader(text.splitlines())
    assert row["case"] == "V6"
    assert row["epsilon"] == row["certified"] == ""
    assert json.loads((tmp_path / "found/court.json").read_text())["tried"] == 1


def test_numbers_are_in_full_for_machines_with_the_version(
    command: Command, tmp_path: Path
) -> None:
    document = command("claims", "--case", "V8c", "--json", "--output", "found").json()

    (case,) = document["court"]
    text = (tmp_path / "found/court.csv").read_text(encoding="utf-8")
    (row,) = csv.DictReader(text.splitlines())
    assert document["version"] == __version__
    assert document["tried"] == 1
    for column in ("epsilon", "claimed", "exact", "accountant", "certified"):
        assert float(row[column]) == case[column]
        assert len(row[column]) >= 7


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("columns", [30, 60, 99, 100, 140])
def test_no_width_cuts_a_number(
    command: Command, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))

    shown = command("claims", "--case", "V7").out

    # Epsilon, claim, attack, the accountant's, and what is certified.
    for number in ("0.01004", "1e-05", "2.61e-05", "2.57e-05", "3.8e-05"):
        assert number in shown
    assert "…" not in shown


def test_five_lines_of_python_are_printed_and_run(command: Command) -> None:
    outcome = command("claims", "--case", "v8-2", "--python")

    assert outcome.code == 0
    claimed, exact = printed(outcome.out)
    assert claimed < exact
    assert command("claims", "--python").is_refusal
    assert command("claims", "--case", "C1", "--python").is_refusal
    assert command("claims", "--case", "V6", "--document", "page.md").is_refusal


def test_the_fewest_people_are_searched_for_again(command: Command) -> None:
    found, known = (
        command("claims", "--case", "V10b", option)
        for option in ("--shrink", "--python")
    )

    assert found.code == known.code == 0
    assert found.out == known.out
    assert command("claims", "--shrink").is_refusal
    assert command("claims", "--case", "V6", "--shrink").is_refusal


@pytest.mark.slow
def test_a_short_search_lists_the_worst_of_each_bound(command: Command) -> None:
    found = command("claims", "--search", "0.5", "--seed", "3", "--json")

    assert found.code == 0
    assert {"bound", "seed", "trial", "ratio"} <= set(found.json()["search"][0])
    assert "Random search" in command("claims", "--search", "0.5").out


def test_unknown_cases_and_double_questions_are_refused(command: Command) -> None:
    assert command("claims", "--case", "V0").is_refusal
    assert command("claims", "--case", "V6", "--search", "1").is_refusal


@pytest.mark.parametrize(
    "options",
    [
        ("--search", "nan"),
        ("--search", "inf"),
        ("--search", "1e400"),
        ("--search", "1e-300"),
        ("--search", "0"),
        ("--search", "-1"),
        ("--search", "2e6"),
        ("--seed", "3"),
        ("--case", "V8", "--seed", "3"),
        ("--case", "V8", "--python", "--json"),
        ("--case", "V8", "--python", "--output", "x"),
        ("--case", "V8", "--shrink", "--json"),
    ],
)
def test_what_would_be_ignored_or_endless_is_refused(
    command: Command, tmp_path: Path, options: tuple[str, ...]
) -> None:
    assert command("claims", *options).is_refusal
    assert list(tmp_path.iterdir()) == []


def test_a_search_without_findings_says_so(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "shuffledp_papers.commands.claims_command.search",
        lambda *, seed, **_: Search(seed, trials=1),
    )

    found = command("claims", "--search", "1")

    assert found.code == 0
    assert "1 trial, " in found.out
    assert "No bound speaks of what was tried." in found.out


def test_it_is_said_that_a_program_is_of_fewer_people(command: Command) -> None:
    other, own = (
        command("claims", "--case", name, "--python") for name in ("V8", "V8-small")
    )

    assert other.err == "V8-small stands for V8: fewer people or coordinates\n"
    assert own.err == ""
    assert other.out == own.out
    # Verdict, reading and adversary stand above the five lines.
    lines = other.out.splitlines()
    assert [line.startswith("#") for line in lines] == [True] * 3 + [False] * 5
    assert lines[1].startswith("# Reading: ")
    assert lines[2].startswith("# Adversary: ")
