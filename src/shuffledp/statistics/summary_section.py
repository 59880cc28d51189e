"""A section of a summary: estimates of one kind, with a table and perhaps a picture."""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.format_number import plain
from shuffledp.labels import StatisticLabels
from shuffledp.statistics.charts import Chart
from shuffledp.statistics.estimate_row import EstimateRow


@dataclass(frozen=True, eq=False)
class SummarySection:
    """Estimates that are displayed together.

    Attributes:
        words: Labels.
        rows: Every estimated number.
        chart: How a picture shows them; None for a table alone.
    """

    words: StatisticLabels
    rows: tuple[EstimateRow, ...]
    chart: Chart | None

    @property
    def has_consistent(self) -> bool:
        """Whether possible numbers stand beside the estimates."""
        return any(row.consistent is not None for row in self.rows)

    @property
    def num_covered(self) -> int:
        """The number of known truths inside their interval, of those that have an end."""
        return sum(row.covered for row in self.rows if row.is_comparable)

    def coverage(self, confidence: float) -> str:
        """Returns how many intervals hold the true number, as a sentence.

        Args:
            confidence: Of the intervals, in (0, 1).
        """
        interval = f"{plain(100 * confidence)}% interval."
        num_comparable = sum(row.is_comparable for row in self.rows)
        if not num_comparable:
            noun = self.words.display.noun
            return f"No {noun} has both a known truth and an interval."
        # A number has a single truth, shares have one per row.
        if self.words.display.is_single:
            lies = "lies" if self.num_covered else "does not lie"
            return f"The true {self.words.name} {lies} inside its {interval}"
        return (
            f"{self.num_covered} of {num_comparable} true {self.words.display.noun}s lie "
            f"inside their {interval}"
        )

    @property
    def root_mean_square_error(self) -> float:
        """The root mean square of estimates minus truths; NaN if no truth is known."""
        errors = [row.error for row in self.rows if row.error is not None]
        finite = [error for error in errors if math.isfinite(error)]
        return float(np.sqrt(np.mean(np.square(finite)))) if finite else math.nan
