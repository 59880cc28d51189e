"""The lower bound: the exact divergence of a statistic of the shuffled messages.

An attack fixes two neighboring datasets - the target user holds x or x', all others one
chosen value - and looks only at how many messages fall on x and on x'. Whatever (epsilon,
delta) that pair of distributions violates, the whole collection violates, too.

*Two counts* (three categories or more, all others hold a third value). Let P be the
distribution of how many of the others send x or x'. With t the number of messages on x
and x' together and D_t the difference of the two, a simple random walk, it is

    sum_t P(t - 1) gap (1 + e^eps) / t  E[(D_t - tau_t)_+],
    tau_t = tanh(eps / 2) / gap  t (2 flip + gap + (1 - 2 flip - gap) P(t) / P(t - 1)).
"""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.sums.bernoulli_sum import BernoulliSum
from shuffledp.accounting.sums.random_walk import RandomWalks
from shuffledp.cover import TwoCountAttack
from shuffledp.types import Floats

# Lowers a result by more than its rounding errors.
_ARITHMETIC = 1.0 - 1e-8
# Blocks of t are at most this part of t wide; they only weaken the attack.
_BLOCK = 1e-5
# Probabilities below this part of the largest are left out of the attack.
_NEGLIGIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class TwoCountBound:
    """The two-count attack, its sum over t cut into blocks.

    A block uses its shortest walk (less noise only lowers a convex function) and the mean
    threshold (Jensen): both make the result smaller.

    Attributes:
        gap: By how much the target user is more likely to send x than x'.
        walks: Shortest walk of each block.
        weights: sum of P(t - 1) / t over each block, shape (blocks,).
        drift: Mean of tau_t / tanh(eps / 2) over each block, shape (blocks,).
    """

    gap: float
    walks: RandomWalks
    weights: Floats
    drift: Floats

    def delta(self, epsilon: float) -> float:
        """Returns a proven lower bound of the divergence at `epsilon` >= 0."""
        excess, _ = self.walks.excess(math.tanh(epsilon / 2.0) * self.drift)
        scale = self.gap * (1.0 + math.exp(epsilon))
        return scale * float(self.weights @ excess) * _ARITHMETIC


def two_count_bound(attack: TwoCountAttack, others: BernoulliSum) -> TwoCountBound:
    """Prepares the attack; `others` is how many of them send x or x'."""
    start, probability, error = others.weights()
    min_probability = max(_NEGLIGIBLE * float(probability.max()), 2.0 * error)
    visible = np.flatnonzero(probability[:-1] > min_probability)
    if visible.size == 0:
        nothing = np.zeros(0)
        return TwoCountBound(attack.gap, RandomWalks(nothing), nothing, nothing)
    current = probability[visible[0] : visible[-1] + 1]
    beyond = probability[visible[0] + 1 : visible[-1] + 2]
    t = start + visible[0] + 1.0 + np.arange(current.size)
    edges = np.arange(0, t.size, max(1, int(_BLOCK * t[0])))
    # Lower weights and higher thresholds, by the error, only weaken the attack.
    weights = np.add.reduceat(np.maximum(current - error, 0.0) / t, edges)
    telling = 2.0 * attack.flip + attack.gap
    evidence = telling * (current + error) + (1.0 - telling) * (beyond + error)
    drift = np.add.reduceat(evidence, edges) / (attack.gap * weights)
    walks = RandomWalks(t[edges])
    return TwoCountBound(attack.gap, walks, weights, drift * (1.0 + 1e-12))
