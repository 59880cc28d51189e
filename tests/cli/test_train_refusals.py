"""`shuffledp train`: what was asked for is checked before data are looked for."""

import sys

import pytest
from command_line import Command

LEVELS = [
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
@pytest.mark.parametrize(("asked", "said"), LEVELS, ids=range(9))
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
