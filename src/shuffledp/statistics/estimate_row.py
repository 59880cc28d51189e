"""One estimated number of a summary."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False)
class EstimateRow:
    """One estimated number, with its interval and the truth.

    Attributes:
        name: Of the category, string, item or group of people.
        estimate: The number; NaN where the collection says nothing of it.
        standard_error: Of the estimate; NaN where an interval has none, as a quantile's.
        low: Lower end of its confidence interval.
        high: Upper end of it.
        truth: The true number, or None where a rehearsal does not know it, either.
        listed: Whether reports list it; if not, it is in the JSON and CSV only.
        details: Further columns of the JSON and CSV.
        consistent: The possible number that is nearest to the estimate, biased; None if it
            was not asked for, NaN if the estimate is.
    """

    name: str
    estimate: float
    standard_error: float
    low: float
    high: float
    truth: float | None
    listed: bool = True
    details: Mapping[str, Any] = field(default_factory=dict)
    consistent: float | None = None

    @property
    def covered(self) -> bool:
        """True if the interval contains the truth, or no truth is known."""
        # Not counted as a miss: `num_covered` looks at known truths alone.
        return self.truth is None or self.low <= self.truth <= self.high

    @property
    def is_comparable(self) -> bool:
        """Whether the truth is known, and the interval has an end that could miss it."""
        ends = math.isfinite(self.low) or math.isfinite(self.high)
        return ends and self.truth is not None

    @property
    def error(self) -> float | None:
        """The estimate minus the truth; None if either is unknown."""
        if self.truth is None or math.isnan(self.estimate):
            return None
        return self.estimate - self.truth

    @property
    def spread(self) -> float:
        """The standard error, or half the interval where there is none; 0 if unknown."""
        half = (self.high - self.low) / 2.0
        sizes = [size for size in (self.standard_error, half) if math.isfinite(size)]
        return sizes[0] if sizes else 0.0
