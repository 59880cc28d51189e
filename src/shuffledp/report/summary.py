"""What a rehearsal found, as plain values, for JSON and for everything that shows it."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.analyzer.dependence import Dependence
from shuffledp.format_number import plain
from shuffledp.labels import StatisticLabels
from shuffledp.report.number_text import MAX_ROWS
from shuffledp.types import Mode


@dataclass(frozen=True, eq=False)
class EstimateRow:
    """One estimated number.

    Attributes:
        name: What it is about.
        estimate: The number.
        standard_error: Its error.
        low: Where its confidence interval begins.
        high: Where it ends.
        truth: The true number, or None where a rehearsal does not know it, either.
        listed: Whether people are shown it; if not, it is in the JSON and CSV only.
        details: More about it, for the JSON and CSV.
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
        """Does the truth, if it is known, lie inside the interval?"""
        return self.truth is None or self.low <= self.truth <= self.high


@dataclass(frozen=True, eq=False)
class Summary:
    """A rehearsal and how it is to be shown.

    Attributes:
        words: What was estimated.
        source: Where the values come from, in words.
        rows: Every estimated number.
        mode: "agnostic" or "stratified".
        num_users: People in the collection.
        seed: Of the simulation, or None if it drew from the operating system.
        confidence: Of the intervals, in (0, 1).
        unbiased_if: When the estimate is unbiased, in words; None if it never is.
        guarantee: What the collection is worth.
        caveats: What else to know, in sentences.
        warnings: What should not be overlooked, in sentences.
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
    caveats: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    dependence: Dependence | None = None

    @property
    def num_covered(self) -> int:
        """How many true numbers lie inside their interval."""
        return sum(row.covered for row in self.rows if row.truth is not None)

    @property
    def coverage(self) -> str:
        """Do the true numbers lie inside their intervals? In one sentence."""
        interval = f"{plain(100 * self.confidence)}% interval."
        if self.words.display.is_single:
            lies = "lies" if self.num_covered else "does not lie"
            return f"The true {self.words.name} {lies} inside its {interval}"
        return (
            f"{self.num_covered} of {len(self.rows)} true {self.words.display.noun}s lie "
            f"inside their {interval}"
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """When the estimate is unbiased, and what else to know."""
        first = () if self.unbiased_if is None else (self.unbiased_if,)
        return first + self.caveats

    def listed_rows(self) -> list[EstimateRow]:
        """Returns the rows to show: all, or those of largest share, in their order."""
        rows = [row for row in self.rows if row.listed]
        if len(rows) <= MAX_ROWS:
            return rows
        # What is neither found nor not found, the share of other strings, stays.
        order = sorted(
            range(len(rows)),
            key=lambda place: (
                rows[place].details.get("found", True) is not None,
                -rows[place].estimate,
            ),
        )
        return [rows[place] for place in sorted(order[:MAX_ROWS])]

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as plain values."""
        return {
            "statistic": self.words.name,
            "source": self.source,
            "num_users": self.num_users,
            "mode": self.mode,
            "unbiased_if": self.unbiased_if,
            "seed": self.seed,
            "confidence": self.confidence,
            "estimates": [self._plain(row) for row in self.rows],
            "num_truths_in_interval": self.num_covered,
            "caveats": list(self.caveats),
            "warnings": list(self.warnings),
            "dependence": self._dependence(),
            "guarantee": self.guarantee.to_dict(),
        }

    def to_csv(self) -> str:
        """Returns the table of all rows, with a header."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = ["estimate", "standard_error", "low", "high", "truth"]
        details = list(self.rows[0].details)
        writer.writerow([self.words.row, *names, *details])
        for row in self.rows:
            numbers = [getattr(row, name) for name in names]
            writer.writerow(
                [row.name, *numbers, *(row.details[name] for name in details)]
            )
        return text.getvalue()

    def _plain(self, row: EstimateRow) -> dict[str, Any]:
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
