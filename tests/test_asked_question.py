"""Questions with answers to pick from, from lists and files."""

from pathlib import Path
from typing import Any

import pytest

from shuffledp.asked_question import AskedQuestion, asked_questions
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.statistics.questionnaire.question_file import read_questions

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


def test_plain_values_come_back() -> None:
    question = AskedQuestion("Which?", ("a", "b", "c"), 2)

    assert asked_questions([question.to_dict(), question]) == (question, question)
    assert asked_questions([]) is None
    assert asked_questions("Which?") is None
    assert asked_questions(3) is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ('kind = "number"', "of kind choice"),
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
