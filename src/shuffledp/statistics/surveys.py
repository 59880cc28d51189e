"""Which statistics can be asked of real people, by their names.

A survey is imported when somebody asks for it, and not before.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp.statistics.survey import Survey
from shuffledp.types import Mode

_PLACES = {
    "frequency": ("frequency.survey", "FrequencySurvey"),
    "mean": ("mean.survey", "MeanSurvey"),
    "sum": ("sum.survey", "SumSurvey"),
}
SURVEYS = tuple(_PLACES)


def survey_kind(statistic: object) -> type[Survey]:
    """Returns the survey of a statistic.

    >>> survey_kind("mean").heading
    'What the mean is'

    Raises:
        InvalidInputError: If there is none of this name.
    """
    if not isinstance(statistic, str) or statistic not in _PLACES:
        raise InvalidInputError(
            f"Expected a statistic of {', '.join(SURVEYS)}, got {statistic!r}."
        )
    module, name = _PLACES[statistic]
    kind: type[Survey] = getattr(import_module(f"shuffledp.statistics.{module}"), name)
    return kind


def survey_of(statistic: object, terms: Mapping[str, Any], mode: Mode) -> Survey:
    """Returns a statistic as it is asked in certain terms.

    >>> survey_of("mean", {"low": 0, "high": 10}, "agnostic").labels
    ('mean',)

    Args:
        statistic: Its name.
        terms: A value for each of its terms.
        mode: "agnostic" or "stratified".

    Raises:
        InvalidInputError: If a term is missing, unknown or out of range.
    """
    kind: Any = survey_kind(statistic)
    names = {term.name for term in kind.terms}
    if set(terms) != names:
        said = ", ".join(sorted(names)) or "nothing"
        raise InvalidInputError(f"Expected a {statistic} to be asked with {said}.")
    values = {term.name: term.checked(terms[term.name]) for term in kind.terms}
    survey: Survey = kind(**values, mode=mode)
    return survey


def terms_of(survey: Survey) -> dict[str, Any]:
    """Returns the values of all terms."""
    return {term.name: getattr(survey, term.name) for term in survey.terms}
