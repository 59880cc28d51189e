"""Shares of people who gave each answer, of all questions one after another."""

from dataclasses import dataclass

import numpy as np

from shuffledp.identity import Identity
from shuffledp.statistics.counts.counts_channel import CountsEstimate
from shuffledp.types import Floats


@dataclass(frozen=True, eq=False)
class AnswerShares:
    """Estimated shares of the people who took part.

    Attributes:
        counts: The estimates, in people.
    """

    counts: CountsEstimate

    @property
    def value(self) -> Floats:
        """Unbiased estimates, shape (answers,); a rare answer may come out below 0."""
        return np.concatenate(self.counts.value) / self.num_users

    @property
    def standard_error(self) -> Floats:
        """About the shares of the people who took part, shape (answers,)."""
        return np.concatenate(self.counts.standard_error) / self.num_users

    @property
    def population_error(self) -> Floats:
        """Standard errors about the population that they come from, shape (answers,)."""
        f = np.clip(self.value, 0.0, 1.0)
        error: Floats = np.sqrt(self.standard_error**2 + f * (1.0 - f) / self.num_users)
        return error

    @property
    def num_users(self) -> int:
        """People in the collection."""
        return self.counts.num_users

    @property
    def identity(self) -> Identity:
        """Of the protocol that estimated them."""
        return self.counts.identity

    def interval(self, confidence: float = 0.95) -> Floats:
        """Returns the ends of two-sided confidence intervals, shape (answers, 2).

        Args:
            confidence: Probability that an interval contains the true share, in (0, 1).
        """
        return np.concatenate(self.counts.interval(confidence)) / self.num_users
