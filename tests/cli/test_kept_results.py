"""Results are not mixed, not overwritten, and not lost where a file cannot be written."""

from pathlib import Path
from typing import Any

import pytest
from command_line import Command

from shuffledp.errors import DataError

ESTIMATE = ("estimate", "survey.csv", "--level", "epsilon", "--seed", "1", "--value")
ACCOUNT = ("account", "--categories", "3", "--levels", "1:200", "--delta", "1e-6")
TRAIN = ("train", "apes", "--dataset", "digits", "--levels", "1:1", "--rounds", "1")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def full(*_arguments: Any, **_options: Any) -> None:
    raise DataError("Could not write to anything: No space left on device.")


@pytest.mark.slow
@pytest.mark.usefixtures("table")
def test_each_run_has_a_folder_of_its_own(command: Command, tmp_path: Path) -> None:
    command(*ESTIMATE, "three")
    first = contents(tmp_path / "shuffledp-report")

    outcome = command(*ESTIMATE, "smokes", "--statistic", "sum")

    assert "Written to shuffledp-report-2: " in outcome.out
    assert contents(tmp_path / "shuffledp-report") == first
    assert contents(tmp_path / "shuffledp-report-2").keys() == first.keys()


@pytest.mark.slow
@pytest.mark.usefixtures("table")
def test_a_folder_with_files_is_replaced_as_a_whole_or_refused(
    command: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    arguments = (*ESTIMATE, "three", "--output", "out")
    assert command(*arguments).code == 0
    (folder / "guarantee-2.svg").write_text("of an earlier run with two statements")
    (folder / "notes.txt").write_text("mine")
    before = contents(folder)

    refused = command(*arguments)
    assert refused.is_refusal
    assert "out, which has files" in refused.err
    assert "--force" in refused.err
    assert contents(folder) == before

    assert command(*arguments, "--force").code == 0
    assert contents(folder).keys() == before.keys() - {"guarantee-2.svg"}
    assert (folder / "notes.txt").read_text() == "mine"


@pytest.mark.usefixtures("table")
def test_nothing_is_made_where_values_are_refused(
    command: Command, tmp_path: Path
) -> None:
    assert command(*ESTIMATE, "gaps", "--output", "out").is_refusal
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("json", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_full_disk_does_not_take_an_estimate_away(
    json: bool, command: Command, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp.report.files.write_files", full)
    form = ("--json",) if json else ()

    outcome = command(*ESTIMATE, "three", "--output", "out", *form)

    assert outcome.code == 2
    assert outcome.err.startswith("shuffledp: Could not write to anything")
    assert (
        outcome.json()["num_users"] == 2000
        if json
        else "Guarantee after" in outcome.out
    )
    assert table.exists()


def test_a_certificate_replaces_none(command: Command, tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text("an older one")

    refused = command(*ACCOUNT, "--certificate", "old.json")
    assert refused.is_refusal
    assert "old.json, which is there already" in refused.err
    assert (tmp_path / "old.json").read_text() == "an older one"

    assert command(*ACCOUNT, "--certificate", "old.json", "--force").code == 0
    assert command("verify", "old.json").code == 0


@pytest.mark.slow
def test_a_picture_is_what_its_name_says(command: Command, tmp_path: Path) -> None:
    assert command(*ACCOUNT, "--picture", "profile.PNG").code == 0

    assert (tmp_path / "profile.PNG").read_bytes().startswith(b"\x89PNG")
    for name in ("profile.gif", "profile", "nowhere/profile.svg"):
        assert command(*ACCOUNT, "--picture", name).is_refusal
    assert {path.name for path in tmp_path.iterdir()} == {"profile.PNG"}


def test_a_full_disk_does_not_take_a_guarantee_away(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp.cli.account_command.write_paths", full)

    outcome = command(*ACCOUNT, "--certificate", "new.json")

    assert outcome.code == 2
    assert "Guarantee after shuffling" in outcome.out
    assert "Written" not in outcome.out


def test_where_nothing_can_be_written_no_collection_runs(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp.cli.collection_run.check_folder", full)

    outcome = command("quickstart", "--people", "100")

    assert outcome.is_refusal
    assert "No space left on device. Name another folder with --output." in outcome.err


def test_files_in_the_way_of_a_training_are_found_before_it_runs(
    command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "out" / "training.json"
    file.parent.mkdir()
    file.write_text("old")

    outcome = command(*TRAIN, "--output", "out")

    assert outcome.is_refusal
    assert "--force" in outcome.err
    assert [path.read_text() for path in tmp_path.rglob("*.*")] == ["old"]


@pytest.mark.slow
def test_a_full_disk_does_not_take_a_training_away(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp.cli.training_output.write_files", full)

    outcome = command(*TRAIN, "--framework", "non-private", "--output", "out")

    assert outcome.code == 2
    assert "Accuracy" in outcome.out
