"""Questions described in a TOML file: a table for each, with its kind and its terms.

Without a kind, a question is a choice. `text`, as people read it, is left to forms; `unit`
and `expected_mean` are for plans; `columns` are those of a table with people's answers. A
table or a group mean may name questions of the same file.

[questions.transport]
kind = "choice"
options = ["bus", "bicycle", "car"]

[questions.age]
kind = "number"
low = 0
high = 120
interest = 2.0
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from shuffledp.arguments import expect_instance
from shuffledp.arrays import as_number
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.question_tables import read_question_tables, with_named_questions
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
from shuffledp.statistics.questionnaire.question import PLANNED, Question
from shuffledp.statistics.questionnaire.table_question import TableQuestion
from shuffledp.statistics.questionnaire.texts.unlisted_strings_question import (
    UnlistedStringsQuestion,
)

KINDS: dict[str, type[Any]] = {
    "choice": ChoiceQuestion,
    "number": NumberQuestion,
    "distribution": DistributionQuestion,
    "table": TableQuestion,
    "pairs": PairsQuestion,
    "group-mean": GroupMeanQuestion,
    "hashed-choice": HashedChoiceQuestion,
    "unlisted-strings": UnlistedStringsQuestion,
}

# Of terms whose name alone does not say it.
_MEANINGS = {"people": "people are the names of groups, or that of a choice"}


@dataclass(frozen=True)
class QuestionFile:
    """Questions, and the analyst's interest in each.

    Attributes:
        questions: In the order of the file.
        interest: Weights of the squared errors of questions; 1 for others.
        columns: Of a table with people's answers, by question; others have usual ones.
        expected_means: Of numbers, by question: predicted errors assume them.
        units: Of numbers, by question.
    """

    questions: tuple[Question, ...]
    interest: Mapping[str, float]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    expected_means: Mapping[str, float] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)


def read_questions(path: Path) -> QuestionFile:
    """Returns the questions that a TOML file describes.

    Args:
        path: Of the file, in UTF-8.

    Raises:
        DataError: If it cannot be read, or describes no questions.
    """
    try:
        return _described_questions(read_question_tables(path))
    except InvalidInputError as error:
        raise DataError(f"{path}, {error}") from error


def questions_of(source: Any) -> QuestionFile:
    """Returns questions, however they are given.

    >>> questions_of({"age": {"kind": "number", "low": 0, "high": 120}}).questions[0].name
    'age'

    Args:
        source: The path of a TOML file; a mapping of names to terms, as in such a file; or
            questions in a list.

    Raises:
        DataError: If a file cannot be read, or describes no questions.
        InvalidInputError: If terms are no question's, or there are no questions.
    """
    if isinstance(source, str | Path):
        return read_questions(Path(source))
    if isinstance(source, Mapping) and source:
        return _described_questions(source)
    if isinstance(source, Sequence) and source:
        return QuestionFile(tuple(source), {})
    raise InvalidInputError(
        "Expected questions: the path of a TOML file, a mapping of names to terms, or a "
        f"list of questions, got {source!r:.60}."
    )


def _described_questions(tables: Mapping[str, Any]) -> QuestionFile:
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            raise InvalidInputError(
                f"question {name}: Expected terms, got {table!r:.60}."
            )
    questions, interest, columns, means, units = [], {}, {}, {}, {}
    for name, terms in with_named_questions(tables).items():
        try:
            # As people read it: it has nothing to do with noise.
            terms.pop("text", None)
            if "unit" in terms:
                units[name] = expect_instance(terms.pop("unit"), str)
            if "expected_mean" in terms:
                means[name] = as_number(terms.pop("expected_mean"), "expected mean")
            if "interest" in terms:
                interest[name] = as_number(terms.pop("interest"), "interest")
            if "columns" in terms:
                columns[name] = _column_names(terms.pop("columns"))
            questions.append(_question_of(name, terms))
        except InvalidInputError as error:
            raise InvalidInputError(f"question {name}: {error}") from error
    return QuestionFile(tuple(questions), interest, columns, means, units)


def _column_names(given: object) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not names or isinstance(names, str):
        raise InvalidInputError(f"Expected names of columns, got {given!r:.60}.")
    if not all(isinstance(name, str) for name in names):
        raise InvalidInputError(f"Expected names of columns, got {given!r:.60}.")
    return tuple(names)


def _question_of(name: str, terms: dict[str, Any]) -> Question:
    kind = terms.pop("kind", "choice")
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidInputError(
            f"Expected a kind, one of {', '.join(KINDS)}, got {kind!r}."
        )
    attributes = [
        each
        for each in fields(KINDS[kind])
        if each.name != "name" and PLANNED not in each.metadata
    ]
    required = {
        each.name
        for each in attributes
        if each.default is MISSING and each.default_factory is MISSING
    }
    allowed_terms = {each.name for each in attributes}
    if not required <= set(terms) <= allowed_terms:
        optional = sorted(allowed_terms - required)
        also = f", and perhaps {', '.join(optional)}" if optional else ""
        notes = "".join(
            f" ({_MEANINGS[term]})" for term in sorted(allowed_terms & {*_MEANINGS})
        )
        raise InvalidInputError(
            f"Expected {', '.join(sorted(required))}{also}{notes}, got "
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
