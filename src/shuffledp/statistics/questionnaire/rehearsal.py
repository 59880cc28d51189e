"""Questionnaires rehearsed on known answers: options, and the table that is read."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shuffledp.datasets.answer_numbers import answer_targets
from shuffledp.datasets.exclusion_notes import exclusion_notes
from shuffledp.datasets.frames import rows_of
from shuffledp.datasets.missing import check_missing, cleaned_rows, refuse_missing
from shuffledp.datasets.table_files import Rows
from shuffledp.errors import DataError, InvalidInputError, MissingValueError
from shuffledp.labels import SHARES, StatisticLabels
from shuffledp.option_text import LEVEL_SHARES, Argument, option_text, statistic
from shuffledp.parameter import Parameter
from shuffledp.statistics.questionnaire.parameters import MAX_MESSAGES
from shuffledp.statistics.questionnaire.question import check_different_names
from shuffledp.statistics.questionnaire.question_file import (
    QuestionFile,
    questions_of,
)
from shuffledp.statistics.questionnaire.rehearsed.answer_columns import (
    AnswerCells,
    AnswerColumns,
)
from shuffledp.statistics.questionnaire.rehearsed.column_kinds import columns_of
from shuffledp.statistics.questionnaire.rehearsed.questionnaire_summary import (
    rehearse_questionnaire,
)
from shuffledp.statistics.rehearsal_stage import Rehearsal, Stage
from shuffledp.statistics.request import Request
from shuffledp.statistics.shared_parameters import CONSISTENT
from shuffledp.statistics.summary import Summary
from shuffledp.types import Floats

WORDS = StatisticLabels(
    name="questionnaire",
    title="Answers",
    asked="What people answered",
    row="answer",
    rows="answers",
    # Of most of its numbers; each question has a display of its own.
    display=SHARES,
)


class QuestionnaireStatistic:
    """Estimates of several questions, where people choose central epsilons."""

    words = WORDS
    parameters = (
        Parameter(
            "questions",
            "described questions",
            "A TOML file of questions, as of `shuffledp plan questionnaire`; each answer "
            "is in a column of the question's name, or in its `columns`",
            "FILE",
        ),
        MAX_MESSAGES,
        CONSISTENT,
    )

    def rehearsal(self, request: Request) -> Rehearsal:
        """Returns a rehearsal of all questions, with a row per person."""
        if request.mode != "agnostic":
            raise InvalidInputError(
                option_text(
                    "Expected {} with {}: reports never carry a target.",
                    Argument("mode", "agnostic", '"agnostic"'),
                    statistic(WORDS.name),
                )
            )
        source = request.option("questions")
        targets_known = bool(request.level or request.shares)
        if source is None or not targets_known or request.value:
            raise InvalidInputError(
                option_text(
                    "Expected {}, and {} or {}, with {}, and no {}.",
                    Argument("questions", "FILE"),
                    # A budget in a questionnaire is a target, and Python calls it so.
                    Argument("level", "COLUMN", python_name="targets"),
                    replace(
                        LEVEL_SHARES,
                        value="{TARGET: SHARE, ...}",
                        python_name="targets",
                    ),
                    statistic(WORDS.name),
                    Argument("value"),
                )
            )
        described = questions_of(source)
        answered = columns_of(described.questions, described.columns)

        def rehearse(stage: Stage) -> Summary:
            return _rehearse(request, described, answered, stage)

        return rehearse


STATISTIC = QuestionnaireStatistic()


def _rehearse(
    request: Request,
    described: QuestionFile,
    answered: tuple[AnswerColumns, ...],
    stage: Stage,
) -> Summary:
    names = [question.name for question in described.questions]
    check_different_names(names)
    rows = _answer_rows(request, answered)
    answers, targets, notes = _answering_people(request, names, answered, rows, stage)
    return rehearse_questionnaire(
        WORDS,
        described,
        dict(zip(names, answered, strict=True)),
        answers,
        targets,
        stage=stage.noting(rows.notes + notes),
        source=request.table_source.name,
        max_messages=request.option("max_messages"),
        consistent=request.option("consistent", False),
    )


def _answer_rows(request: Request, answered: tuple[AnswerColumns, ...]) -> Rows:
    """Returns the columns of answers and targets, with nulls for missing values."""
    check_missing(request.missing)
    columns = [column for each in answered for column in each.columns]
    if request.level is not None:
        if request.level in columns:
            raise DataError("Expected different columns for answers and targets.")
        columns.append(request.level)
    known_texts = {text for each in answered for text in each.texts}
    return cleaned_rows(rows_of(request.table_source, columns), known_texts)


def _answering_people(
    request: Request,
    names: list[str],
    answered: tuple[AnswerColumns, ...],
    rows: Rows,
    stage: Stage,
) -> tuple[dict[str, NDArray[Any]], Floats, tuple[str, ...]]:
    """Returns answers by question, targets, and notes on people who were left out."""
    cells = AnswerCells(rows)
    # All cells are read before rows are dropped, so that errors name rows of the table.
    answers = {
        name: each.read(cells) for name, each in zip(names, answered, strict=True)
    }
    needed_columns = _needed(request, answered, rows)
    present = np.ones(rows.frame.height, dtype=np.bool_)
    notes: tuple[str, ...] = ()
    if needed_columns.width:
        holes = needed_columns.select(pl.any_horizontal(pl.all().is_null())).to_series()
        present = ~holes.to_numpy()
        notes = exclusion_notes(needed_columns, int(present.sum()))
    if not present.any():
        raise DataError(
            f"Expected a person with a value in every column of {rows.name}."
        )
    given_answers = {
        name: column_answers[present] for name, column_answers in answers.items()
    }
    if request.level is None:
        targets = request.dealt(int(present.sum()), rng=stage.rng)
    else:
        column = rows.frame[request.level]
        targets = answer_targets(column, present, first_row=rows.first)
        targets = request.checked(targets)
    return given_answers, targets, notes


def _needed(
    request: Request, answered: tuple[AnswerColumns, ...], rows: Rows
) -> pl.DataFrame:
    """Returns the columns in which every person needs a value.

    Raises:
        MissingValueError: If there is none in a row, and that is refused.
    """
    numbers = [c for each in answered if not each.can_skip for c in each.columns]
    numbers = list(dict.fromkeys(numbers))
    if request.missing == "refuse":
        if request.level is not None:
            refuse_missing([rows.frame[request.level]], rows)
        try:
            refuse_missing([rows.frame[column] for column in numbers], rows)
        except MissingValueError as error:
            raise MissingValueError(
                f"{error} A number can be left out if its question says so, with "
                "skippable = true."
            ) from error
    target = [] if request.level is None else [request.level]
    return rows.frame.select([*numbers, *target])
