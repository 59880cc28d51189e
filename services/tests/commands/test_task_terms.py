"""Options of a question: of all statistics, also of one that comes later."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import click
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp.parameter import Parameter
from shuffledp.statistics.frequency.survey import FrequencySurvey
from shuffledp.statistics.shared_parameters import ANSWERS
from shuffledp_services.commands import task_terms
from shuffledp_services.commands.task_terms import question_of, question_options

OPTIONAL = replace(ANSWERS, help="Or its own", required=False)
STARS = Parameter("stars", "whole number", "How many", least=2, most=10)
KEPT = {"question": "How was it?", "mode": "agnostic", "statistic": "rating"}


@dataclass(frozen=True)
class RatingSurvey(FrequencySurvey):
    """A statistic with an option of another one, which it does not need."""

    words: ClassVar[Any] = replace(FrequencySurvey.words, name="rating")
    parameters: ClassVar[tuple[Parameter, ...]] = (STARS, OPTIONAL)

    categories: tuple[str, ...] = ("*", "**")
    stars: int = 2


@pytest.fixture(autouse=True)
def rating(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {"frequency": FrequencySurvey, "rating": RatingSurvey}
    monkeypatch.setattr(task_terms, "KINDS", kinds)


def options() -> dict[str, click.Option]:
    @click.command
    @question_options
    def command(**_given: Any) -> None:
        """Takes options of a question."""

    named = [each for each in command.params if isinstance(each, click.Option)]
    assert len({each.opts[0] for each in named}) == len(named)
    return {each.opts[0]: each for each in named}


def test_an_option_of_two_statistics_is_explained_for_each() -> None:
    category = options()["--category"]

    assert category.multiple
    assert category.help == (
        "Frequency: One of the answers; give it once for each. Rating: Or its own."
    )


def test_terms_that_are_not_needed_may_be_left_out() -> None:
    given: dict[str, Any] = {each.name: None for each in options().values()}
    given |= KEPT | {"stars": 2, "categories": ()}

    survey: Any = question_of(given).survey

    assert (survey.stars, survey.categories) == (2, ("*", "**"))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"stars": None}, "Expected --stars with rating."),
        ({"stars": 2, "mechanism": "one-bit"}, "Expected no --mechanism with rating."),
        ({"stars": 0}, "Expected stars to be a whole number from 2 to 10, got 0."),
    ],
)
def test_terms_that_are_missing_or_of_another_statistic_are_refused(
    changes: dict[str, Any], sentence: str
) -> None:
    given: dict[str, Any] = {each.name: None for each in options().values()}

    with pytest.raises(InvalidInputError, match=sentence):
        question_of(given | KEPT | {"categories": ()} | changes)
