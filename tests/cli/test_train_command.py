"""`shuffledp train`: tables, JSON and files, on scikit-learn's small digits."""

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import Command

pytest.importorskip("sklearn", reason="Needs the extra federated.")

DIGITS = ("--dataset", "digits", "--levels", "4:0.5,6:0.5", "--seed", "1")
# One bit per coordinate is the quickest to certify.
APES = ("train", "apes", *DIGITS, "--framework", "one-bit-apes", "--rounds", "2")
SPARSE = ("train", "apes", *DIGITS, "--levels", "6:1", "--rounds", "1")
SGD = ("train", "shuffled-sgd", *DIGITS, "--epochs", "2", "--clients", "20")


def test_without_a_framework_help_is_shown(command: Command) -> None:
    outcome = command("train", "--help")

    assert outcome.code == 0
    assert all(name in outcome.out for name in ("apes", "shuffled-sgd"))


@pytest.mark.slow
def test_accuracy_and_guarantee_are_shown(command: Command) -> None:
    outcome = command(*APES)

    assert outcome.code == 0
    assert outcome.err == ""
    words = " ".join(outcome.out.split())
    assert "epsilon after 2 rounds of 650 coordinates" in words
    assert "certified ┃ attack" in words
    assert "unproven" in words
    assert "After the first round, the largest central epsilon of anybody" in words


@pytest.mark.slow
def test_json_holds_settings_accuracy_and_certified_numbers(
    command: Command, tmp_path: Path
) -> None:
    record = command(*APES, "--json", "--output", "out").json()
    file = tmp_path / "out" / "training.json"

    assert json.loads(file.read_text()) == record
    assert record["settings"]["clients"] == 479
    assert record["settings"]["rounds"] == 2
    assert len(record["accuracy"]) == 2
    # Guessing is right in a tenth of the cases.
    assert record["accuracy"][-1] > 0.5
    one, both = record["after_one_round"]["certificate"], record["certificate"]
    assert (one["rounds"], both["rounds"]) == (1, 2)
    assert both["protocol"]["parameters"]["coordinates"] == 650
    local = record["local"]["levels"]
    for first, second, alone in zip(one["levels"], both["levels"], local, strict=True):
        assert 0.0 < first["epsilon_central"] < second["epsilon_central"]
        assert second["epsilon_central_lower"] <= second["epsilon_central"]
        assert second["epsilon_central"] <= alone["epsilon_all"]
    assert "central" not in json.dumps(record["local"])
    # Nothing is stated of one bit.
    assert [level["training"] for level in record["stated"]] == [None, None]

    assert command("verify", "out/training.json").code == 0
    record["certificate"]["levels"][0]["epsilon_central"] = 0.01
    file.write_text(json.dumps(record))
    assert command("verify", "out/training.json").code == 1


@pytest.mark.slow
def test_seeds_make_it_repeatable(command: Command) -> None:
    first, again, other = (
        command(*APES, "--framework", "pldp", "--seed", seed, "--json").out
        for seed in ("1", "1", "2")
    )

    assert first == again
    assert json.loads(first)["accuracy"] != json.loads(other)["accuracy"]


@pytest.mark.slow
def test_picture_and_record_are_written(command: Command, tmp_path: Path) -> None:
    outcome = command(*APES, "--framework", "non-private", "--output", "some/where")

    folder = tmp_path / "some" / "where"
    assert outcome.code == 0
    assert "Written to" in outcome.out
    assert {path.name for path in folder.iterdir()} == {
        "accuracy.svg",
        "training.json",
    }
    picture = ElementTree.fromstring((folder / "accuracy.svg").read_text())
    assert picture.tag.endswith("svg")
    record = json.loads((folder / "training.json").read_text())
    assert record["certificate"] is None
    assert record["local"] is None
    assert record["note"].startswith("No privacy")


@pytest.mark.slow
def test_nothing_is_called_central_where_nothing_is_proven(command: Command) -> None:
    kept, top = (
        command(*SPARSE, "--framework", framework)
        for framework in ("s-apes-threshold", "s-apes")
    )

    assert "central," in kept.out
    assert "central," not in top.out
    assert "No central guarantee is certified" in top.out
    assert "largest local epsilon" in top.out


def test_shuffled_sgd_shows_what_is_promised(command: Command, tmp_path: Path) -> None:
    shown = command(*SGD)
    record = command(*SGD, "--json", "--output", "sgd").json()

    assert shown.code == 0
    assert "all of a client" in shown.out
    assert record["settings"]["framework"] == "shuffled-sgd"
    assert len(record["test_accuracy"]) == 2
    assert [level["num_clients"] for level in record["guarantee"]["levels"]] == [10, 10]
    assert (tmp_path / "sgd" / "accuracy.svg").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        ("--levels", "apes/normal"),
        ("--levels", "4:0.5"),
        ("--clients", "1"),
        ("--clients", "5000"),
        ("--rounds", "0"),
        ("--clip", "0"),
        ("--clip", "nan"),
        ("--delta", "1"),
        ("--learning-rate", "0"),
        ("--learning-rate", "nan"),
        ("--local-rate", "-1"),
        ("--proximal", "-1"),
        ("--framework", "top-b"),
        ("--share", "0.1"),
        ("--framework", "non-private", "--share", "0.1"),
        ("--framework", "s-apes", "--share", "0"),
        ("--dataset", "letters"),
    ],
    ids=lambda wrong: " ".join(wrong),
)
def test_settings_that_make_no_sense_are_refused_before_the_training(
    command: Command, wrong: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp.cli.training_rounds.train", None)

    assert command(*APES, *wrong).is_refusal


def test_a_folder_that_cannot_be_written_to_is_refused_at_once(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").write_text("a file")
    monkeypatch.setattr("shuffledp.cli.training_rounds.train", None)

    outcome = command(*APES, "--output", "taken")

    assert outcome.is_refusal
    assert "taken" in outcome.err


def test_a_device_is_no_folder_and_is_named(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp.cli.training_rounds.train", None)

    outcome = command(*APES, "--output", os.devnull)

    assert outcome.is_refusal
    assert os.devnull in outcome.err


def test_public_components_are_what_certifies_shuffled_sgd(command: Command) -> None:
    default, public = (
        command(*SGD, "--json", *flag).json() for flag in ((), ("--public-components",))
    )

    assert default["guarantee"]["certified"] is False
    assert "--public-components" in default["guarantee"]["note"]
    assert public["guarantee"]["certified"] is True
    assert public["settings"]["public_components"] is True


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (("--learning-rate", "1e38"), "diverged"),
        (("--clip", "1e39"), "clip from 1e-30 to 1e+30"),
        (("--clip", "1e-50"), "clip from 1e-30 to 1e+30"),
    ],
    ids=["rate", "large clip", "small clip"],
)
def test_shuffled_sgd_beyond_single_precision_is_refused(
    command: Command, wrong: tuple[str, str], reason: str
) -> None:
    outcome = command(*SGD, *wrong)

    assert outcome.is_refusal
    assert reason in outcome.err


def test_local_training_that_diverges_is_refused(command: Command) -> None:
    outcome = command(
        *APES, "--framework", "non-private", "--proximal", "1e300", "--local-steps", "3"
    )  # fmt: skip

    assert outcome.is_refusal
    assert "diverged" in outcome.err


def test_huge_published_figures_are_short(command: Command) -> None:
    outcome = command(*SGD, "--levels", "700:1", "--epochs", "1")

    assert outcome.code == 0
    # About e^700.
    assert "Published, central: infinite, whoever" in " ".join(outcome.out.split())
