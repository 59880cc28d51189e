"""`shuffledp reproduce`: tables and pictures of the papers, whole or not at all."""

import csv
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import Command

from shuffledp_papers.figures.experiments import EXPERIMENTS
from shuffledp_papers.figures.result import Effort, Experiment, Result

QUICK = ("reproduce", "apes-fig9", "--repetitions", "50")


def test_without_a_name_all_are_listed(command: Command) -> None:
    outcome = command("reproduce")

    assert outcome.code == 0
    listed = [line.split()[0] for line in outcome.out.splitlines() if line[0] == " "]
    assert sorted(listed) == sorted(EXPERIMENTS)


@pytest.mark.slow
def test_table_and_picture_are_written(command: Command, tmp_path: Path) -> None:
    outcome = command(*QUICK, "--output", "some/where")

    folder = tmp_path / "some" / "where"
    assert outcome.code == 0
    assert "Figure 9: variance of a message" in outcome.out
    assert {path.name for path in folder.iterdir()} == {
        "apes-fig9.csv",
        "apes-fig9.json",
        "apes-fig9.svg",
    }
    rows = list(csv.DictReader((folder / "apes-fig9.csv").read_text().splitlines()))
    assert len(rows) == 20
    assert {"C", "epsilon", "Clip-Laplace", "simulated"} <= set(rows[0])
    picture = ElementTree.fromstring((folder / "apes-fig9.svg").read_text())
    assert picture.tag.endswith("svg")


@pytest.mark.slow
def test_seeds_make_it_repeatable(command: Command, tmp_path: Path) -> None:
    texts = []
    for seed in ("1", "1", "2"):
        command(*QUICK, "--seed", seed, "--force")
        table = tmp_path / "shuffledp-report" / "apes-fig9.csv"
        texts.append(table.read_text())

    assert texts[0] == texts[1] != texts[2]


def test_a_folder_that_cannot_be_written_to_is_refused_at_once(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(_effort: Effort) -> Result:
        raise AssertionError("Nothing should be computed.")

    monkeypatch.setitem(EXPERIMENTS, "apes-fig9", Experiment("", run, 2))
    (tmp_path / "file").write_text("mine")

    for folder in ("file", "file/inside", "x" * 300):
        outcome = command(*QUICK, "--output", folder)
        assert outcome.is_refusal

    assert (tmp_path / "file").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("nothing",),
        ("apes-fig9", "--repetitions", "1"),
        ("apes-fig9", "--repetitions", "-3"),
        ("apes-fig9", "--repetitions", "many"),
        ("apes-fig9", "--seed", "-1"),
        ("apes-fig9", "apes-fig10"),
        ("apes-fig9", "--quick"),
        ("apes-fig9", "--document", "page.md"),
        ("testing-fig3", "--repetitions", "5"),
        ("--document", "page.md", "--output", "nowhere"),
        ("--quick",),
        ("--repetitions", "5"),
        ("--seed", "1"),
        ("--document", "page.md", "--seed", "1"),
    ],
)
def test_bad_input_is_refused(
    command: Command, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    assert command("reproduce", *arguments).is_refusal
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_way_is_found_before_anything_runs_or_is_written(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(_effort: Effort) -> Result:
        raise AssertionError("Nothing should be computed.")

    monkeypatch.setitem(EXPERIMENTS, "apes-fig9", Experiment("", run, 2))
    folder = tmp_path / "results"
    (folder / "apes-fig9.json").mkdir(parents=True)
    (folder / "apes-fig9.csv").write_text("old")

    assert command(*QUICK, "--output", "results").is_refusal
    assert (folder / "apes-fig9.csv").read_text() == "old"
    assert len(list(folder.iterdir())) == 2
