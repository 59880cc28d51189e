"""Options of earlier versions: what to write instead, where that is an option."""

import pytest
from command_line import Command


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("account --honest-fraction 0.9", "Write --absent 10%"),
        ("calibrate people --honest-fraction 0.9", "Write --absent 10%"),
        ("estimate answers.csv --honest-fraction 0.9", ""),
        ("train apes --distribution apes/gauss1", "Write --levels"),
        ("account --distribution apes/gauss1", ""),
    ],
)
def test_what_replaces_an_option_is_an_option_of_the_command(
    words: str, hint: str, command: Command
) -> None:
    outcome = command(*words.split())

    assert outcome.is_refusal
    assert hint in outcome.err
    assert hint or "Write" not in outcome.err
