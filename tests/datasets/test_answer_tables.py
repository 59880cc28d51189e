"""Answers to several questions, from tables."""

from pathlib import Path

import polars as pl
import pytest

from shuffledp.datasets.answer_tables import read_answers
from shuffledp.datasets.frames import Frame
from shuffledp.errors import DataError, InvalidInputError, MissingValueError

QUESTIONS = ((("bus", "car", "NA"), 1), (("Times", "Post", "Star"), 2))
COLUMNS = ("way", "paper")


def frame(**changes: list[object]) -> Frame:
    columns: dict[str, list[object]] = {
        "way": ["car", None, "NA"],
        "paper": ["Star; Times", "", "Post;Post"],
        "level": [1.0, 2.0, 1.0],
    }
    return Frame(pl.DataFrame({**columns, **changes}))


def test_positions_are_counted_over_all_questions() -> None:
    answers, levels = read_answers(frame(), COLUMNS, QUESTIONS, level="level")

    assert answers.tolist() == [[1, 3, 5], [6, 6, 6], [2, 4, 6]]
    assert levels.tolist() == [1.0, 2.0, 1.0]


def test_a_file_is_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("way,paper,level\n car ,Star; Times,1\n,,2\nNA,Post;Post,1\n")

    answers, _ = read_answers(path, COLUMNS, QUESTIONS, level="level")

    assert answers.tolist() == [[1, 3, 5], [6, 6, 6], [2, 4, 6]]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"way": ["car", "train", None]}, "'train'"),
        ({"way": ["car;bus", None, None]}, "'car;bus'"),
        ({"paper": ["Times;Post;Star", None, None]}, "at most 2 answers"),
        ({"paper": ["Times;Sun", None, None]}, "'Sun'"),
    ],
)
def test_other_answers_are_refused(changes: dict[str, list[object]], why: str) -> None:
    with pytest.raises(InvalidInputError, match=why):
        read_answers(frame(**changes), COLUMNS, QUESTIONS, level="level")


def test_a_level_is_needed_and_a_column_for_each_question() -> None:
    with pytest.raises(MissingValueError):
        read_answers(frame(level=[1.0, None, 2.0]), COLUMNS, QUESTIONS, level="level")
    with pytest.raises(InvalidInputError, match="2 questions, got 1"):
        read_answers(frame(), ["way"], QUESTIONS, level="level")
    with pytest.raises(DataError, match="different columns"):
        read_answers(frame(), ["way", "way"], QUESTIONS, level="level")


def test_an_option_that_looks_like_two_is_refused_where_several_may_be_picked() -> None:
    for most, is_refused in ((2, True), (1, False)):
        questions = ((("a;b", "a", "b"), most), QUESTIONS[1])
        table = frame(way=["a;b", None, "a"])
        if is_refused:
            with pytest.raises(InvalidInputError, match="divides answers"):
                read_answers(table, COLUMNS, questions, level="level")
        else:
            answers, _ = read_answers(table, COLUMNS, questions, level="level")
            assert answers[:, 0].tolist() == [0, 6, 1]


NUMBERS = {"age": (16.0, 110.0), "hours": (-2.5, 2.5)}


def test_numbers_follow_the_answers_in_their_order() -> None:
    table = frame(age=["16", "44.5", "110"], hours=[0.0, -2.5, 2.5])

    answers, levels = read_answers(
        table, COLUMNS, QUESTIONS, level="level", numbers=NUMBERS
    )
    alone, _ = read_answers(table, (), (), level="level", numbers=NUMBERS)

    numbers = [[16.0, 0.0], [44.5, -2.5], [110.0, 2.5]]
    assert answers[:, :3].tolist() == [[1, 3, 5], [6, 6, 6], [2, 4, 6]]
    assert answers[:, 3:].tolist() == alone.tolist() == numbers
    assert levels.tolist() == [1.0, 2.0, 1.0]


@pytest.mark.parametrize(
    ("age", "error", "why"),
    [
        (["16", "15.9", "20"], InvalidInputError, "from 16 to 110 in column 'age'"),
        (["16", "111", "20"], InvalidInputError, "from 16 to 110"),
        (["16", "inf", "20"], DataError, "finite number"),
        (["16", "old", "20"], DataError, "number"),
        (["16", None, "20"], MissingValueError, "age"),
        (["16", "NaN", "20"], DataError, "finite number"),
    ],
)
def test_other_numbers_are_refused(
    age: list[object], error: type[Exception], why: str
) -> None:
    table = frame(age=age, hours=[0.0, 0.0, 0.0])

    with pytest.raises(error, match=why):
        read_answers(table, COLUMNS, QUESTIONS, level="level", numbers=NUMBERS)


def test_a_column_answers_one_question() -> None:
    with pytest.raises(DataError, match="different columns"):
        read_answers(
            frame(), COLUMNS, QUESTIONS, level="level", numbers={"way": (0.0, 1.0)}
        )
