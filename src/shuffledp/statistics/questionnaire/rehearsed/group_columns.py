"""Known groups and numbers of people, for means by group."""

from dataclasses import dataclass

import numpy as np

from shuffledp.labels import SHARES, Display, StatisticLabels
from shuffledp.statistics.charts import BarChart, IntervalChart
from shuffledp.statistics.questionnaire.group_mean_estimate import (
    ConsistentGroupMeans,
    GroupMeanEstimate,
)
from shuffledp.statistics.questionnaire.group_mean_question import GroupMeanQuestion
from shuffledp.statistics.questionnaire.rehearsed.answer_columns import (
    AnswerCells,
    answer_rows,
    shares_of,
)
from shuffledp.statistics.summary_section import SummarySection
from shuffledp.types import Floats


@dataclass(frozen=True)
class GroupColumns:
    """See `AnswerColumns`.

    Attributes:
        question: That is asked.
        columns: Of groups, and of numbers.
    """

    question: GroupMeanQuestion
    columns: tuple[str, ...]
    can_skip = True

    @staticmethod
    def usual_columns(question: GroupMeanQuestion) -> tuple[str, ...]:
        """Returns a column "NAME group", and one of the question's name."""
        return (f"{question.name} group", question.name)

    @property
    def texts(self) -> tuple[str, ...]:
        """The groups."""
        return self.question.people

    def read(self, cells: AnswerCells) -> Floats:
        """Returns positions of groups and numbers, shape (n, 2)."""
        group, number = self.columns
        groups, low = self.question.people, self.question.low
        position = cells.positions(group, groups)[:, 0]
        numbers = cells.numbers(number, low, self.question.high)
        # Half an answer is none: the encoding takes any number beside no group.
        unknown = np.isnan(numbers)
        position = np.where(unknown, len(groups), position)
        return np.stack([position, np.where(unknown, low, numbers)], axis=1)

    def consistent(
        self, estimate: GroupMeanEstimate, answers: Floats
    ) -> ConsistentGroupMeans:
        """Returns possible numbers: see `AnswerColumns`."""
        del answers
        return estimate.consistent()

    def sections(
        self, estimate: GroupMeanEstimate, answers: Floats, confidence: float
    ) -> tuple[SummarySection, ...]:
        """Returns the mean of each group, and the share of people in it."""
        name, groups = self.question.name, self.question.people
        position = answers[:, 0].astype(np.int64)
        counts = np.bincount(position, minlength=len(groups) + 1)[:-1]
        total = np.bincount(position, answers[:, 1], minlength=len(groups) + 1)[:-1]
        # The mean of a group that is empty is unknown to everybody.
        truth = np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
        means = answer_rows(
            name,
            "mean",
            groups,
            (estimate.value, estimate.standard_error, estimate.interval(confidence)),
            truth,
        )
        people = answer_rows(
            name,
            "share",
            groups,
            shares_of(estimate.people, confidence),
            counts / answers.shape[0],
        )
        title, display = f"{name}: means", Display("mean", axis=name, has_bars=False)
        by_group = f"{name}: people by group"
        return (
            SummarySection(
                StatisticLabels(name, title, title, "group", "groups", display),
                means,
                IntervalChart(),
            ),
            SummarySection(
                StatisticLabels(name, by_group, by_group, "group", "groups", SHARES),
                people,
                BarChart(),
            ),
        )
