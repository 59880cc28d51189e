"""A collection as plain values, for JSON and for everything else that shows it."""

import csv
import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.protocols.collection import FrequencyCollection
from shuffledp.report.words import MAX_ROWS
from shuffledp.types import Floats

UNBIASED_IF = {
    "agnostic": (
        "Unbiased if values and levels are independent: levels were shuffled apart from "
        "the messages. If certain people choose certain levels, use the stratified mode."
    ),
    "stratified": (
        "Unbiased whatever the levels depend on: every message carries its level, and "
        "people hide among their own level only."
    ),
}


@dataclass(frozen=True, eq=False)
class FrequencySummary:
    """A collection and how it is to be shown.

    Attributes:
        collection: The collection.
        source: Where the values come from, in words.
        confidence: Of the intervals, in (0, 1).
        seed: Of the simulation, or None if it drew from the operating system.
    """

    collection: FrequencyCollection
    source: str
    confidence: float
    seed: int | None

    @property
    def intervals(self) -> Floats:
        """The ends of the confidence intervals, shape (k, 2)."""
        return self.collection.estimate.interval(self.confidence)

    @property
    def num_covered(self) -> int:
        """How many true shares lie inside their interval."""
        low, high = self.intervals.T
        truth = self.collection.truth
        return int(np.count_nonzero((low <= truth) & (truth <= high)))

    @property
    def caveat(self) -> str:
        """When the estimate is unbiased, in one sentence."""
        return UNBIASED_IF[self.collection.estimate.mode]

    def rows(self) -> list[dict[str, Any]]:
        """Returns one row per category."""
        collection, intervals = self.collection, self.intervals.tolist()
        return [
            {
                "category": name,
                "estimate": value,
                "standard_error": error,
                "interval": interval,
                "truth": truth,
            }
            for name, value, error, interval, truth in zip(
                collection.categories,
                collection.estimate.value.tolist(),
                collection.estimate.standard_error.tolist(),
                intervals,
                collection.truth.tolist(),
                strict=True,
            )
        ]

    def largest_rows(self) -> list[dict[str, Any]]:
        """Returns the rows to show: all, or the most frequent, in their order."""
        rows = self.rows()
        if len(rows) <= MAX_ROWS:
            return rows
        order = np.argsort(-self.collection.estimate.value, kind="stable")
        return [rows[position] for position in sorted(order[:MAX_ROWS].tolist())]

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as plain values."""
        estimate = self.collection.estimate
        return {
            "statistic": "frequency",
            "source": self.source,
            "num_users": estimate.num_users,
            "mode": estimate.mode,
            "unbiased_if": self.caveat,
            "seed": self.seed,
            "confidence": self.confidence,
            "categories": self.rows(),
            "num_truths_in_interval": self.num_covered,
            "guarantee": self.collection.guarantee.to_dict(),
        }

    def to_csv(self) -> str:
        """Returns the table of categories, with a header."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(
            ["category", "estimate", "standard_error", "low", "high", "truth"]
        )
        for row in self.rows():
            writer.writerow(
                [
                    row["category"],
                    row["estimate"],
                    row["standard_error"],
                    *row["interval"],
                    row["truth"],
                ]
            )
        return text.getvalue()
