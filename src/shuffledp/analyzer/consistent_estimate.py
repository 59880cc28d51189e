"""Possible numbers beside the unbiased estimates that they are nearest to."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shuffledp.types import Floats


class UnbiasedEstimate(Protocol):
    """An estimate of several numbers."""

    @property
    def value(self) -> Floats:
        """Estimates."""
        ...

    @property
    def standard_error(self) -> Floats:
        """Standard errors about the people who took part."""
        ...

    @property
    def num_users(self) -> int:
        """The number of people it is made of."""
        ...

    def interval(self, confidence: float = 0.95) -> Floats:
        """Returns the ends of confidence intervals, shape (numbers, 2)."""
        ...


@dataclass(frozen=True, eq=False)
class ConsistentEstimate:
    """The possible numbers that are nearest to unbiased estimates.

    *They are biased.* Noise below 0 is cut off and taken from other numbers: rare answers
    come out too frequent in the mean, frequent ones too rare. So sums of few of them, and
    differences between collections, are estimated from `raw`.

    >>> import numpy as np, shuffledp as sdp
    >>> shares, errors = np.array([0.7, 0.4, -0.1]), np.full(3, 0.05)
    >>> raw = sdp.FrequencyEstimate(shares, errors, num_users=1_000, mode="agnostic")
    >>> consistent = raw.consistent()
    >>> consistent.value.round(2).tolist(), consistent.raw.value.tolist()
    ([0.65, 0.35, 0.0], [0.7, 0.4, -0.1])
    >>> consistent.interval().round(2).tolist()
    [[0.6, 0.8], [0.3, 0.5], [0.0, 0.0]]

    Attributes:
        raw: The unbiased estimates.
        value: Numbers that are possible together, shape as `raw.value`; NaN where that of
            `raw` is, as nothing is known of it.
        lowest: Smallest possible number.
        highest: Largest possible number.
        labels: Of numbers; empty where the estimates have none.
    """

    raw: UnbiasedEstimate
    value: Floats
    lowest: float
    highest: float
    labels: tuple[str, ...]

    @property
    def standard_error(self) -> Floats:
        """Of the unbiased estimates: errors of `value` depend on the unknown truth."""
        return self.raw.standard_error

    @property
    def num_users(self) -> int:
        """People in the collection."""
        return self.raw.num_users

    def interval(self, confidence: float = 0.95) -> Floats:
        """Returns the intervals of `raw`, limited to possible numbers, shape (..., 2).

        They hold the true numbers as often as those of `raw`, which are as long or longer.
        An interval about `value` would not: `value` may lie outside of its own.

        Args:
            confidence: Probability that an interval contains the truth, in (0, 1).
        """
        ends = self.raw.interval(confidence)
        limited: Floats = np.clip(ends, self.lowest, self.highest)
        return limited
