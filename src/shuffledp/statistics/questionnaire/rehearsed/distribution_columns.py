"""Known answers to a question that estimates a distribution."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.labels import SHARES, Display, StatisticLabels
from shuffledp.statistics.charts import BarChart, CurveChart, QuantileMark
from shuffledp.statistics.questionnaire.distribution_estimate import (
    ConsistentDistribution,
    DistributionEstimate,
)
from shuffledp.statistics.questionnaire.distribution_question import (
    DistributionQuestion,
)
from shuffledp.statistics.questionnaire.rehearsed.answer_columns import (
    AnswerCells,
    answer_rows,
    answered_section,
    shares_of,
)
from shuffledp.statistics.summary_section import SummarySection
from shuffledp.types import Floats, Ints

# Shares of people below the quantiles that are shown.
_QUANTILES = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
# Edges that tables list, and ranges that have bars; CSV and JSON hold all.
_MOST_LISTED = 20


@dataclass(frozen=True, eq=False)
class DistributionTruth:
    """True numbers of a distribution.

    Attributes:
        people: How many took part.
        ranges: How many answered a number in each range, shape (ranges,).
        quantiles: NaN where they are not known.
    """

    people: int
    ranges: Ints
    quantiles: Floats

    @property
    def answered(self) -> int:
        """How many people answered."""
        return int(self.ranges.sum())


@dataclass(frozen=True)
class DistributionColumns:
    """See `AnswerColumns`.

    Attributes:
        question: That is asked.
        columns: One.
    """

    question: DistributionQuestion
    columns: tuple[str, ...]
    texts = ()

    @property
    def can_skip(self) -> bool:
        """Whether the question may be left out."""
        return self.question.skippable

    @staticmethod
    def usual_columns(question: DistributionQuestion) -> tuple[str, ...]:
        """Returns a column of the question's name."""
        return (question.name,)

    def read(self, cells: AnswerCells) -> Floats:
        """Returns numbers, shape (n,)."""
        (column,) = self.columns
        low, high = self.question.edges[0], self.question.edges[-1]
        return cells.numbers(column, low, high)

    def truth(self, answers: Floats) -> DistributionTruth:
        """See `AnswerColumns`."""
        given_numbers = answers[~np.isnan(answers)]
        # Of no answers there is no quantile.
        quantiles = (
            np.quantile(given_numbers, _QUANTILES, method="inverted_cdf")
            if given_numbers.size
            else np.full(_QUANTILES.size, np.nan)
        )
        return replace(self.counted_truth(self.count(answers)), quantiles=quantiles)

    @property
    def num_counts(self) -> int:
        """See `CountedColumns`."""
        return len(self.question.edges)

    def count(self, answers: Floats) -> Ints:
        """Returns the number of people, and of answers in each range."""
        given_numbers = np.asarray(answers, dtype=np.float64).ravel()
        given_numbers = given_numbers[~np.isnan(given_numbers)]
        ranges = np.histogram(given_numbers, np.array(self.question.edges))[0]
        return np.append(len(answers), ranges)

    def counted_truth(self, counts: NDArray[Any]) -> DistributionTruth:
        """See `CountedColumns`: counts of ranges tell no quantiles."""
        people, *ranges = counts.tolist()
        return DistributionTruth(
            people, np.array(ranges, np.int64), np.full(_QUANTILES.size, np.nan)
        )

    def consistent(
        self, estimate: DistributionEstimate, truth: DistributionTruth
    ) -> ConsistentDistribution:
        """Returns possible numbers: see `AnswerColumns`."""
        del truth
        return estimate.consistent()

    def sections(
        self,
        estimate: DistributionEstimate,
        truth: DistributionTruth,
        confidence: float,
    ) -> tuple[SummarySection, ...]:
        """Returns the distribution function, quantiles, and people in each range.

        Ranges have shares of all people, the others those of people who answered; how many
        did is stated if some may not.
        """
        quantiles = self._quantiles(estimate, truth, confidence)
        marks = tuple(
            QuantileMark(share, row.estimate, row.low, row.high)
            for share, row in zip(_QUANTILES.tolist(), quantiles.rows, strict=True)
        )
        return (
            self._function(estimate, truth, confidence, marks),
            quantiles,
            self._ranges(estimate, truth, confidence),
            *(
                (
                    answered_section(
                        self.question.name,
                        estimate.answered,
                        truth.answered / truth.people,
                        confidence,
                    ),
                )
                if self.question.skippable
                else ()
            ),
        )

    def _of(self, people: str) -> str:
        """Returns whose numbers a title is about, where some may not answer."""
        # Before the colon, as long titles are cut at their end.
        return f" of {people}" if self.question.skippable else ""

    def _function(
        self,
        estimate: DistributionEstimate,
        known: DistributionTruth,
        confidence: float,
        marks: tuple[QuantileMark, ...],
    ) -> SummarySection:
        name, edges = self.question.name, self.question.edges
        below = estimate.distribution()
        inner = np.array(edges[1:-1])
        # Of nobody's answers there is no share.
        below_edges = np.cumsum(known.ranges)[:-1]
        truth = below_edges / known.answered if known.answered else np.nan
        step = -(-inner.size // _MOST_LISTED)
        rows = answer_rows(
            name,
            "share below",
            below.labels,
            (below.value, below.standard_error, below.interval(confidence)),
            truth,
            np.arange(inner.size) % step == step // 2,
        )
        chart = CurveChart(edges[1:-1], edges[0], edges[-1], name, marks)
        title = f"{name}{self._of('those who answered')}: share of people below"
        return SummarySection(
            StatisticLabels(name, title, title, "number", "numbers", SHARES),
            rows,
            chart,
        )

    def _quantiles(
        self,
        estimate: DistributionEstimate,
        truth: DistributionTruth,
        confidence: float,
    ) -> SummarySection:
        name, count = self.question.name, _QUANTILES.size
        intervals = estimate.quantile_intervals(_QUANTILES, confidence)
        # An interval of the whole range is none: of so few answers nothing is known.
        is_known = np.any(np.isfinite(estimate.distribution().standard_error))
        numbers = (
            estimate.quantiles(_QUANTILES),
            # Their intervals come from the distribution function, not from an error.
            np.full(count, np.nan),
            np.where(is_known, intervals, [-np.inf, np.inf]),
        )
        rows = answer_rows(
            name,
            "quantile",
            [f"{100.0 * share:g}% of people are below" for share in _QUANTILES],
            numbers,
            truth.quantiles,
        )
        title = f"{name}{self._of('those who answered')}: quantiles"
        display = Display("quantile", axis=name, has_bars=False)
        words = StatisticLabels(name, title, title, "quantile", "quantiles", display)
        return SummarySection(words, rows, None)

    def _ranges(
        self,
        estimate: DistributionEstimate,
        truth: DistributionTruth,
        confidence: float,
    ) -> SummarySection:
        name = self.question.name
        rows = answer_rows(
            name,
            "share",
            estimate.labels,
            shares_of(estimate, confidence),
            truth.ranges / truth.people,
        )
        title = f"{name}{self._of('all people')}: people by range"
        lists_all = truth.ranges.size <= _MOST_LISTED
        return SummarySection(
            StatisticLabels(name, title, title, "range", "ranges", SHARES),
            rows,
            BarChart() if lists_all else None,
        )
