"""Known answers to a question that estimates the mean of a number."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.labels import Display, StatisticLabels
from shuffledp.statistics.charts import IntervalChart
from shuffledp.statistics.questionnaire.group_mean_estimate import GroupMeanEstimate
from shuffledp.statistics.questionnaire.number_question import (
    NumberEstimate,
    NumberQuestion,
)
from shuffledp.statistics.questionnaire.rehearsed.answer_columns import (
    AnswerCells,
    answer_rows,
    answered_section,
)
from shuffledp.statistics.summary_section import SummarySection
from shuffledp.types import Floats


@dataclass(frozen=True)
class NumberColumns:
    """See `AnswerColumns`.

    Attributes:
        question: That is asked.
        columns: One.
    """

    question: NumberQuestion
    columns: tuple[str, ...]
    texts = ()

    @property
    def can_skip(self) -> bool:
        """Whether the question may be left out."""
        return self.question.skippable

    @staticmethod
    def usual_columns(question: NumberQuestion) -> tuple[str, ...]:
        """Returns a column of the question's name."""
        return (question.name,)

    def read(self, cells: AnswerCells) -> Floats:
        """Returns numbers, shape (n,)."""
        (column,) = self.columns
        return cells.numbers(column, self.question.low, self.question.high)

    def consistent(
        self, estimate: NumberEstimate | GroupMeanEstimate, answers: Floats
    ) -> ConsistentEstimate:
        """Returns possible numbers: see `AnswerColumns`."""
        del answers
        return estimate.consistent()

    def sections(
        self, estimate: Any, answers: Floats, confidence: float
    ) -> tuple[SummarySection, ...]:
        """Returns the mean of those who answered, and how many did if some may not."""
        name = self.question.name
        numbers = (
            estimate.value,
            estimate.standard_error,
            estimate.interval(confidence),
        )
        given = answers[~np.isnan(answers)]
        truth = float(given.mean()) if given.size else math.nan
        rows = answer_rows(name, "mean", estimate.labels, numbers, [truth])
        display = Display("mean", axis=name, has_bars=False)
        words = StatisticLabels(name, name, name, "number", "numbers", display)
        mean = SummarySection(words, rows, IntervalChart())
        if not self.question.skippable:
            return (mean,)
        return mean, answered_section(name, estimate.people, answers, confidence)
