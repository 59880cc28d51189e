"""The command that plans a questionnaire."""

from pathlib import Path

import pytest
from command_line import Command

_QUESTIONS = """
[questions.transport]
kind = "choice"
options = ["bus", "bicycle", "car"]

[questions.age]
kind = "number"
low = 0
high = 120
digits = 4
"""


@pytest.mark.slow
def test_questions_of_a_file_are_planned_together(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "city.toml"
    path.write_text(_QUESTIONS, encoding="utf-8")
    asked = ("plan", "questionnaire", "--questions", str(path), "--targets")
    told = command(*asked, "1:3000", "--json")
    assert told.code == 0
    plan = told.json()
    assert list(plan["questions"]) == ["transport", "age"]
    assert list(plan["questions"]["transport"]) == ["bus", "bicycle", "car"]
    assert plan["guarantee"]["levels"][0]["epsilon_central"] <= 1.0
    shown = command(*asked, "1:3000")
    assert "the smallest target" not in shown.out
    for name in ("transport", "bicycle", "age", "mean"):
        assert name in shown.out
    assert command(*asked, "0:3000").is_refusal
    assert command(*asked, "0.001:30").is_refusal
    path.write_text("[questions.a]", encoding="utf-8")
    assert command(*asked, "1:3000").is_refusal


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("1e-300", "messages per person is enough for the smallest target"),
        ("1e-170", "messages per person is enough for the smallest target"),
        ("9e-301", "Expected targets above 0, from 1e-300 to 700, got 9e-301."),
        ("5e-324", "Expected targets above 0, from 1e-300 to 700"),
    ],
)
def test_the_smallest_targets_are_refused(
    target: str, words: str, command: Command, tmp_path: Path
) -> None:
    (tmp_path / "city.toml").write_text(_QUESTIONS, encoding="utf-8")
    (tmp_path / "city.csv").write_text(
        "transport,age,level\n" + f"bus,40,{target}\ncar,50,{target}\n" * 20,
        encoding="utf-8",
    )
    asked = ("questionnaire", "--questions", "city.toml")

    planned = command("plan", *asked, "--targets", f"{target}:40")
    rehearsed = command(
        "estimate", "city.csv", "--statistic", *asked, "--level", "level"
    )

    assert planned.is_refusal
    assert words in planned.err
    assert rehearsed.is_refusal
    assert words in rehearsed.err
    assert not (tmp_path / "shuffledp-report").exists()


@pytest.mark.slow
def test_plans_say_means_units_and_what_few_people_cost(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "pay.toml"
    stated = "expected_mean = 40000"
    path.write_text(
        "[questions.pay]\nkind = 'group-mean'\npeople = ['north', 'south']\nlow = 0\n"
        f"high = 500000\ndigits = 4\nunit = 'EUR'\n{stated}\n[questions.way]\n"
        "options = ['bus', 'car']\n",
        encoding="utf-8",
    )
    asked = ("plan", "questionnaire", "--questions", str(path), "--targets")

    shown = " ".join(command(*asked, "0.3:1,1:2999").out.split())
    assert "all people get the noise that the smallest target, 0.3, needs" in shown
    record = command(*asked, "0.3:1,1:2999", "--json").json()

    assert record["assumed"]["means"] == {"pay": 40_000.0}
    for words in (
        "assume a mean (pay 40000), and groups of equal size; expected_mean",
        "1 of 3,000 people asks for a target below 1, which makes predicted errors",
        "fewer than 10 people are at target 0.3",
        " EUR ",
        " people ",
    ):
        assert words in shown
    assert "stratified" not in shown
    assert shown.count("no local guarantee") == 1
    assert "single reports" not in shown
    assert record["strict_targets"]["factor"] > 2.0

    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(stated, ""), encoding="utf-8")
    middle = command(*asked, "0.3:1,1:2999", "--json").json()
    assert middle["assumed"]["means"] == {"pay": 250_000.0}
    assert middle["questions"]["pay"]["north"] < record["questions"]["pay"]["north"]
    path.write_text(text.replace("40000", "500001"), encoding="utf-8")
    assert command(*asked, "1:3000").is_refusal


@pytest.mark.slow
def test_a_choice_among_very_many_is_one_row_of_a_plan(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "pages.toml"
    path.write_text(
        "[questions.page]\nkind = 'hashed-choice'\nnum_categories = 20000\n",
        encoding="utf-8",
    )
    asked = ("plan", "questionnaire", "--questions", str(path), "--targets", "2:5000")

    shown = " ".join(command(*asked).out.split())
    record = command(*asked, "--json").json()

    assert "each category, if all are as frequent" in shown
    assert "more" not in shown.partition("Guarantees")[0]
    assert len(record["questions"]["page"]) == 1
