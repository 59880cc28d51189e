"""Summary of a rehearsal as plain values, from which reports are made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.analyzer.dependence import Dependence
from shuffledp.format_number import plain
from shuffledp.labels import StatisticLabels
from shuffledp.statistics.manipulation import Manipulation
from shuffledp.types import Mode


@dataclass(frozen=True, eq=False)
class EstimateRow:
    """One estimated number, with its interval and the truth.

    Attributes:
        name: Of the category, string, item or group of people.
        estimate: The number.
        standard_error: Of the estimate.
        low: Lower end of its confidence interval.
        high: Upper end of it.
        truth: The true number, or None where a rehearsal does not know it, either.
        listed: Whether reports list it; if not, it is in the JSON and CSV only.
        details: Further columns of the JSON and CSV.
    """

    name: str
    estimate: float
    standard_error: float
    low: float
    high: float
    truth: float | None
    listed: bool = True
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def covered(self) -> bool:
        """True if the interval contains the truth, or no truth is known."""
        # Not counted as a miss: `num_covered` looks at known truths alone.
        return self.truth is None or self.low <= self.truth <= self.high


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

    @property
    def num_covered(self) -> int:
        """The number of known truths inside their interval."""
        return sum(row.covered for row in self.rows if row.truth is not None)

    @property
    def coverage(self) -> str:
        """The coverage of true numbers by their intervals, as a sentence."""
        interval = f"{plain(100 * self.confidence)}% interval."
        # A number has a single truth, shares have one per row.
        if self.words.display.is_single:
            lies = "lies" if self.num_covered else "does not lie"
            return f"The true {self.words.name} {lies} inside its {interval}"
        return (
            f"{self.num_covered} of {len(self.rows)} true {self.words.display.noun}s lie "
            f"inside their {interval}"
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """The condition of an unbiased estimate, all caveats, and the manipulation."""
        # A biased estimate has no such condition: its caveats state the limit.
        first = () if self.unbiased_if is None else (self.unbiased_if,)
        lies = self.manipulation.sentence(self.words.display)
        return (*first, *self.caveats, lies)

    def to_dict(self) -> dict[str, Any]:
        """Returns the summary as plain values, for JSON."""
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
            "guarantee": self.guarantee.to_dict(),
        }

    def _row_to_dict(self, row: EstimateRow) -> dict[str, Any]:
        return {
            self.words.row: row.name,
            "estimate": row.estimate,
            "standard_error": row.standard_error,
            "interval": [row.low, row.high],
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
