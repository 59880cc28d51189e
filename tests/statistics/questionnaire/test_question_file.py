"""Files of questions: read as they are meant, and refused with a reason."""

from pathlib import Path

import pytest

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.statistics.questionnaire.choice_question import ChoiceQuestion
from shuffledp.statistics.questionnaire.distribution_question import (
    DistributionQuestion,
)
from shuffledp.statistics.questionnaire.group_mean_question import GroupMeanQuestion
from shuffledp.statistics.questionnaire.hashed.hashed_choice_question import (
    HashedChoiceQuestion,
)
from shuffledp.statistics.questionnaire.number_question import NumberQuestion
from shuffledp.statistics.questionnaire.pairs_question import PairsQuestion
from shuffledp.statistics.questionnaire.question_file import (
    questions_of,
    read_questions,
)
from shuffledp.statistics.questionnaire.table_question import TableQuestion
from shuffledp.statistics.questionnaire.texts.unlisted_strings_question import (
    UnlistedStringsQuestion,
)

_CITY = """
[questions.transport]
kind = "choice"
options = ["bus", "bicycle", "car"]
most = 2

[questions.age]
kind = "number"
low = 0
high = 120
digits = 4
interest = 2.0

[questions.income]
kind = "distribution"
edges = [0, 10, 20, 50]
fan_out = 2

[questions.who]
kind = "table"
attributes = {sex = ["f", "m"], home = ["city", "village"]}

[questions.all]
kind = "pairs"
attributes = {sex = ["f", "m"], home = ["city", "village"], pet = ["cat", "dog"]}

[questions.pay]
kind = "group-mean"
people = ["east", "west"]
low = 0
high = 100
digits = 3

[questions.page]
kind = "hashed-choice"
num_categories = 100000
messages = 40
key = 7

[questions.word]
kind = "unlisted-strings"
longest = 6
alphabet = "abcdefghijklmnopqrstuvwxyz"
"""


def test_questions_are_read_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "city.toml"
    path.write_text(_CITY, encoding="utf-8")
    described = read_questions(path)
    assert described.questions == (
        ChoiceQuestion("transport", ("bus", "bicycle", "car"), most=2),
        NumberQuestion("age", 0, 120, digits=4),
        DistributionQuestion("income", (0.0, 10.0, 20.0, 50.0), 2),
        TableQuestion("who", {"sex": ("f", "m"), "home": ("city", "village")}),
        PairsQuestion(
            "all",
            {
                "sex": ("f", "m"),
                "home": ("city", "village"),
                "pet": ("cat", "dog"),
            },
        ),
        GroupMeanQuestion("pay", ("east", "west"), 0, 100, digits=3),
        HashedChoiceQuestion("page", 100_000, messages=40, key=7),
        UnlistedStringsQuestion("word", 6, "abcdefghijklmnopqrstuvwxyz"),
    )
    assert described.interest == {"age": 2.0}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "questions.NAME"),
        ("[questions]", "questions.NAME"),
        ("[questions.a]\nkind = 'choice'\noptions = ['x', 'y']\n[other]", "else"),
        ("[questions.a", "TOML"),
        ("[questions]\na = 1", r"a table \[questions.a\]"),
        ("[questions.a]\nkind = 'color'", "one of choice, number"),
        ("[questions.a]\nkind = 'choice'", "Expected options"),
        (
            "[questions.a]\nkind = 'hashed-choice'\nrows = 3",
            "num_categories, and perhaps false_categories, key, messages, got rows",
        ),
        (
            "[questions.a]\nkind = 'unlisted-strings'\ndesign = 3",
            "longest, and perhaps alphabet, .* key, messages, got design",
        ),
        ("[questions.a]\nkind = 'unlisted-strings'\nlongest = 1", "at least 10 bits"),
        ("[questions.a]\nkind = 'hashed-choice'\nnum_categories = 64", "65 to 4194304"),
        ("[questions.a]\nkind = 'choice'\noptions = 'xy'", "list of texts"),
        ("[questions.a]\nkind = 'choice'\noptions = 7", "list of texts"),
        (
            "[questions.a]\nkind = 'group-mean'\npeople = 'ab'\nlow = 0\nhigh = 1",
            "list of texts",
        ),
        (
            "[questions.a]\nkind = 'group-mean'\ngroups = ['x', 'y']\nlow = 0\nhigh = 1",
            r"people, and perhaps digits \(people are the names of groups, .* got groups",
        ),
        ("[questions.a]\nkind = 'choice'\noptions = [1, 2]", "options as a text"),
        ("[questions.a]\nkind = 'number'\nlow = 0\nhigh = 1\nname = 'b'", "got high"),
        ("[questions.a]\nkind = 'number'\nlow = 'x'\nhigh = 1", "low"),
        ("[questions.a]\nkind = 'number'\nlow = nan\nhigh = 1", "question a"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "city.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=reason):
        read_questions(path)


def test_units_and_expected_means_are_for_plans() -> None:
    terms = {"kind": "number", "low": 0, "high": 9, "digits": 2}

    described = questions_of(
        {
            "age": {**terms, "unit": "years", "expected_mean": 4},
            "size": {**terms, "unit": ""},
            "plain": terms,
        }
    )

    assert described.units == {"age": "years", "size": ""}
    assert described.expected_means == {"age": 4.0}
    assert [each.name for each in described.questions] == ["age", "size", "plain"]
    for wrong in ({"unit": 3}, {"expected_mean": "4"}):
        with pytest.raises(InvalidInputError, match="question age"):
            questions_of({"age": {**terms, **wrong}})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.toml"):
        read_questions(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 50_000,
        # The parser takes time that grows with the square of the number of dots.
        "[questions.a]\nkind" + ".b" * 2_000 + " = 1",
        '[questions.a]\nkind = "choice"\noptions = ' + "[" * 70 + "]" * 70,
    ],
    ids=["brackets", "dots", "seventy"],
)
def test_deep_nesting_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.toml"
    path.write_text(text)

    with pytest.raises(DataError, match=r"^Expected values nested at most 64 deep in"):
        read_questions(path)
