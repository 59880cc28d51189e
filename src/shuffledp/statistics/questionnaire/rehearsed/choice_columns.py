"""Known answers to a choice: a column of options, or of several options in a cell."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.labels import SHARES, StatisticLabels
from shuffledp.statistics.charts import BarChart
from shuffledp.statistics.questionnaire.choice_question import (
    ChoiceEstimate,
    ChoiceQuestion,
)
from shuffledp.statistics.questionnaire.question import QuestionEstimate
from shuffledp.statistics.questionnaire.rehearsed.answer_columns import (
    AnswerCells,
    answer_rows,
    shares_of,
)
from shuffledp.statistics.summary_section import SummarySection
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class ChoiceTruth:
    """True numbers of a choice.

    Attributes:
        shares: Of people who picked each option, shape (options,).
        complete: Whether all people picked one option.
    """

    shares: Floats
    complete: bool


@dataclass(frozen=True)
class ChoiceColumns:
    """See `AnswerColumns`.

    Attributes:
        question: That is asked.
        columns: One.
    """

    question: ChoiceQuestion
    columns: tuple[str, ...]
    can_skip = True

    @staticmethod
    def usual_columns(question: ChoiceQuestion) -> tuple[str, ...]:
        """Returns a column of the question's name."""
        return (question.name,)

    @property
    def texts(self) -> tuple[str, ...]:
        """The options."""
        return self.question.options

    def read(self, cells: AnswerCells) -> Ints:
        """Returns positions of options, shape (n, most)."""
        (column,) = self.columns
        return cells.positions(column, self.question.options, self.question.most)

    def truth(self, answers: Ints) -> ChoiceTruth:
        """See `AnswerColumns`."""
        return self.counted_truth(self.count(answers))

    @property
    def num_counts(self) -> int:
        """See `CountedColumns`."""
        return len(self.question.options) + 2

    def count(self, answers: Ints) -> Ints:
        """Returns the number of people, and of those who picked none, or each option."""
        # -1 is no answer.
        position = np.asarray(answers).ravel().astype(np.int64) + 1
        option_counts = np.bincount(position, minlength=len(self.question.options) + 1)
        return np.append(len(answers), option_counts)

    def counted_truth(self, counts: NDArray[Any]) -> ChoiceTruth:
        """See `CountedColumns`."""
        people, num_skipped, *option_counts = counts.tolist()
        shares = np.array([number / people for number in option_counts])
        return ChoiceTruth(shares, complete=self.question.most == 1 and not num_skipped)

    def consistent(
        self, estimate: ChoiceEstimate, truth: ChoiceTruth
    ) -> ConsistentEstimate:
        """Returns possible numbers: see `AnswerColumns`."""
        return estimate.consistent(complete=truth.complete)

    def sections(
        self, estimate: QuestionEstimate, truth: ChoiceTruth, confidence: float
    ) -> tuple[SummarySection, ...]:
        """Returns the share of people who picked each option."""
        name, options = self.question.name, self.question.options
        rows = answer_rows(
            name,
            "share",
            options,
            shares_of(estimate, confidence),
            truth.shares,
        )
        answer_phrase = "answer" if self.question.most == 1 else "answer (several)"
        words = StatisticLabels(name, name, name, answer_phrase, "answers", SHARES)
        return (SummarySection(words, rows, BarChart()),)
