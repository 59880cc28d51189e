"""Options and commands of published results: what they print, keep and refuse."""

import re
from pathlib import Path
from typing import Any, NoReturn

import pytest
from command_line import Command

ACCOUNT = ("account", "--categories", "5", "--levels", "1:100", "--delta", "1e-6")
ITEMS = ("plan", "items", "--items", "16", "--set-size", "2")


def test_a_published_bound_that_is_false_falls(command: Command) -> None:
    arguments = ("audit", "accountant", "eapes", "--seconds", "0.2", "--seed", "1")
    shown, document = command(*arguments), command(*arguments, "--json")

    assert shown.code == document.code == 1
    # The first trial of this seed is one.
    assert "The smallest counterexample" in shown.out
    found = document.json()
    assert found["wrong"] > 0
    assert found["smallest"]["exact"] > found["smallest"]["stated"]


def test_what_states_nothing_was_not_tested(command: Command) -> None:
    shown = command("audit", "accountant", "apes", "--seconds", "0.1")

    assert shown.code == 1
    assert "Nothing was tested." in shown.out
    assert command("audit", "accountant", "nobody").is_refusal


def test_an_interrupted_experiment_leaves_nothing_half_written(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_arguments: Any, **_named: Any) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "shuffledp_papers.commands.reproduce_command.replace", interrupt
    )

    outcome = command("reproduce", "eapes-average", "--output", "out")

    assert (outcome.code, outcome.err) == (130, "shuffledp: stopped.\n")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("folder", "arguments"),
    [
        ("out", ("reproduce", "apes-fig9", "--output", "out")),
        ("out", ("claims", "--case", "V6", "--output", "out")),
        (".", ("claims", "--document", "page.md")),
        ("results", ("reproduce", "--output", "results", "--document", "page.md")),
    ],
)
def test_files_in_the_way_are_found_before_anything_runs(
    folder: str, arguments: tuple[str, ...], command: Command, tmp_path: Path
) -> None:
    taken = tmp_path / folder
    taken.mkdir(exist_ok=True)
    for name in ("apes-fig9.svg", "court.csv"):
        (taken / name).write_text("old")
    (tmp_path / "page.md").write_text("old")

    outcome = command(*arguments)

    assert outcome.is_refusal
    assert "--force" in outcome.err
    assert {path.read_text() for path in tmp_path.rglob("*.*")} == {"old"}


@pytest.mark.parametrize("number", ["\uff11\uff10", "1_00"])
def test_a_selection_in_other_digits_is_refused(number: str, command: Command) -> None:
    outcome = command(*ACCOUNT, "--s-apes", f"2/{number}")

    assert outcome.is_refusal
    assert "Expected" in outcome.err


@pytest.mark.slow
def test_what_the_paper_publishes_stands_beside_it(command: Command) -> None:
    asked = (
        "plan",
        "items",
        "--items",
        "16",
        "--set-size",
        "1",
        "--targets",
        "0.5:500",
    )

    outcome = command(*asked, "--published", "--blanket", "1")
    answer = command(*asked, "--published", "--json").json()

    assert outcome.code == 0
    assert "As Wang et al. (2025) publish it" in outcome.out
    assert "Everybody sends 1 blanket messages" in outcome.out
    assert "Not certified." in outcome.out
    published = answer["published"]
    assert published["certified"] is False
    (target,) = published["targets"]
    assert target["delta_stated"] <= 1e-6 * (1.0 + 1e-9)
    assert target["delta_at_least"] <= target["delta_proven"]
    assert "published" not in command(*asked, "--json").json()


@pytest.mark.slow
def test_a_published_plan_without_blanket_messages_is_refused(command: Command) -> None:
    outcome = command(*ITEMS, "--targets", "0.5:100", "--published", "--blanket", "0")

    assert outcome.is_refusal
    assert "0 < m" in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 55, 79])
def test_published_numbers_are_readable_in_narrow_terminals(
    command: Command, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    account = ("account", "--categories", "17", "--levels", "0.5:2500,2:2500")
    plan = ("plan", "items", "--items", "16", "--set-size", "1", "--targets", "1:5000")
    for arguments in (
        (*account, "--delta", "1e-6", "--method", "all"),
        (*plan, "--published", "--blanket", "1"),
    ):
        monkeypatch.delenv("COLUMNS", raising=False)
        wide = command(*arguments).out
        monkeypatch.setenv("COLUMNS", str(columns))
        narrow = command(*arguments).out

        assert "…" not in narrow
        assert max(map(len, narrow.splitlines())) <= columns
        number = re.compile(r"\d[\d.,e+-]*\d")
        assert sorted(number.findall(narrow)) == sorted(number.findall(wide))


@pytest.mark.slow
def test_a_level_that_is_not_private_is_called_that(command: Command) -> None:
    shown = command(
        "account", "--categories", "4", "--levels", "1:300,50:300", "--delta", "1e-6",
        "--method", "all",
    )  # fmt: skip

    assert "level 50 is not private by any standard" in " ".join(shown.out.split())
