"""What is being done is shown on a terminal, and nowhere else."""

import re

import pytest

from shuffledp.cli.console import progress, share_bar, show


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


def test_log_files_get_a_line_now_and_then_with_the_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    now = iter([0.0, 3.0, 12.0, 15.0, 24.0, 40.0])
    monkeypatch.setattr("shuffledp.cli.console.time.monotonic", lambda: next(now))

    with share_bar("work") as on_share:
        for share in (0.1, 0.25, 0.5, 0.75, 1.0):
            on_share(share)

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "work: 25%, about 36 s left",
        "work: 75%, about 8 s left",
    ]
