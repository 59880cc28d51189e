"""Known answers to a choice: a column of options, or of several options in a cell."""

from dataclasses import dataclass

import numpy as np

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
from shuffledp.types import Ints


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

    def consistent(self, estimate: ChoiceEstimate, answers: Ints) -> ConsistentEstimate:
        """Returns possible numbers: see `AnswerColumns`."""
        question = self.question
        answered = question.most == 1 and np.all(answers < len(question.options))
        return estimate.consistent(complete=bool(answered))

    def sections(
        self, estimate: QuestionEstimate, answers: Ints, confidence: float
    ) -> tuple[SummarySection, ...]:
        """Returns the share of people who picked each option."""
        name, options = self.question.name, self.question.options
        counts = np.bincount(answers.ravel(), minlength=len(options) + 1)[:-1]
        rows = answer_rows(
            name,
            "share",
            options,
            shares_of(estimate, confidence),
            counts / answers.shape[0],
        )
        picked = "answer" if self.question.most == 1 else "answer (several)"
        words = StatisticLabels(name, name, name, picked, "answers", SHARES)
        return (SummarySection(words, rows, BarChart()),)
