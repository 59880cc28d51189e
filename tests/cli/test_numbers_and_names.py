"""Numbers with no more digits than are certified, and names harmless on a terminal."""

import re
from pathlib import Path

import polars as pl
import pytest
from command_line import Command


def test_budgets_and_epsilons_are_shown_in_full(command: Command) -> None:
    arguments = ["account", "--categories", "17", "--levels", "1.2345623:2"]

    table = command(*arguments, "--delta", "1.2345649e-12").out

    certified = command(*arguments, "--delta", "1.2345649e-12", "--json").json()
    (level,) = certified["levels"]
    assert f"({level['epsilon_central']!r}, 1.2345649e-12)-differentially" in table


def test_large_delta_comes_with_a_caution(command: Command) -> None:
    arguments = ["account", "--categories", "17", "--levels", "1:1000", "--delta"]

    assert "Caution" in command(*arguments, "0.001").out
    assert "Caution" not in command(*arguments, "0.0009").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["quickstart", "--levels", "0:1"], "well above 0"),
        (["quickstart", "--levels", "1e-12:1"], "well above 0"),
        (
            ["quickstart", "--levels", "0:0.5,1:0.5", "--mode", "stratified"],
            "well above",
        ),
        (["quickstart", "--people", "9" * 25], "--people"),
        (["account", "--levels", "1:" + "9" * 25, "--delta", "1e-6"], "categories"),
    ],
)
def test_requests_without_an_answer_get_none(
    command: Command, tmp_path: Path, arguments: list[str], words: str
) -> None:
    outcome = command(*arguments)

    assert outcome.is_refusal
    assert words in outcome.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "levels", ["1:" + "9" * 25, "1:100000000001", "0.5:9e10,1:9e10"]
)
def test_more_people_than_there_are_get_no_guarantee(
    command: Command, levels: str
) -> None:
    outcome = command(
        "account", "--categories", "5", "--levels", levels, "--delta", "1e-6"
    )

    assert outcome.code == 2
    assert "people" in outcome.err


@pytest.mark.slow
def test_names_cannot_command_the_terminal_or_the_picture(
    command: Command, tmp_path: Path
) -> None:
    names = [
        "\x1b[31mred",
        "[bold]b[/bold]",
        "$x_{",
        "<script>",
        "=1+1",
        "日本",
        "w" * 500,
    ]
    pl.DataFrame({"v": names * 40, "e": [2.0] * 280}).write_csv("names.csv")

    outcome = command("estimate", "names.csv", "--value", "v", "--level", "e")

    assert outcome.code == 0
    assert outcome.err == ""
    assert "\x1b" not in outcome.out
    assert "[bold]b[/bold]" in outcome.out
    page = (tmp_path / "shuffledp-report" / "report.html").read_text()
    assert "<script>" not in page
    assert "w" * 60 not in page


@pytest.mark.slow
def test_only_the_most_frequent_of_many_categories_are_shown(
    command: Command, tmp_path: Path
) -> None:
    numbers = [number % 100 for number in range(2000)]
    pl.DataFrame({"v": numbers, "e": [3.0] * 2000}).write_csv("many.csv")

    outcome = command("estimate", "many.csv", "--value", "v", "--level", "e")

    folder = tmp_path / "shuffledp-report"
    assert "Shown are the 40 most frequent of 100." in outcome.out
    assert len((folder / "estimates.csv").read_text().splitlines()) == 101
    assert len(re.findall("<tr><td>", (folder / "report.html").read_text())) == 41


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("ALICE,0.5\nBOB,1\n", "a column 'v'"),
        ("v,e,e\nALICE,0.5,1\nBOB,1,2\n", "exactly one column 'e'"),
        ("v,e\nALICE,BOB\nCAROL,2\n", "a number for every person"),
    ],
)
def test_errors_do_not_repeat_what_people_wrote(
    command: Command, tmp_path: Path, table: str, words: str
) -> None:
    (tmp_path / "table.csv").write_text(table)

    outcome = command("estimate", "table.csv", "--value", "v", "--level", "e")

    assert outcome.code == 2
    assert words in outcome.err
    for data in ("ALICE", "BOB", "CAROL", "0.5"):
        assert data not in outcome.err


@pytest.mark.parametrize("value", [[[1], [2]], [b"1", b"2"], [{"a": 1}, {"a": 2}]])
def test_columns_that_hold_no_single_values_are_refused(
    command: Command, value: list[object]
) -> None:
    pl.DataFrame({"v": value, "e": [1.0, 1.0]}).write_parquet("odd.parquet")

    outcome = command("estimate", "odd.parquet", "--value", "v", "--level", "e")

    assert outcome.is_refusal


def test_text_that_looks_like_numbers_is_left_alone(command: Command) -> None:
    pl.DataFrame({"v": ["01", "1", "1.0"] * 50, "e": ["2"] * 150}).write_csv("text.csv")

    outcome = command("estimate", "text.csv", "--value", "v", "--level", "e", "--json")

    names = [row["category"] for row in outcome.json()["estimates"]]
    assert names == ["01", "1", "1.0"]
