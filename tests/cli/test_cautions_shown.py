"""Wherever a small promise is printed, a sentence says so."""

from pathlib import Path

import pytest
from command_line import Command

NOBODY = "level 50 is not private by any standard"


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("account", "--categories", "4", "--levels", "1:300,50:300", "--delta", "1e-6"),
        pytest.param(
            ("plan", "mean", "--low", "0", "--high", "1", "--levels", "50:300"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_levels_that_are_not_private_are_called_that(
    command: Command, arguments: tuple[str, ...]
) -> None:
    assert NOBODY in flat(command(*arguments).out)


def test_an_ordinary_account_has_no_caution(command: Command) -> None:
    outcome = command(
        "account", "--categories", "4", "--levels", "1:3000", "--delta", "1e-6"
    )

    assert outcome.code == 0
    assert "Caution" not in outcome.out


@pytest.mark.slow
@pytest.mark.usefixtures("table")
def test_the_report_and_the_terminal_say_the_same(
    command: Command, tmp_path: Path
) -> None:
    outcome = command(
        "estimate", "survey.csv", "--value", "three", "--seed", "1",
        "--levels", "0.5:0.998,50:0.002",
    )  # fmt: skip

    page = flat((tmp_path / "shuffledp-report" / "report.html").read_text())
    for words in (NOBODY, "fewer than 10 people are at level 50"):
        assert words in flat(outcome.out)
        assert words in page


@pytest.mark.parametrize(
    ("arguments", "epsilon"),
    [
        # One bit per coordinate is the quickest to certify.
        (
            ("apes", "--rounds", "1", "--framework", "one-bit-apes"),
            "central epsilon of 21.6",
        ),
        (("apes", "--rounds", "1", "--framework", "pldp"), "local epsilon of"),
        (("shuffled-sgd", "--epochs", "1"), "local epsilon of"),
    ],
)
@pytest.mark.slow
def test_a_training_that_keeps_nothing_says_so(
    command: Command, arguments: tuple[str, ...], epsilon: str
) -> None:
    outcome = command(
        "train", *arguments, "--dataset", "digits", "--levels", "1:0.5,50:0.5"
    )

    assert epsilon in flat(outcome.out)
    assert "promises next to nothing" in flat(outcome.out)
    assert NOBODY in flat(outcome.out)
