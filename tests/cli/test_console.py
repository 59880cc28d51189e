"""Progress of commands: on a terminal a bar, elsewhere a line if it takes long."""

import re
import time

import pytest
from command_line import Command
from rich.console import Group
from rich.table import Table
from rich.text import Text

from shuffledp.cli.console import show
from shuffledp.cli.training_output import training_bar
from shuffledp.cli.waiting import progress, share_bar, working


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


def test_log_files_show_nothing_of_what_is_quick(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    assert shown(capsys) == ""


def test_log_files_get_one_line_for_each_stage_that_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr("shuffledp.cli.waiting.SECONDS_UNTIL_SAID", 0.05)
    said: list[str] = []

    def wait_for(words: str) -> None:
        end = time.monotonic() + 20.0
        while words not in "".join(said):
            assert time.monotonic() < end
            time.sleep(0.01)
            said.append(capsys.readouterr().err)

    def fail() -> None:
        with working("draw"):
            wait_for("draw")
            raise ValueError("wrong")

    with progress("read") as (_, on_step):
        on_step("certify")
        wait_for("certify")
        on_step("randomize")
    with pytest.raises(ValueError, match="wrong"):
        fail()
    said.append(capsys.readouterr().err)

    lines = "".join(said).splitlines()
    assert [line.partition(" ... ")[0] for line in lines] == ["certify", "draw"]
    assert all(re.fullmatch(r"\w+ \.\.\. \d+ s", line) for line in lines)


def test_in_a_log_only_the_error_is_said_of_a_stage_that_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr("shuffledp.cli.waiting.LEAST_SECONDS", 0.0)

    with progress("read") as (_, on_step):
        on_step("certify")
    with pytest.raises(ValueError, match="wrong"), working("draw"):
        raise ValueError("wrong")

    assert capsys.readouterr().err == "read ... 0 s\ncertify ... 0 s\n"


def test_a_training_in_a_log_says_how_much_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    now = iter([0.0, 3.0, 12.0])
    monkeypatch.setattr("shuffledp.cli.waiting.time.monotonic", lambda: next(now))

    with training_bar("round", 100) as tell:
        tell(10.0, None)
        tell(25.0, lambda: "never asked for")

    assert capsys.readouterr().err == "rounds: 25%, about 36 s left\n"


@pytest.mark.parametrize("text", ["install shuffledp[report]", "[/b]", "[red]", "\\["])
def test_texts_are_printed_as_they_are(
    capsys: pytest.CaptureFixture[str], text: str
) -> None:
    show(text)

    assert capsys.readouterr().out == f"{text}\n"


@pytest.mark.parametrize("text", ["install shuffledp[report]", "[/b]", "[red]", "\\["])
def test_texts_of_tables_are_printed_as_they_are(
    capsys: pytest.CaptureFixture[str], text: str
) -> None:
    table = Table(text, title=f"title {text}", caption=f"caption {text}")
    table.add_row(f"cell {text}")

    show(table)

    shown = capsys.readouterr().out
    for place in ("title", "cell", "caption"):
        assert f"{place} {text}" in shown


def test_log_files_get_a_line_now_and_then_with_the_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    now = iter([0.0, 3.0, 12.0, 15.0, 24.0, 40.0])
    monkeypatch.setattr("shuffledp.cli.waiting.time.monotonic", lambda: next(now))

    with share_bar("work") as on_share:
        for share in (0.1, 0.25, 0.5, 0.75, 1.0):
            on_share(share)

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "work: 25%, about 36 s left",
        "work: 75%, about 8 s left",
    ]


def test_a_width_of_nothing_is_unknown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "0")

    show("word " * 22)

    assert capsys.readouterr().out.strip() == ("word " * 22).strip()


@pytest.mark.parametrize("columns", [40, 50, 60, 70, 80, 100])
def test_no_width_cuts_a_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    numbers = [f"0.{place}234567" for place in range(5)]
    table = Table(title="A table of numbers")
    for heading in (
        "level asked for",
        "people",
        "",
        "central epsilon\n(shown)",
        "delta",
    ):
        table.add_column(heading, justify="right")
    table.add_row(*numbers)

    show(Group(table, "words"))

    lines = capsys.readouterr().out.splitlines()
    assert all(number in "\n".join(lines) for number in numbers)
    assert "…" not in "".join(lines)
    assert max(map(len, lines)) <= columns


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 55, 79])
def test_guarantees_and_plans_are_readable_in_narrow_terminals(
    command: Command, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    account = ("account", "--categories", "17", "--levels", "0.5:2500,2:2500")
    plan = ("plan", "items", "--items", "16", "--set-size", "1", "--targets", "1:5000")
    for arguments in (
        (*account, "--delta", "1e-6"),
        plan,
    ):
        monkeypatch.delenv("COLUMNS", raising=False)
        wide = command(*arguments).out
        monkeypatch.setenv("COLUMNS", str(columns))
        narrow = command(*arguments).out

        assert "…" not in narrow
        assert max(map(len, narrow.splitlines())) <= columns
        number = re.compile(r"\d[\d.,e+-]*\d")
        assert sorted(number.findall(narrow)) == sorted(number.findall(wide))


def test_texts_are_shown_letter_by_letter(capsys: pytest.CaptureFixture[str]) -> None:
    label = "a:b:c :boom: [red]d[/red]"
    table = Table(label, title=Text(label))
    table.add_row(label)

    show(label, table)

    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if label in line]) == 4
