"""Randomized probability integral transform of messages to uniform numbers.

If a message y is drawn from a distribution with cumulative probabilities C, then
C(y - 1) + v P(y) with v uniform is uniform on [0, 1). So if devices draw as stated, the
numbers of all users are independent and identically distributed, whatever values they hold.
Two orders of messages are used: that of the list, and one with the messages that are
evidence of a value before all others.

The features of a message are three functions of both numbers, with mean 0 and variance 1.
"""

import numpy as np

from shuffledp.testing.distribution_table import DistributionTable
from shuffledp.types import Floats, Ints

# Largest absolute value of a feature: that of the second degree at the ends.
BOUND = 5.0**0.5
NUM_FEATURES = 3
# Of a standardized leak: (1 - p) / sqrt(p (1 - p)) at p = 0.1, where p (1 - p) is least.
LEAK_BOUND = 3.0
# Messages that exceed the average probability by less are not evidence of a value.
_MARGIN = 1e-9
# Variance of a Bernoulli draw with probability 0.1 or 0.9.
_MIN_VARIANCE = 0.09


class UniformRanks:
    """Cumulative probabilities of a table of distributions."""

    def __init__(self, distributions: DistributionTable) -> None:
        """Computes cumulative probabilities, and the messages that are evidence."""
        self._table = distributions.probabilities
        self._below = (
            np.cumsum(distributions.probabilities, axis=2) - distributions.probabilities
        )
        at_last_level = distributions.probabilities[-1]
        average = at_last_level.mean(axis=0) * (1.0 + _MARGIN)
        # Whether a message is evidence of a value, shape (values, messages).
        self._is_evidence = at_last_level > average
        # The probability of evidence, by level, value held and value suspected.
        self._probability = distributions.probabilities @ self._is_evidence.T.astype(
            np.float64
        )

    def features(
        self, indices: Ints, rows: Ints, levels: Ints, *, rng: np.random.Generator
    ) -> Floats:
        """Returns the three features of every entry, shape (n, width, 3).

        Args:
            indices: Indices of messages in the list, shape (n, width).
            rows: Rows of the values held, shape (n, width).
            levels: Indices of the users' levels, shape (n,).
            rng: Breaks ties.
        """
        level_column = levels[:, None]
        tie_break = rng.random(indices.shape)
        # C(y - 1) + v P(y).
        uniform = (
            self._below[level_column, rows, indices]
            + tie_break * self._table[level_column, rows, indices]
        )
        # Legendre polynomials of degrees 1 and 2, scaled to variance 1.
        first = 3.0**0.5 * (2.0 * uniform - 1.0)
        second = 5.0**0.5 * (6.0 * uniform * uniform - 6.0 * uniform + 1.0)
        evidence = self.evidence(indices, rows, rows, levels, rng=rng)
        return np.stack([first, second, evidence], axis=2)

    def evidence(
        self,
        indices: Ints,
        rows: Ints,
        suspected: Ints,
        levels: Ints,
        *,
        rng: np.random.Generator,
    ) -> Floats:
        """Returns scores that are low where messages are evidence, shape (n, width).

        Args:
            indices: Indices of messages in the list, shape (n, width).
            rows: Rows of the values held, shape (n, width).
            suspected: Rows of the values to find evidence of, shape (n, width).
            levels: Indices of the users' levels, shape (n,).
            rng: Breaks ties.
        """
        probability = self._probability[levels[:, None], rows, suspected]
        is_evidence = self._is_evidence[suspected, indices]
        tie_break = rng.random(indices.shape)
        # The same transform of the indicator: evidence comes first, so it scores low.
        uniform = np.where(
            is_evidence,
            tie_break * probability,
            probability + tie_break * (1.0 - probability),
        )
        scores: Floats = 3.0**0.5 * (2.0 * uniform - 1.0)
        return scores

    def leaks(self, indices: Ints, rows: Ints, levels: Ints) -> tuple[Floats, Floats]:
        """Returns whether messages are evidence of the value held, and its probability.

        Args:
            indices: Indices of messages in the list, shape (n, width).
            rows: Rows of the values held, shape (n, width).
            levels: Indices of the users' levels, shape (n,).

        Returns:
            Both of shape (n, width).
        """
        is_evidence = self._is_evidence[rows, indices].astype(np.float64)
        return is_evidence, self._probability[levels[:, None], rows, rows]

    def standard_leaks(
        self, indices: Ints, rows: Ints, levels: Ints, *, rng: np.random.Generator
    ) -> Floats:
        """Returns the leaks, or scores, with mean 0 and variance 1, shape (n, width).

        Args:
            indices: Indices of messages in the list, shape (n, width).
            rows: Rows of the values held, shape (n, width).
            levels: Indices of the users' levels, shape (n,).
            rng: Breaks ties.
        """
        is_evidence, probability = self.leaks(indices, rows, levels)
        variance = probability * (1.0 - probability)
        # Short sums of an indicator with a small variance are far from normal: there,
        # the score of `evidence` takes its place.
        scores: Floats = np.where(
            variance >= _MIN_VARIANCE,
            (is_evidence - probability) / np.sqrt(np.maximum(variance, _MIN_VARIANCE)),
            self.evidence(indices, rows, rows, levels, rng=rng),
        )
        return scores
