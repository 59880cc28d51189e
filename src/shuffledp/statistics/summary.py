"""Summary of a rehearsal as plain values, from which reports are made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.analyzer.dependence import Dependence
from shuffledp.format_number import finite_or_none
from shuffledp.labels import StatisticLabels
from shuffledp.statistics.charts import IntervalChart
from shuffledp.statistics.estimate_row import EstimateRow
from shuffledp.statistics.manipulation import Manipulation
from shuffledp.statistics.summary_section import SummarySection
from shuffledp.types import Mode


@dataclass(frozen=True, eq=False)
class Summary:
    """Estimates of a rehearsal, with its guarantee and its labels.

    Attributes:
        words: Labels of the statistic.
        source: Origin of the values, as a phrase.
        rows: Every estimated number.
        mode: "agnostic" or "stratified".
        num_users: People in the collection.
        seed: Of the simulation, or None if it drew from the operating system.
        confidence: Of the intervals, in (0, 1).
        unbiased_if: The condition of an unbiased estimate, as a sentence; None if there
            is none.
        guarantee: Of the collection.
        manipulation: How far dishonest people can move the numbers.
        caveats: Further notes, in sentences.
        warnings: Serious problems, in sentences.
        dependence: Of the levels on the values; None in the stratified mode.
        parts: Rows that are displayed together, where there are several kinds of them.
        plan: Of the collection, if one was made: it has `to_dict`.
        estimates: By question, where several were asked: with all that they can compute.
    """

    words: StatisticLabels
    source: str
    rows: tuple[EstimateRow, ...]
    mode: Mode
    num_users: int
    seed: int | None
    confidence: float
    unbiased_if: str | None
    guarantee: Guarantee
    manipulation: Manipulation
    caveats: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    dependence: Dependence | None = None
    parts: tuple[SummarySection, ...] = ()
    plan: Any = None
    estimates: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sections(self) -> tuple[SummarySection, ...]:
        """All rows, as they are displayed: by default in one section."""
        return self.parts or (self._whole,)

    @property
    def _whole(self) -> SummarySection:
        return SummarySection(self.words, self.rows, IntervalChart())

    @property
    def has_consistent(self) -> bool:
        """Whether possible numbers stand beside the estimates."""
        return self._whole.has_consistent

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers of a row, as files name them."""
        beside = ("consistent",) if self.has_consistent else ()
        return ("estimate", *beside, "standard_error", "low", "high", "truth")

    @property
    def num_covered(self) -> int:
        """The number of known truths inside their interval, of those that have an end."""
        return self._whole.num_covered

    @property
    def coverage(self) -> str:
        """The coverage of true numbers by their intervals, as a sentence."""
        return self._whole.coverage(self.confidence)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The condition of an unbiased estimate, all caveats, and the manipulation."""
        # A biased estimate has no such condition: its caveats state the limit.
        first = () if self.unbiased_if is None else (self.unbiased_if,)
        lies = self.manipulation.sentence(self.words.display)
        return (*first, *self.caveats, lies)

    def to_dict(self) -> dict[str, Any]:
        """Returns the summary as plain values, for JSON."""
        plan = {} if self.plan is None else {"plan": self.plan.to_dict()}
        return {
            "statistic": self.words.name,
            "source": self.source,
            "num_users": self.num_users,
            "mode": self.mode,
            "unbiased_if": self.unbiased_if,
            "seed": self.seed,
            "confidence": self.confidence,
            "estimates": [self._row_to_dict(row) for row in self.rows],
            "num_truths_in_interval": self.num_covered,
            "caveats": list(self.caveats),
            "warnings": list(self.warnings),
            "dependence": self._dependence(),
            "manipulation": self.manipulation.to_dict(),
            **plan,
            "guarantee": self.guarantee.to_dict(),
        }

    def _row_to_dict(self, row: EstimateRow) -> dict[str, Any]:
        return {
            self.words.row: row.name,
            "estimate": finite_or_none(row.estimate),
            **(
                {}
                if row.consistent is None
                else {"consistent": finite_or_none(row.consistent)}
            ),
            "standard_error": finite_or_none(row.standard_error),
            "interval": [finite_or_none(row.low), finite_or_none(row.high)],
            "truth": row.truth,
            **row.details,
        }

    def _dependence(self) -> dict[str, Any] | None:
        if self.dependence is None:
            return None
        return {
            "largest_bias": self.dependence.largest_bias,
            "p_value": self.dependence.p_value,
            "suspected": self.dependence.suspected,
        }
