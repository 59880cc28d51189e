"""How many other people send a blanket message: M, a sum of independent coins.

The bound never increases in M, so M may be replaced by anything stochastically smaller.
Three such steps keep the cost independent of the number of people and of budgets:

* coins of similar probability are replaced by as many equal coins of their *geometric*
  mean. That is stochastically smaller (Pledger and Proschan 1971: the distribution is
  Schur-monotone in the logarithms of the probabilities; Boland, Singh, Cukic 2002), and
  costs only the second order of the spread;
* values are rounded downward to multiples of a stride that is a tiny part of the mean;
* what lies far out in the tails is dropped, and its probability is kept as `lost`.

Only sums and products of non-negative numbers occur, so small probabilities are accurate.
"""

import heapq
import itertools
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.binomial import binomial_weight, deviation
from shuffledp.accounting.grouping import MAX_GROUPS, group_indices
from shuffledp.types import Floats, Ints

# M is rounded downward by at most these parts of its mean, a quarter of which is the
# average effect on epsilon: before the convolutions (all groups together) and after.
_FINE = 2e-5
_COARSE = 5e-5
# Covers their rounding: a probability is lowered by this part of itself.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class CountDistribution:
    """Weights on start, start + stride, ...; `lost` is the probability not in them."""

    start: int
    stride: int
    weights: Floats
    lost: float

    @property
    def values(self) -> Floats:
        """The values, shape as `weights`."""
        return self.start + self.stride * np.arange(self.weights.size, dtype=np.float64)

    def plus(self, other: "CountDistribution", *, tail: float) -> "CountDistribution":
        """Returns the distribution of the sum of two independent counts."""
        return CountDistribution(
            self.start + other.start,
            self.stride,
            np.convolve(self.weights, other.weights),
            self.lost + other.lost,
        ).trimmed(tail)

    def coarsened(self, stride: int) -> "CountDistribution":
        """Rounds downward to multiples of `stride`, a multiple of the present one."""
        start = self.start // stride * stride
        padding = np.zeros((self.start - start) // self.stride)
        weights = np.concatenate([padding, self.weights])
        blocks = np.arange(0, weights.size, stride // self.stride)
        weights = np.add.reduceat(weights, blocks)
        return CountDistribution(start, stride, weights, self.lost)

    def trimmed(self, tail: float) -> "CountDistribution":
        """Drops at most `tail` from either end."""
        left = int(np.searchsorted(np.cumsum(self.weights), tail, side="right"))
        right = int(np.searchsorted(np.cumsum(self.weights[::-1]), tail, side="right"))
        kept = self.weights[left : self.weights.size - right]
        dropped = float(self.weights[:left].sum())
        dropped += float(self.weights[self.weights.size - right :].sum())
        return CountDistribution(
            self.start + left * self.stride, self.stride, kept, self.lost + dropped
        )


def strides_for(probabilities: Floats, counts: Ints) -> tuple[int, int]:
    """Returns the strides to which counts of these people may be rounded downward.

    The first is for the convolutions, the second, a multiple of it, for their result.
    """
    groups = min(probabilities.size, MAX_GROUPS)
    mean = float(probabilities @ counts)
    fine = max(1, int(_FINE * mean / groups))
    return fine, max(1, int(_COARSE * mean / fine)) * fine


def cover_count(
    probabilities: Floats, counts: Ints, *, stride: int, tail: float
) -> CountDistribution:
    """Returns a distribution stochastically below the number of blanket messages.

    Args:
        probabilities: Chance of a blanket message at each level, shape (levels,).
        counts: People at each level, >= 0, shape (levels,).
        stride: Multiple to which counts are rounded downward, >= 1.
        tail: Probability that may be dropped at either end of each convolution.
    """
    probabilities, counts = _grouped(probabilities * (1.0 - _ROUNDING), counts)
    parts = [
        _rounded_binomial(int(n), float(p), stride, tail)
        for p, n in zip(probabilities, counts, strict=True)
    ]
    # Adding the two shortest first keeps the convolutions cheap.
    serial = itertools.count()
    queue = [(part.weights.size, next(serial), part) for part in parts]
    heapq.heapify(queue)
    while len(queue) > 1:
        total = heapq.heappop(queue)[2].plus(heapq.heappop(queue)[2], tail=tail)
        heapq.heappush(queue, (total.weights.size, next(serial), total))
    return queue[0][2] if queue else CountDistribution(0, stride, np.ones(1), 0.0)


def _grouped(probabilities: Floats, counts: Ints) -> tuple[Floats, Ints]:
    present = (counts > 0) & (probabilities > 0)
    probabilities, counts = probabilities[present], counts[present]
    if probabilities.size <= MAX_GROUPS:
        return probabilities, counts
    group = group_indices(probabilities)
    people = np.bincount(group, weights=counts)
    logs = np.bincount(group, weights=counts * np.log(probabilities))
    used = people > 0
    # The rounding of a sum of logarithms of up to 10^9 terms stays far below 1e-12.
    means = np.exp(logs[used] / people[used]) * (1.0 - 1e-12)
    return means, people[used].astype(np.int64)


def _rounded_binomial(
    trials: int, probability: float, stride: int, tail: float
) -> CountDistribution:
    mean = trials * probability
    reach = float(deviation(mean * (1.0 - probability), tail))
    low = max(0, int(mean - reach)) // stride * stride
    high = min(trials, int(mean + reach) + 1)
    x = np.arange(low, high + 1, dtype=np.float64)
    weights = binomial_weight(x, float(trials), probability)
    weights = np.add.reduceat(weights, np.arange(0, x.size, stride))
    return CountDistribution(low, stride, weights, 2.0 * tail)
