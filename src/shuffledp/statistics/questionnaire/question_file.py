"""Questions described in a TOML file: a table for each, with its kind and its terms.

Without a kind, a question is a choice. `text`, as people read it, is left to forms.

[questions.transport]
kind = "choice"
options = ["bus", "bicycle", "car"]

[questions.age]
kind = "number"
low = 0
high = 120
interest = 2.0
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.question_tables import read_question_tables
from shuffledp.statistics.questionnaire.choice_question import ChoiceQuestion
from shuffledp.statistics.questionnaire.distribution_question import (
    DistributionQuestion,
)
from shuffledp.statistics.questionnaire.group_mean_question import GroupMeanQuestion
from shuffledp.statistics.questionnaire.number_question import NumberQuestion
from shuffledp.statistics.questionnaire.pairs_question import PairsQuestion
from shuffledp.statistics.questionnaire.question import Question
from shuffledp.statistics.questionnaire.table_question import TableQuestion

KINDS: dict[str, type[Any]] = {
    "choice": ChoiceQuestion,
    "number": NumberQuestion,
    "distribution": DistributionQuestion,
    "table": TableQuestion,
    "pairs": PairsQuestion,
    "group-mean": GroupMeanQuestion,
}


@dataclass(frozen=True)
class QuestionFile:
    """Questions, and the analyst's interest in each.

    Attributes:
        questions: In the order of the file.
        interest: Weights of the squared errors of questions; 1 for others.
    """

    questions: tuple[Question, ...]
    interest: Mapping[str, float]


def read_questions(path: Path) -> QuestionFile:
    """Returns the questions that a TOML file describes.

    Args:
        path: Of the file, in UTF-8.

    Raises:
        DataError: If it cannot be read, or describes no questions.
    """
    questions, interest = [], {}
    for name, table in read_question_tables(path).items():
        try:
            terms = dict(table)
            # As people read it: it has nothing to do with noise.
            terms.pop("text", None)
            if "interest" in terms:
                interest[name] = terms.pop("interest")
            questions.append(_question(name, terms))
        except InvalidInputError as error:
            raise DataError(f"{path}, question {name}: {error}") from error
    return QuestionFile(tuple(questions), interest)


def _question(name: str, terms: dict[str, Any]) -> Question:
    kind = terms.pop("kind", "choice")
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidInputError(
            f"Expected a kind, one of {', '.join(KINDS)}, got {kind!r}."
        )
    attributes = [field for field in fields(KINDS[kind]) if field.name != "name"]
    required = {
        field.name
        for field in attributes
        if field.default is MISSING and field.default_factory is MISSING
    }
    allowed = {field.name for field in attributes}
    if not required <= set(terms) <= allowed:
        optional = sorted(allowed - required)
        also = f", and perhaps {', '.join(optional)}" if optional else ""
        raise InvalidInputError(
            f"Expected {', '.join(sorted(required))}{also}, got "
            f"{', '.join(sorted(terms)) or 'nothing'}."
        )
    try:
        question: Question = KINDS[kind](name=name, **terms)
    # Terms of other types than a question knows.
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(
            f"Expected terms of a {kind} question: {error}."
        ) from error
    return question
