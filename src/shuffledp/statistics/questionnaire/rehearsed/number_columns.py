"""Known answers to a question that estimates the mean of a number."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from shuffledp.statistics.questionnaire.rehearsed.step_sums import (
    mean_of_steps,
    step_sums,
)
from shuffledp.statistics.summary_section import SummarySection
from shuffledp.types import Floats


@dataclass(frozen=True)
class NumberTruth:
    """True numbers of answers.

    Attributes:
        mean: Of those that were given; NaN if there are none.
        answered: Share of people who gave one.
    """

    mean: float
    answered: float


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

    def truth(self, answers: Floats) -> NumberTruth:
        """See `AnswerColumns`."""
        given_numbers = answers[~np.isnan(answers)]
        mean = float(given_numbers.mean()) if given_numbers.size else math.nan
        return NumberTruth(mean, given_numbers.size / answers.size)

    @property
    def num_counts(self) -> int:
        """See `CountedColumns`."""
        return 3

    def count(self, answers: Floats) -> NDArray[Any]:
        """Returns numbers of people and of answers, and the sum of these in steps."""
        low, high = self.question.low, self.question.high
        given_numbers = np.asarray(answers, dtype=np.float64).ravel()
        given_numbers = given_numbers[~np.isnan(given_numbers)]
        alike = np.zeros(given_numbers.size, np.int64)
        sums = step_sums(given_numbers, alike, 1, low=low, high=high)
        return np.array([len(answers), given_numbers.size, *sums], dtype=object)

    def counted_truth(self, counts: NDArray[Any]) -> NumberTruth:
        """See `CountedColumns`."""
        people, num_answers, total = counts.tolist()
        low, high = self.question.low, self.question.high
        mean = mean_of_steps(total, num_answers, low=low, high=high)
        return NumberTruth(mean, num_answers / people)

    def consistent(
        self, estimate: NumberEstimate | GroupMeanEstimate, truth: NumberTruth
    ) -> ConsistentEstimate:
        """Returns possible numbers: see `AnswerColumns`."""
        del truth
        return estimate.consistent()

    def sections(
        self, estimate: Any, truth: NumberTruth, confidence: float
    ) -> tuple[SummarySection, ...]:
        """Returns the mean of those who answered, and how many did if some may not."""
        name = self.question.name
        numbers = (
            estimate.value,
            estimate.standard_error,
            estimate.interval(confidence),
        )
        rows = answer_rows(name, "mean", estimate.labels, numbers, [truth.mean])
        display = Display("mean", axis=name, has_bars=False)
        words = StatisticLabels(name, name, name, "number", "numbers", display)
        mean = SummarySection(words, rows, IntervalChart())
        if not self.question.skippable:
            return (mean,)
        return mean, answered_section(name, estimate.people, truth.answered, confidence)
