"""Known groups and numbers of people, for means by group."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from shuffledp.statistics.questionnaire.rehearsed.step_sums import (
    mean_of_steps,
    step_sums,
)
from shuffledp.statistics.summary_section import SummarySection
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class GroupTruth:
    """True numbers of groups.

    Attributes:
        means: Of each group, NaN if it is empty, shape (groups,).
        shares: Of people in each group, shape (groups,).
    """

    means: Floats
    shares: Floats


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
        position = np.where(unknown, -1, position)
        return np.stack([position, np.where(unknown, low, numbers)], axis=1)

    def truth(self, answers: Floats) -> GroupTruth:
        """See `AnswerColumns`."""
        group, size = self._places(answers)
        counts = np.bincount(group, minlength=size)[1:]
        total = np.bincount(group, answers[:, 1], minlength=size)[1:]
        # The mean of an empty group is unknown.
        means = np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
        return GroupTruth(means, counts / answers.shape[0])

    @property
    def num_counts(self) -> int:
        """See `CountedColumns`."""
        return 2 * len(self.question.people) + 1

    def count(self, answers: Floats) -> NDArray[Any]:
        """Returns the number of people, those in each group, and sums in steps."""
        low, high = self.question.low, self.question.high
        group, size = self._places(answers)
        # Beside no group there may be any number.
        numbers = np.clip(answers[:, 1], low, high)
        sums = step_sums(numbers, group, size, low=low, high=high)[1:]
        counts = np.bincount(group, minlength=size)[1:]
        return np.array([len(answers), *counts.tolist(), *sums], dtype=object)

    def _places(self, answers: Floats) -> tuple[Ints, int]:
        """Returns each person's group, from 1, and 0 for none; and how many these are."""
        return answers[:, 0].astype(np.int64) + 1, len(self.question.people) + 1

    def counted_truth(self, counts: NDArray[Any]) -> GroupTruth:
        """See `CountedColumns`."""
        people, *others = counts.tolist()
        sizes, sums = np.split(np.array(others, dtype=object), 2)
        low, high = self.question.low, self.question.high
        means = [
            mean_of_steps(total, size, low=low, high=high)
            for total, size in zip(sums.tolist(), sizes.tolist(), strict=True)
        ]
        return GroupTruth(np.array(means), (sizes / people).astype(np.float64))

    def consistent(
        self, estimate: GroupMeanEstimate, truth: GroupTruth
    ) -> ConsistentGroupMeans:
        """Returns possible numbers: see `AnswerColumns`."""
        del truth
        return estimate.consistent()

    def sections(
        self, estimate: GroupMeanEstimate, truth: GroupTruth, confidence: float
    ) -> tuple[SummarySection, ...]:
        """Returns the mean of each group, and the share of people in it."""
        name, groups = self.question.name, self.question.people
        means = answer_rows(
            name,
            "mean",
            groups,
            (estimate.value, estimate.standard_error, estimate.interval(confidence)),
            truth.means,
        )
        people = answer_rows(
            name,
            "share",
            groups,
            shares_of(estimate.people, confidence),
            truth.shares,
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
