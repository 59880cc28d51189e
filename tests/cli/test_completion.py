"""Shells complete commands, options, values and files: what docs/how-to says they do."""

import pytest
from command_line import Command


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("shuffledp quick", ["plain,quickstart"]),
        ("shuffledp train a", ["plain,apes"]),
        ("shuffledp estimate --sta", ["plain,--statistic"]),
        ("shuffledp account --mechanism one", ["plain,one-bit"]),
        ("shuffledp estimate survey", ["file,survey"]),
    ],
)
def test_bash_is_told_how_words_go_on(
    words: str,
    completed: list[str],
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("_SHUFFLEDP_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))

    outcome = command()

    assert outcome.code == 0
    assert outcome.out.splitlines() == completed
