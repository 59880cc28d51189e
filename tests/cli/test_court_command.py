import csv
import json
from pathlib import Path

from conftest import Command


def test_one_case_is_a_table_and_json(command: Command) -> None:
    shown, document = (
        command("court", "--case", "v10"),
        command("court", "--case", "V10", "--json"),
    )

    assert shown.code == document.code == 0
    assert "violated" in shown.out
    (case,) = document.json()["court"]
    assert case["case"] == "V10"
    assert case["exact"] == 9 / 128
    assert case["verdict"] == "violated"
    assert case["certificate_holds"] is True


def test_results_are_written(command: Command, tmp_path: Path) -> None:
    outcome = command("court", "--case", "V6", "--output", "found")

    assert outcome.code == 0
    text = (tmp_path / "found/court.csv").read_text(encoding="utf-8")
    (row,) = csv.DictReader(text.splitlines())
    assert row["case"] == "V6"
    assert row["epsilon"] == row["certified"] == ""
    assert json.loads((tmp_path / "found/court.json").read_text())["tried"] == 1


def test_a_short_search_lists_the_worst_of_each_bound(command: Command) -> None:
    found = command("court", "--search", "0.5", "--seed", "3", "--json")

    assert found.code == 0
    assert {"bound", "seed", "trial", "ratio"} <= set(found.json()["search"][0])
    assert "Random search" in command("court", "--search", "0.5").out


def test_unknown_cases_and_double_questions_are_refused(command: Command) -> None:
    assert command("court", "--case", "V0").is_refusal
    assert command("court", "--case", "V1", "--search", "1").is_refusal
