"""`shuffledp train`: what was asked for is checked before data are looked for."""

import os
import sys

import pytest
from command_line import Command

from shuffledp.cli.training_start import _PICTURES, load

LEVELS = [
    (("--clients", "1"), "Expected --clients from 2 to 1,437, one picture of digits"),
    (
        ("--clients", "1438"),
        "Expected --clients from 2 to 1,437, one picture of digits",
    ),
    (("--levels", "foo"), "EPSILON:SHARE"),
    (("--levels", ""), "EPSILON:SHARE"),
    (("--levels", "apes/normal"), "Expected one of e-apes/"),
    (("--distribution", "apes/gauss1"), "Write --levels"),
    (("--levels", "1:0.3"), "add up to 1"),
    (("--levels=-1:1",), "privacy budget"),
    (("--levels", "1:1", "--delta", "3"), "--delta < 1, got 3"),
    (("--levels", "1:1", "--delta", "nan"), "--delta < 1, got nan"),
    (("--levels", "1:1", "--learning-rate", "0"), "--learning-rate"),
]


@pytest.mark.parametrize("framework", ["apes", "shuffled-sgd"])
@pytest.mark.parametrize(("asked", "said"), LEVELS, ids=range(11))
def test_what_is_asked_for_is_refused_before_data_are_looked_for(
    framework: str,
    asked: tuple[str, ...],
    said: str,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As where scikit-learn is not installed.
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)

    outcome = command("train", framework, "--dataset", "digits", *asked)

    assert outcome.is_refusal
    assert said in outcome.err


@pytest.mark.parametrize("framework", ["apes", "shuffled-sgd"])
def test_what_is_missing_is_named_if_all_else_is_right(
    framework: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)

    outcome = command("train", framework, "--dataset", "digits", "--levels", "1:1")

    assert outcome.is_refusal
    assert "scikit-learn" in outcome.err


@pytest.mark.parametrize("framework", ["s-apes", "random-sparsification"])
@pytest.mark.parametrize("share", ["1e-9", "0.001538", "nan", "-1", "0"])
def test_a_share_below_one_coordinate_is_refused_with_the_smallest(
    framework: str, share: str, command: Command
) -> None:
    asked = ("--dataset", "digits", "--framework", framework, f"--share={share}")

    outcome = command("train", "apes", *asked)

    assert outcome.is_refusal
    assert (
        "Expected --share of at least 0.001539, one of 650 coordinates" in outcome.err
    )


@pytest.mark.parametrize("framework", ["s-apes", "ldp-min", "non-private"])
def test_a_framework_in_place_of_a_command_is_refused_with_the_command(
    framework: str, command: Command
) -> None:
    outcome = command("train", framework, "--share", "0.1")

    assert outcome.is_refusal
    assert f"Write shuffledp train apes --framework {framework}." in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["mnist", "digits"])
def test_sizes_that_are_checked_beforehand_are_those_of_the_data(dataset: str) -> None:
    if dataset != "digits" and not os.environ.get("SHUFFLEDP_DATA"):
        pytest.skip("SHUFFLEDP_DATA does not name a folder with MNIST")

    assert _PICTURES[dataset] == load(dataset).train_features.shape
