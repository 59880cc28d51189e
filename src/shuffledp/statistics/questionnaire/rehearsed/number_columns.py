"""Known answers to a question that estimates the mean of a number."""

from dataclasses import dataclass

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.labels import Display, StatisticLabels
from shuffledp.statistics.charts import IntervalChart
from shuffledp.statistics.questionnaire.number_question import (
    NumberEstimate,
    NumberQuestion,
)
from shuffledp.statistics.questionnaire.question import QuestionEstimate
from shuffledp.statistics.questionnaire.rehearsed.answer_columns import (
    AnswerCells,
    answer_rows,
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
    can_skip = False
    texts = ()

    @staticmethod
    def usual_columns(question: NumberQuestion) -> tuple[str, ...]:
        """Returns a column of the question's name."""
        return (question.name,)

    def read(self, cells: AnswerCells) -> Floats:
        """Returns numbers, shape (n,)."""
        (column,) = self.columns
        return cells.numbers(column, self.question.low, self.question.high)

    def consistent(
        self, estimate: NumberEstimate, answers: Floats
    ) -> ConsistentEstimate:
        """Returns possible numbers: see `AnswerColumns`."""
        del answers
        return estimate.consistent()

    def sections(
        self, estimate: QuestionEstimate, answers: Floats, confidence: float
    ) -> tuple[SummarySection, ...]:
        """Returns the mean."""
        name = self.question.name
        numbers = (
            estimate.value,
            estimate.standard_error,
            estimate.interval(confidence),
        )
        rows = answer_rows(
            name, "mean", estimate.labels, numbers, [float(answers.mean())]
        )
        display = Display("mean", axis=name, has_bars=False)
        words = StatisticLabels(name, name, name, "number", "numbers", display)
        return (SummarySection(words, rows, IntervalChart()),)
