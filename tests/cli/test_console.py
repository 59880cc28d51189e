"""What is being done is shown on a terminal, and nowhere else."""

import re

import pytest

from shuffledp.cli.console import progress, show


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    with progress("read people.csv") as (on_bytes, on_step):
        on_bytes(5, 10)
        on_step("randomize")
        on_step("estimate")
    captured = capsys.readouterr()
    assert captured.out == ""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", captured.err)


def test_terminals_show_the_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")

    assert "estimate" in shown(capsys)


def test_log_files_show_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    assert shown(capsys) == ""


@pytest.mark.parametrize("text", ["install shuffledp[report]", "[/b]", "[red]", "\\["])
def test_texts_are_printed_as_they_are(
    capsys: pytest.CaptureFixture[str], text: str
) -> None:
    show(text)

    assert capsys.readouterr().out == f"{text}\n"
