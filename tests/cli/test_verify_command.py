"""`shuffledp account --certificate`, `--picture` and `shuffledp verify`."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from command_line import Command

LAPLACE = ("account", "--mechanism", "laplace", "--levels", "0.5:50,1:50")
FREQUENCY = ("account", "--categories", "5", "--levels", "0.5:50,1:50")


@pytest.mark.slow
def test_a_certificate_is_written_and_holds(command: Command) -> None:
    command(*LAPLACE, "--delta", "1e-4", "--absent", "3", "--certificate", "c.json")

    outcome = command("verify", "c.json")

    assert outcome.code == 0
    assert outcome.out.startswith("Read: all of c.json.\nThe certificate holds")


def test_a_forged_certificate_around_an_honest_one_is_refused(command: Command) -> None:
    command(*FREQUENCY, "--delta", "1e-4", "--certificate", "c.json")
    honest = json.loads(Path("c.json").read_text())
    forged = json.loads(Path("c.json").read_text())
    for level in forged["levels"]:
        level["epsilon_central"] = level["epsilon_central_lower"] = 1e-9
    Path("c.json").write_text(json.dumps({**forged, "certificate": honest}))

    outcome, for_machines = (
        command("verify", "c.json"),
        command("verify", "c.json", "--json"),
    )

    assert outcome.is_refusal
    assert for_machines.is_refusal
    assert "keys that do not belong to it" in outcome.err


def test_a_certificate_that_promises_more_does_not_hold(command: Command) -> None:
    command(*FREQUENCY, "--delta", "1e-4", "--certificate", "c.json")
    record = json.loads(Path("c.json").read_text())
    record["levels"][1]["epsilon_central"] *= 0.99
    Path("c.json").write_text(json.dumps(record))

    outcome = command("verify", "c.json")

    assert outcome.code == 1
    assert "is not proven" in outcome.out


def test_two_numbers_under_one_key_are_refused(command: Command) -> None:
    command(*FREQUENCY, "--delta", "1e-4", "--certificate", "c.json")
    text = Path("c.json").read_text()
    true = '"epsilon_central": '
    Path("c.json").write_text(text.replace(true, f"{true}1e-9, {true}", 1))

    outcome = command("verify", "c.json")

    assert outcome.is_refusal
    assert outcome.err == (
        "shuffledp: Expected every key once, got 'epsilon_central' twice.\n"
    )


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(("factor", "code"), [(1.0, 0), (0.99, 1)])
def test_machines_are_told_what_was_recomputed(
    command: Command, factor: float, code: int
) -> None:
    command(*FREQUENCY, "--delta", "1e-4", "--certificate", "c.json")
    written = json.loads(Path("c.json").read_text())
    record = json.loads(Path("c.json").read_text())
    record["levels"][0]["epsilon_central"] *= factor
    Path("c.json").write_text(json.dumps(record))

    outcome = command("verify", "c.json", "--json")

    answer = outcome.json()
    assert outcome.code == code
    assert answer["holds"] is (code == 0)
    assert (answer["file"], answer["parts"]) == ("c.json", ["all of it"])
    assert answer["recomputed"] == written
    assert len(answer["problems"]) == code
    assert all("epsilon_central" in problem for problem in answer["problems"])


@pytest.mark.slow
def test_people_in_a_file_are_checked_against_the_digest(command: Command) -> None:
    budgets = np.linspace(0.5, 1.0, 10_050)
    np.save("people.npy", budgets)
    people = ("--budgets", "people.npy")
    command("account", "--categories", "5", *people, "--delta", "1e-6",
            "--certificate", "c.json")  # fmt: skip

    assert command("verify", "c.json").is_refusal
    assert command("verify", "c.json", *people).code == 0
    np.save("people.npy", budgets[1:])
    assert command("verify", "c.json", *people).is_refusal


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"format": "x"}', '{"a": NaN}', "[" * 100_000]
)
def test_other_files_are_refused(command: Command, text: str) -> None:
    Path("c.json").write_text(text)

    assert command("verify", "c.json").is_refusal
    assert command("verify", "missing.json").is_refusal


@pytest.mark.slow
def test_a_picture_of_the_profiles_is_drawn(command: Command) -> None:
    outcome = command(*FREQUENCY, "--delta", "1e-4", "--picture", "profile.svg")

    assert outcome.code == 0
    text = Path("profile.svg").read_text()
    ElementTree.fromstring(text)
    assert "level 0.5" in text
    assert "level 1" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("--mechanism", "subset-selection", "--categories", "5"),
        ("--mechanism", "subset-selection(categories=5, subset_size=5)"),
        ("--mechanism", "local-hashing(buckets=4)", "--categories", "5"),
        ("--mechanism", "laplace(low=1, high=0)"),
        ("--mechanism", "laplace", "--categories", "5"),
        ("--mechanism", "gaussian(delta_local=0)"),
        ("--mechanism", "gaussian(calibration=loose)"),
        ("--mechanism", "clip-laplace(clip=nan)"),
        ("--mechanism", "declared-ratios"),
        ("--mechanism", "laplace(low=0"),
        ("--mechanism", "laplace(low=0) and more"),
        ("--mechanism", "laplace(low=0, low=0)"),
        ("--mechanism", "laplace(low)"),
        ("--mechanism", "laplace(depth=2)"),
        ("--mechanism", "laplace(mode=strict)"),
        ("--mechanism", "laplace(mode=agnostic, mode=agnostic)"),
        ("--mechanism", "laplace(low=1e-400)"),
        ("--mechanism", "kary-response(categories=5)", "--categories", "5"),
        ("--mechanism", ""),
        ("--mechanism", "declared-ratios(q=0.5)"),
        ("--mechanism", "laplace", "--absent", "100"),
        ("--mechanism", "laplace", "--absent", "-1%"),
        ("--mechanism", "laplace", "--rounds", "0"),
        ("--mechanism", "laplace", "--report-levels", "3"),
        ("--mechanism", "laplace", "--certificate", "/proc/none/c.json"),
    ],
)
def test_bad_options_are_refused(command: Command, arguments: tuple[str, ...]) -> None:
    outcome = command("account", *arguments, "--levels", "1:100", "--delta", "1e-6")

    assert outcome.is_refusal


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("--mechanism", "one-bit"),
        ("--mechanism", "subset-selection(categories=9, subset_size=3)"),
        ("--mechanism", "hadamard-response", "--categories", "9"),
        ("--mechanism", "local-hashing(buckets=3)", "--categories", "9"),
        ("--mechanism", "clip-laplace(clip=0.5)"),
        ("--mechanism", "gaussian(delta_local=1e-8)"),
        ("--mechanism", "gaussian(calibration=classical)"),
        ("--mechanism", "declared-ratios(q=2.8, beta=0.4)"),
        ("--mechanism", "laplace(mode=stratified)"),
        ("--mechanism", "laplace", "--rounds", "3", "--coordinates", "2"),
        ("--mechanism", "laplace", "--absent", "10%"),
    ],
)
def test_every_mechanism_has_an_answer(
    command: Command, arguments: tuple[str, ...]
) -> None:
    people = ("--levels", "0.5:500,1:500", "--delta", "1e-6", "--json")

    answer = command("account", *arguments, *people).json()

    for level in answer["levels"]:
        assert 0 <= level["epsilon_central_lower"] <= level["epsilon_central"]


def test_a_column_without_its_table_is_refused(command: Command) -> None:
    outcome = command("verify", "certificate.json", "--column", "epsilon")

    assert outcome.is_refusal
    assert "Expected --column with --budgets" in outcome.err
