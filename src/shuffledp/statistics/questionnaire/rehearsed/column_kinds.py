"""The columns of questions of each kind."""

from collections.abc import Mapping, Sequence
from typing import Any

from shuffledp.errors import InvalidInputError
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
from shuffledp.statistics.questionnaire.question import Question
from shuffledp.statistics.questionnaire.rehearsed.answer_columns import AnswerColumns
from shuffledp.statistics.questionnaire.rehearsed.choice_columns import ChoiceColumns
from shuffledp.statistics.questionnaire.rehearsed.distribution_columns import (
    DistributionColumns,
)
from shuffledp.statistics.questionnaire.rehearsed.group_columns import GroupColumns
from shuffledp.statistics.questionnaire.rehearsed.hashed_columns import HashedColumns
from shuffledp.statistics.questionnaire.rehearsed.number_columns import NumberColumns
from shuffledp.statistics.questionnaire.rehearsed.string_columns import StringColumns
from shuffledp.statistics.questionnaire.rehearsed.table_columns import TableColumns
from shuffledp.statistics.questionnaire.table_question import TableQuestion
from shuffledp.statistics.questionnaire.texts.unlisted_strings_question import (
    UnlistedStringsQuestion,
)

_KINDS: dict[type[Any], type[Any]] = {
    ChoiceQuestion: ChoiceColumns,
    NumberQuestion: NumberColumns,
    DistributionQuestion: DistributionColumns,
    TableQuestion: TableColumns,
    PairsQuestion: TableColumns,
    GroupMeanQuestion: GroupColumns,
    HashedChoiceQuestion: HashedColumns,
    UnlistedStringsQuestion: StringColumns,
}


def columns_of(
    questions: Sequence[Question], named: Mapping[str, tuple[str, ...]]
) -> tuple[AnswerColumns, ...]:
    """Returns where the answers to each question are.

    Args:
        questions: Of any kinds that can be rehearsed.
        named: Columns by question; those of others have usual names.

    Raises:
        InvalidInputError: If a question is of another kind, or needs more or fewer columns.
    """
    return tuple(_columns_of_kind(question, named) for question in questions)


def _columns_of_kind(
    question: Question, named: Mapping[str, tuple[str, ...]]
) -> AnswerColumns:
    kind = _KINDS.get(type(question))
    if kind is None:
        known_kinds = ", ".join(each.__name__ for each in _KINDS)
        raise InvalidInputError(
            f"Expected questions to rehearse as {known_kinds}, got "
            f"{type(question).__name__}."
        )
    usual: tuple[str, ...] = kind.usual_columns(question)
    columns = named.get(question.name, usual)
    if len(columns) != len(usual):
        raise InvalidInputError(
            f"Expected {len(usual)} columns of question {question.name}, such as "
            f"{', '.join(usual)}, got {', '.join(columns)}."
        )
    answers: AnswerColumns = kind(question, columns)
    return answers
