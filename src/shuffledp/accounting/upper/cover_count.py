"""Distribution of M, the number of blanket messages: a sum of Bernoulli variables.

The bound never increases in M, so M may be replaced by anything stochastically smaller:

* draws of similar probability are replaced by as many equal draws of their *geometric*
  mean, which costs only the second order of the spread;
* the mass far out in the tails is dropped, and its probability is kept as `lost`.

Only sums and products of non-negative numbers occur, so small probabilities are accurate.
"""

import heapq
import itertools
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.sums.binomial import binomial_weight, deviation
from shuffledp.accounting.sums.grouping import MAX_GROUPS, grouped_blocks
from shuffledp.types import Floats, Ints

# Groups of many levels. Where means are geometric, ratios matter: near 0 they are narrow.
_GROUPS = 52
# Covers their rounding: a probability is lowered by this part of itself.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class CountDistribution:
    """Weights on start, start + 1, ...; `lost` is the probability not in them."""

    start: int
    weights: Floats
    lost: float

    @property
    def values(self) -> Floats:
        """The values, shape as `weights`."""
        return self.start + np.arange(self.weights.size, dtype=np.float64)

    def plus(self, other: "CountDistribution", *, tail: float) -> "CountDistribution":
        """Returns the distribution of the sum of two independent counts."""
        return CountDistribution(
            self.start + other.start,
            np.convolve(self.weights, other.weights),
            self.lost + other.lost,
        ).trimmed(tail)

    def trimmed(self, tail: float) -> "CountDistribution":
        """Drops at most `tail` from either end."""
        left = int(np.searchsorted(np.cumsum(self.weights), tail, side="right"))
        right = int(np.searchsorted(np.cumsum(self.weights[::-1]), tail, side="right"))
        weights = self.weights[left : self.weights.size - right]
        dropped = float(self.weights[:left].sum())
        dropped += float(self.weights[self.weights.size - right :].sum())
        return CountDistribution(self.start + left, weights, self.lost + dropped)


def cover_count(
    probabilities: Floats, counts: Ints, *, tail: float
) -> CountDistribution:
    """Returns the distribution of the number of blanket messages.

    Args:
        probabilities: Probability of a blanket message in each group, shape (groups,).
        counts: People in each group, >= 0, shape (groups,).
        tail: Probability that may be dropped at either end of each convolution.
    """
    parts = [
        _binomial(int(n), float(p), tail)
        for p, n in zip(probabilities, counts, strict=True)
    ]
    # Adding the two shortest first keeps the convolutions cheap; equally long ones in the
    # order in which they came, so that parts themselves are never compared.
    tie_breaker = itertools.count()
    queue = [(part.weights.size, next(tie_breaker), part) for part in parts]
    heapq.heapify(queue)
    while len(queue) > 1:
        total = heapq.heappop(queue)[2].plus(heapq.heappop(queue)[2], tail=tail)
        heapq.heappush(queue, (total.weights.size, next(tie_breaker), total))
    return queue[0][2] if queue else CountDistribution(0, np.ones(1), 0.0)


def grouped_downward(probabilities: Floats, counts: Ints) -> tuple[Floats, Ints]:
    """Returns few groups of equal draws whose sum is stochastically smaller.

    Args:
        probabilities: Probability of a blanket message at each level, shape (levels,).
        counts: People at each level, >= 0, shape (levels,).
    """
    present = (counts > 0) & (probabilities > 0)
    probabilities, counts = probabilities[present], counts[present]
    probabilities *= 1.0 - _ROUNDING
    if probabilities.size <= MAX_GROUPS:
        return probabilities, counts
    people, logs = np.zeros((2, _GROUPS))
    for block, group in grouped_blocks(probabilities, _GROUPS, narrow_near_0=True):
        np.add.at(people, group, counts[block].astype(np.float64))
        np.add.at(logs, group, counts[block] * np.log(probabilities[block]))
    used = people > 0
    # Each sum of logarithms may be off by 1.1e-16 of itself per term.
    slack = 1e-12 + 2.3e-16 * probabilities.size * abs(
        float(np.log(probabilities.min()))
    )
    # The geometric mean makes the sum stochastically smaller: its distribution is
    # Schur-monotone in the logarithms of the probabilities (Pledger and Proschan 1971;
    # Boland, Singh, Cukic 2002).
    means = np.exp(logs[used] / people[used]) * (1.0 - slack)
    return means, people[used].astype(np.int64)


def _binomial(trials: int, probability: float, tail: float) -> CountDistribution:
    mean = trials * probability
    reach = float(deviation(mean * (1.0 - probability), tail))
    low, high = max(0, int(mean - reach)), min(trials, int(mean + reach) + 1)
    x = np.arange(low, high + 1, dtype=np.float64)
    weights = binomial_weight(x, float(trials), probability)
    return CountDistribution(low, weights, 2.0 * tail)
