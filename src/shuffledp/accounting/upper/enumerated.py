"""The blanket bound by enumeration, where few messages are expected, of few kinds.

The expectation E[(L_1 + ... + L_{m+1})_+] / (m + 1) is a sum over how many of the m + 1
messages are of each kind, with multinomial weights. These do not depend on epsilon, so that
the bound at any epsilon is one product of a matrix. All terms are non-negative: no digits
cancel, and nothing is smoothed.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from shuffledp.accounting.sums.binomial import deviation
from shuffledp.accounting.upper.atoms import atoms
from shuffledp.accounting.upper.contour import proven_delta
from shuffledp.accounting.upper.cover_count import CountDistribution
from shuffledp.cover import Cover
from shuffledp.errors import CertificationError
from shuffledp.types import Floats, Ints

# Kinds of messages, and ways to count them, at most.
_MOST_KINDS, _MOST_TERMS = 4, 200_000
# Covers the rounding of sums and products, and of the probabilities of M.
_ARITHMETIC = 1.0 + 1e-9
# Covers the rounding of a logarithm, as a part of the sum of its parts' sizes, and of a sum
# of losses, as a part of the same.
_LOG_ROUNDING, _SUM_ROUNDING = 2e-15, 1e-15
# About the smallest normal number.
_SMALLEST = 2.3e-308


@dataclass(frozen=True, eq=False)
class EnumeratedBound:
    """The bound for one target user, ready to be evaluated at any epsilon.

    Attributes:
        cover: The target user's cover, without cells.
        counts: Messages of each kind, shape (terms, kinds).
        weights: Probability of each row, over the number of its messages, shape (terms,).
        lost: Probability of the numbers of messages that are left out.
    """

    cover: Cover
    counts: Floats
    weights: Floats
    lost: float

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        losses = self._losses(epsilon)
        with np.errstate(over="ignore", invalid="ignore"):
            total = self._sum(losses + _SUM_ROUNDING * np.abs(losses)) * _ARITHMETIC
            # No summand is larger than the one of the target user's message alone.
            alone = float(self.cover.masses @ np.maximum(losses, 0.0))
            total += self.lost * alone * _ARITHMETIC + self.cover.beyond(epsilon)
        return proven_delta(total, epsilon)

    def estimate(self, epsilon: float) -> float:
        """Returns the bound itself."""
        return self.delta(epsilon)

    def slack(self, epsilon: float) -> float:
        """Returns which part of the bound at `epsilon` is numerical caution."""
        exact = self._sum(self._losses(epsilon)) + self.cover.beyond(epsilon)
        part = 1.0 - exact / self.delta(epsilon)
        return min(max(part, 0.0), 1.0)

    def _losses(self, epsilon: float) -> Floats:
        """Returns the loss of each kind of message, rounded upward."""
        try:
            return atoms(self.cover, 1.0, epsilon).losses
        except OverflowError as error:
            raise CertificationError(
                f"No finite bound at epsilon {epsilon:g}: it is too large."
            ) from error

    def _sum(self, losses: Floats) -> float:
        return float(self.weights @ np.maximum(self.counts @ losses, 0.0))


def can_enumerate(
    cover: Cover, probabilities: Floats, people: Ints, tail: float
) -> bool:
    """Returns whether messages are few enough, and of few enough kinds.

    Args:
        cover: The target user's cover.
        probabilities: Probability of a blanket message in each group, shape (groups,).
        people: People in each group, shape (groups,).
        tail: Probability that may be dropped at either end.
    """
    kinds = cover.masses.size
    if cover.cells is not None or kinds > _MOST_KINDS:
        return False
    mean = float(probabilities @ people)
    variance = float((probabilities * (1.0 - probabilities)) @ people)
    reach = float(deviation(variance, tail))
    most = min(mean + reach, float(people.sum())) + 1.0
    first = max(mean - reach, 0.0)
    # Ways to count up to so many messages.
    ways = [math.prod(n + i for i in range(1, kinds + 1)) for n in (most, first)]
    return ways[0] - ways[1] <= _MOST_TERMS * math.factorial(kinds)


def enumerated_bound(cover: Cover, distribution: CountDistribution) -> EnumeratedBound:
    """Prepares the sum for one target user.

    Args:
        cover: The target user's cover, without cells.
        distribution: M, the number of others who send a blanket message.
    """
    kinds, start = cover.masses.size, distribution.start
    log_masses = np.log(np.maximum(cover.masses, _SMALLEST))
    all_counts, all_weights = [], []
    for others, chance in enumerate(distribution.weights.tolist(), start):
        counts = _ways(others + 1, kinds)
        # Logarithms of 0!, 1!, ...
        factorials = gammaln(np.arange(1.0, others + 3.0))
        parts = [-factorials[counts].sum(axis=1), counts @ log_masses]
        # Upward by what the logarithms may have lost.
        logs = factorials[-1] + parts[0] + parts[1]
        logs += _LOG_ROUNDING * (1.0 + factorials[-1] - parts[0] - parts[1])
        all_counts.append(counts)
        all_weights.append(chance / (others + 1) * np.exp(logs))
    # None is 0: it might have been rounded down to that.
    weights = np.maximum(np.concatenate(all_weights), _SMALLEST)
    rows = np.concatenate(all_counts).astype(np.float64)
    return EnumeratedBound(cover, rows, weights, distribution.lost)


@functools.lru_cache(maxsize=1_000)
def _ways(total: int, kinds: int) -> Ints:
    """Returns all ways to count `total` messages of some kinds, shape (ways, kinds)."""
    if kinds == 1:
        return np.array([[total]])
    others = [_ways(total - first, kinds - 1) for first in range(total + 1)]
    first = np.repeat(np.arange(total + 1), [len(each) for each in others])
    return np.column_stack([first, np.concatenate(others)])
