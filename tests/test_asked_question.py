"""Questions with answers to pick from, from lists and files."""

from pathlib import Path
from typing import Any

import pytest

from shuffledp.asked_combination import AskedCombination
from shuffledp.asked_number import AskedNumber
from shuffledp.asked_question import AskedQuestion, asked_questions
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.statistics.questionnaire.group_mean_question import GroupMeanQuestion
from shuffledp.statistics.questionnaire.question_file import read_questions
from shuffledp.statistics.questionnaire.table_question import TableQuestion

CITY = """
[questions.transport]
text = "How do you get to work?"
kind = "choice"
options = ["bus", "bicycle", "car"]

[questions.papers]
kind = "choice"
options = ["Times", "Post", "Star"]
most = 2
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "city.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_for_a_plan_is_one_for_a_form(tmp_path: Path) -> None:
    path = written(tmp_path, CITY)

    asked, planned = asked_questions(path), read_questions(path)

    assert asked == (
        AskedQuestion("How do you get to work?", ("bus", "bicycle", "car")),
        AskedQuestion("papers", ("Times", "Post", "Star"), 2),
    )
    assert [question.name for question in planned.questions] == ["transport", "papers"]


def test_forms_need_no_means_and_columns_that_plans_do(tmp_path: Path) -> None:
    terms = '[questions.age]\nkind = "number"\nlow = 0\nhigh = 99\ndigits = 3\n'

    (asked,) = asked_questions(written(tmp_path, terms)) or ()
    more = f'{terms}expected_mean = 40\ncolumns = ["years"]\n'

    assert asked_questions(written(tmp_path, more)) == (asked,)


def test_plain_values_come_back() -> None:
    question = AskedQuestion("Which?", ("a", "b", "c"), 2)

    assert asked_questions([question.to_dict(), question]) == (question, question)
    assert asked_questions([]) is None
    assert asked_questions("Which?") is None
    assert asked_questions(3) is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ('kind = "pairs"', "of kind choice"),
        ('kind = "hashed-choice"', "forms have no other, though plans and rehearsals"),
        ("kind = 3", "of kind choice"),
        ('kind = "number"', "questions of digits, high, low, skippable, text, unit"),
        ("most = 4", "from 1 to 3"),
        ("most = 1.5", "from 1 to 3"),
        ("most = true", "from 1 to 3"),
        ('text = "  "', "the text of a question"),
        ("interest = 2.0", "no interest in a form"),
        ("color = 1", "questions of most, options, text"),
        ('options = ["a"]', "different options"),
        ('options = ["a", "a"]', "different options"),
        ('options = "ab"', "different options"),
        ("options = [1, 2]", "different options"),
    ],
)
def test_other_terms_are_refused_with_the_name_of_the_question(
    tmp_path: Path, change: str, why: str
) -> None:
    begin = "" if change.startswith("options") else 'options = ["a", "b", "c"]\n'
    path = written(tmp_path, f"[questions.pets]\n{begin}{change}\n")

    with pytest.raises(DataError, match=f"question pets.*{why}"):
        asked_questions(path)


NUMBERS = """
[questions.who]
kind = "table"
attributes = ["transport", "smoker"]

[questions.transport]
options = ["bus", "bicycle", "car"]

[questions.minutes]
text = "How many minutes?"
kind = "number"
low = 0
high = 120
unit = "minutes"
digits = 3

[questions.age]
kind = "distribution"
edges = [16, 30, 45.5, 65, 80, 120]
unit = "years"

[questions.smoker]
options = ["yes", "no"]

[questions.how-long]
kind = "group-mean"
people = "transport"
number = "minutes"
"""


def test_attributes_that_are_named_twice_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, NUMBERS.replace('"smoker"]', '"transport", "smoker"]'))

    with pytest.raises(DataError, match="different attributes in question who"):
        read_questions(path)
    with pytest.raises(DataError, match="different"):
        asked_questions(path)


def test_numbers_and_combinations_are_those_of_a_plan(tmp_path: Path) -> None:
    path = written(tmp_path, NUMBERS)

    asked, planned = asked_questions(path), read_questions(path)

    assert asked is not None
    assert asked[2] == AskedNumber.in_digits(
        "How many minutes?", 0, 120, unit="minutes", digits=3
    )
    assert asked[3] == AskedNumber.in_intervals(
        "age", (16, 30, 45.5, 65, 80, 120), unit="years"
    )
    assert asked[0] == AskedCombination((1, 4), (((1, 1, 3), (4, 1, 2)),))
    assert asked[5] == AskedCombination.among(asked, 1, 2)
    assert asked_questions([each.to_dict() for each in asked]) == asked
    who, _, _, _, _, how_long = planned.questions
    assert who == TableQuestion(
        "who", {"transport": ("bus", "bicycle", "car"), "smoker": ("yes", "no")}
    )
    assert how_long == GroupMeanQuestion(
        "how-long", ("bus", "bicycle", "car"), 0, 120, digits=3
    )


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"transport", "smoker"', '"transport"', "names of 2 to 4 questions"),
        ('"transport", "smoker"', '"transport", "shoes"', "names of questions"),
        ('"transport", "smoker"', '"transport", 3', "names of questions"),
        ('"transport", "smoker"', '"transport", "age"', "of kind number"),
        ('"transport", "smoker"', '"minutes", "smoker"', "of kind number"),
        ('"transport", "smoker"', '"smoker", "smoker"', "Expected different questions"),
        ('number = "minutes"', 'number = "age"', "of kind number"),
        ('people = "transport"', 'people = ["a", "b"]', "names of questions"),
        ('people = "transport"', "", "number, people, text"),
        ("low = 0", "low = 120", "low < high"),
        ("low = 0", "low = nan", "numbers up to"),
        ("low = 0", 'low = "0"', "a number"),
        ("digits = 3", "digits = 25", "from 1 to 24 digits"),
        ("16, 30, 45.5", "16, 45.5, 30", "ascending"),
        ("edges = [16, 30, 45.5, 65, 80, 120]", "edges = [0, 1]", "at least 3"),
        ("edges = [", "fan_out = 1\nedges = [", "fan_out from 2"),
        ('unit = "years"', "unit = 3", "a unit"),
    ],
)
def test_other_numbers_and_combinations_are_refused(
    tmp_path: Path, old: str, new: str, why: str
) -> None:
    assert NUMBERS.count(old)
    path = written(tmp_path, NUMBERS.replace(old, new))

    with pytest.raises(DataError, match=why):
        asked_questions(path)


@pytest.mark.parametrize(
    "text",
    ["", "questions = 3", "questions.pets = 3", "[other]", "[questions", "\x00"],
)
def test_files_of_something_else_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match=r"city\.toml"):
        asked_questions(written(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.toml"):
        asked_questions(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "entry", [{"text": "?"}, {"text": "?", "options": ["a", "b"]}, 3, None]
)
def test_entries_of_other_members_are_refused(entry: Any) -> None:
    with pytest.raises(InvalidInputError):
        asked_questions([entry])
