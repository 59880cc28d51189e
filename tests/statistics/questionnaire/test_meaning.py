"""Reports of other questions are refused, even if they have equally many buckets."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import InvalidInputError
from shuffledp.statistics.questionnaire.meaning import meaning_of
from shuffledp.statistics.statistic_catalog import protocol_of

NUMBER = sdp.NumberQuestion("age", 0, 100, digits=2)
CHOICE = sdp.ChoiceQuestion("smokes", ("yes", "no"))
PEOPLE = sdp.Population.from_counts({1.0: 2_000})


def asked(*questions: Any) -> sdp.Questionnaire:
    groups = sum(len(question.groups) for question in questions)
    noise = (sdp.PoissonNoise(200.0),) * groups
    return sdp.Questionnaire(questions, noise, (1.0,), (1.0,), honest=2_000)


@pytest.mark.parametrize(
    "other",
    [
        lambda: asked(replace(NUMBER, high=1_000), CHOICE),
        lambda: asked(NUMBER, replace(CHOICE, options=("no", "yes"))),
        lambda: asked(NUMBER, replace(CHOICE, name="drinks")),
        lambda: asked(replace(NUMBER, name="years"), CHOICE),
    ],
)
def test_reports_of_other_questions_are_refused(
    other: Callable[[], sdp.Questionnaire],
) -> None:
    own, rng = asked(NUMBER, CHOICE), np.random.default_rng(1)
    answers = {"age": np.full(2_000, 40.0), "smokes": np.zeros(2_000, np.int64)}
    reports = own.randomize(answers, np.full(2_000, 1.0), rng=rng)
    shuffled = sdp.shuffle(reports, rng=rng)

    own.estimate(shuffled, PEOPLE)
    with pytest.raises(InvalidInputError):
        other().estimate(shuffled, PEOPLE)


def test_equal_questions_have_equal_meanings_whatever_the_types_of_numbers() -> None:
    same = sdp.NumberQuestion("age", 0.0, np.float64(100.0), digits=2)

    assert meaning_of([NUMBER]) == meaning_of([same])
    assert asked(NUMBER).identity == asked(same).identity
    assert meaning_of([NUMBER, CHOICE]) != meaning_of([CHOICE, NUMBER])


def test_guarantees_are_rebuilt_with_the_meaning() -> None:
    guarantee = sdp.account(asked(CHOICE), PEOPLE, delta=1e-6)

    again = sdp.verify(guarantee.to_dict())
    protocol = protocol_of(guarantee.protocol)

    assert again.holds
    assert protocol.identity == asked(CHOICE).identity
    # What is certified depends on the buckets alone.
    bare = sdp.account(replace(asked(CHOICE).counts, meaning=None), PEOPLE, delta=1e-6)
    assert [level.epsilon_central for level in bare.levels] == [
        level.epsilon_central for level in guarantee.levels
    ]


@dataclass(frozen=True)
class Odd:
    """A question with a term that is not a plain value."""

    term: object = object()


def test_terms_that_are_not_plain_are_refused() -> None:
    for wrong in (Odd(), object(), Odd(term={"a": {1, 2}})):
        with pytest.raises(InvalidInputError, match="plain values"):
            meaning_of([wrong])
    with pytest.raises(InvalidInputError, match="meaning"):
        replace(asked(CHOICE).counts, meaning=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [(1,), ("x",), CHOICE, None, ()])
def test_what_is_not_a_question_is_not_planned(wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="question"):
        sdp.plan_questionnaire(wrong, sdp.Wish(targets={1.0: 2_000}))


@pytest.mark.parametrize("option", ["", " ", "\x1b[31m", "a\n", "a\u202eb", "\ud800"])
def test_options_that_cannot_be_displayed_are_refused(option: str) -> None:
    with pytest.raises(InvalidInputError, match=r"displayed|not seen"):
        sdp.ChoiceQuestion("color", ("red", option))
