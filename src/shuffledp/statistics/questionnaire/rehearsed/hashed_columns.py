"""Known answers to a choice among very many categories: a column of positions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.labels import SHARES, StatisticLabels
from shuffledp.statistics.charts import BarChart
from shuffledp.statistics.questionnaire.hashed.hashed_choice_estimate import (
    HashedChoiceEstimate,
)
from shuffledp.statistics.questionnaire.hashed.hashed_choice_question import (
    HashedChoiceQuestion,
)
from shuffledp.statistics.questionnaire.rehearsed.answer_columns import (
    AnswerCells,
    answer_rows,
    shares_of,
)
from shuffledp.statistics.summary_section import SummarySection
from shuffledp.types import Ints

# Largest estimates that are listed if no category is recognized as frequent.
_UNRECOGNIZED = 10


@dataclass(frozen=True, eq=False)
class HashedTruth:
    """True numbers of a choice among very many categories.

    Attributes:
        counts: People who hold each category, shape (categories,).
        num_users: How many people there are, those without an answer included.
    """

    counts: Ints
    num_users: int


@dataclass(frozen=True)
class HashedColumns:
    """See `AnswerColumns`.

    Attributes:
        question: That is asked.
        columns: One.
    """

    question: HashedChoiceQuestion
    columns: tuple[str, ...]
    can_skip = True
    texts = ()

    @staticmethod
    def usual_columns(question: HashedChoiceQuestion) -> tuple[str, ...]:
        """Returns a column of the question's name."""
        return (question.name,)

    def read(self, cells: AnswerCells) -> Ints:
        """Returns positions of categories, -1 for no answer, shape (n,)."""
        (column,) = self.columns
        return cells.categories(column, self.question.num_categories)

    def truth(self, answers: Ints) -> HashedTruth:
        """See `AnswerColumns`."""
        given_answers = answers[answers >= 0]
        counts = np.bincount(given_answers, minlength=self.question.num_categories)
        return HashedTruth(counts, answers.size)

    def consistent(
        self, estimate: HashedChoiceEstimate, truth: HashedTruth
    ) -> ConsistentEstimate:
        """Returns possible numbers: see `AnswerColumns`."""
        return estimate.consistent(complete=bool(truth.counts.sum() == truth.num_users))

    def sections(
        self, estimate: Any, truth: HashedTruth, confidence: float
    ) -> tuple[SummarySection, ...]:
        """Returns the share of people in categories.

        Listed are those that are recognized as frequent, the largest first, or the largest
        estimates where there are none. Further rows are of all others that a person holds:
        rows of a million others would be noise around 0, and are in the estimate.
        """
        name, total = self.question.name, self.question.num_categories
        # Possible numbers have the rows of the estimates that they stand beside.
        raw = estimate.raw if isinstance(estimate, ConsistentEstimate) else estimate
        assert isinstance(raw, HashedChoiceEstimate)
        order = np.argsort(-raw.value, kind="stable")  # NaN is last.
        frequent_order = order[np.isin(order, raw.frequent)]
        # Terminals cut titles after some 40 characters.
        title = f"{name}: {frequent_order.size:,} frequent of {total:,}"
        if not frequent_order.size:
            frequent_order, title = (
                order[:_UNRECOGNIZED],
                f"{name}: none frequent of {total:,}",
            )
        others = np.setdiff1d(np.flatnonzero(truth.counts), frequent_order)
        categories = np.concatenate([frequent_order, others])
        value, error, interval = shares_of(estimate, confidence)
        rows = answer_rows(
            name,
            "share",
            [raw.labels[category] for category in categories],
            (
                value[categories],
                error[categories],
                interval[categories],
            ),
            truth.counts[categories] / truth.num_users,
            np.arange(categories.size) < frequent_order.size,
        )
        words = StatisticLabels(name, title, title, "category", "categories", SHARES)
        return (SummarySection(words, rows, BarChart()),)
