"""The blanket bound as a sum: exact, for populations in which it has few terms.

For a cover with two mirrored kinds of messages (`MirroredCover`), let T of the m + 1
messages be telling - T - 1 ~ Binomial(m, r), since one place is the target user's - and
D the difference of their two counts: a simple random walk of T steps. The bound is

    sum_{m, T} P(m) P(T | m) r gap (1 + e^eps) / (2 T) E[(D - tau)_+],
    tau = tanh(eps / 2) (alpha T + beta (m + 1)),
    alpha = (2 low + gap - 2 neutral) / gap,    beta = 2 neutral / gap.

All terms are non-negative, so no digits cancel.
"""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.sums.binomial import (
    binomial_weight,
    deviation,
    largest_likely,
)
from shuffledp.accounting.sums.random_walk import RandomWalks
from shuffledp.accounting.upper.cover_count import CountDistribution
from shuffledp.cover import MirroredCover
from shuffledp.errors import CertificationError
from shuffledp.types import Floats, Ints

# Covers the rounding of sums and products (weights and tails have their own bound).
_ARITHMETIC = 1.0 + 1e-9
# A lost event adds its probability times the largest value of the sum's terms, r gap.
_LOST_VALUE = 2.0
# At which terms are counted beforehand.
_USUAL_TAIL = 1e-20


@dataclass(frozen=True, eq=False)
class CountingBound:
    """The bound for one target user, ready to be evaluated at any epsilon.

    Attributes:
        scale: r gap, the factor of the cover in each term.
        walks: D in each cell of the sum.
        drift: alpha T + beta (m + 1) in each cell, shape (cells,).
        weights: P(m) P(T | m) / T, shape (cells,).
        lost: Probability of the dropped outcomes.
    """

    scale: float
    walks: RandomWalks
    drift: Floats
    weights: Floats
    lost: float

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        slope = math.tanh(epsilon / 2.0)
        _, excess = self.walks.excess(slope * self.drift)
        scale = self.scale * (1.0 + math.exp(epsilon)) / 2.0
        total = scale * float(self.weights @ excess) * _ARITHMETIC
        total += _LOST_VALUE * self.lost
        if not math.isfinite(total):
            raise CertificationError(
                f"No finite bound at epsilon {epsilon:g}: the arithmetic overflowed."
            )
        return min(total, 1.0)

    def slack(self, epsilon: float) -> float:
        """Returns which part of the bound at `epsilon` is numerical caution."""
        slope = math.tanh(epsilon / 2.0)
        excess, _ = self.walks.excess(slope * self.drift)
        scale = self.scale * (1.0 + math.exp(epsilon)) / 2.0
        total = self.delta(epsilon)
        return max(1.0 - scale * float(self.weights @ excess) / total, 0.0)


def counting_bound(
    cover: MirroredCover, distribution: CountDistribution, *, tail: float
) -> CountingBound:
    """Prepares the sum for one target user.

    Args:
        cover: The target user's cover; `gap` must be positive.
        distribution: M, the number of others who send a blanket message.
        tail: Probability that may be dropped at either end, given m.
    """
    alpha = (2.0 * cover.low + cover.gap - 2.0 * cover.neutral) / cover.gap
    beta = 2.0 * cover.neutral / cover.gap
    m, weight = distribution.values, distribution.weights
    lost = distribution.lost
    if cover.telling < 1.0:
        mean = m * cover.telling
        reach = deviation(mean * (1.0 - cover.telling), tail)
        low = np.maximum(0.0, np.floor(mean - reach)).min()
        likely = math.ceil(largest_likely(float(mean.max()), tail))
        high = min(likely, float(np.minimum(m, np.ceil(mean + reach)).max()))
        others = np.arange(low, high + 1.0)
        joint = binomial_weight(others[None, :], m[:, None], cover.telling)
        joint *= weight[:, None]
        # A cell lighter than this is dropped; all of them together weigh `tail` at most.
        heavy = joint > tail / joint.size
        lost += 2.0 * tail + float(joint[~heavy].sum())
        weight = joint[heavy]
        steps = np.broadcast_to(others[None, :], joint.shape)[heavy] + 1.0
        m = np.broadcast_to(m[:, None], joint.shape)[heavy]
    else:
        steps = m + 1.0
    drift = alpha * steps + beta * (m + 1.0)
    return CountingBound(
        cover.telling * cover.gap, RandomWalks(steps), drift, weight / steps, lost
    )


def num_terms(probabilities: Floats, counts: Ints, telling: float) -> float:
    """Returns about how many terms the sum has for these others.

    Args:
        probabilities: Probability of a blanket message in each group, shape (groups,).
        counts: People in each group, shape (groups,).
        telling: omega's mass on telling messages.
    """
    mean = float(probabilities @ counts)
    variance = float((probabilities * (1.0 - probabilities)) @ counts)
    width = 2.0 * float(deviation(variance, _USUAL_TAIL))
    if telling >= 1.0:
        return width
    # T varies with m, too.
    spread = mean * telling * (1.0 - telling) + variance * telling**2
    usual = 2.0 * float(deviation(spread, _USUAL_TAIL))
    return width * min(usual, largest_likely(mean * telling, _USUAL_TAIL))
