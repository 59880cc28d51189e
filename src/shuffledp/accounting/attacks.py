"""The lower bound: the exact divergence of a statistic of the shuffled messages.

An attack fixes two neighbouring datasets - the victim holds x or x', all others one
chosen value - and looks only at how many messages fall on x and on x'. Whatever (epsilon,
delta) that pair of distributions violates, the whole collection violates, too.

*Two counts* (three categories or more, all others hold a third value). Let P be the
distribution of how many of the others send x or x'. With t the number of messages on x
and x' together and D_t the difference of the two, a simple random walk, it is

    sum_t P(t - 1) gap (1 + e^eps) / t  E[(D_t - tau_t)_+],
    tau_t = tanh(eps / 2) / gap  t (2 flip + gap + (1 - 2 flip - gap) P(t) / P(t - 1)).

*One count* (two categories, all others hold x'). With P the distribution of how many of
the others send x, and every message above a threshold a0 counted as evidence for x,

    sum_{a >= a0} ((flip + gap - e^eps flip) P(a - 1) - (e^eps (flip + gap) - flip) P(a)).
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shuffledp.accounting.binomial import walk_excess
from shuffledp.accounting.coin_sum import CoinSum
from shuffledp.cover import Attack, TwoCountAttack
from shuffledp.types import Floats

# Lowers a result by more than its rounding errors.
_ARITHMETIC = 1.0 - 1e-8
# Blocks of t are at most this part of t wide; they only weaken the attack.
_BLOCK = 1e-5
# Probabilities below this part of the largest are left out of the attack.
_NEGLIGIBLE = 1e-6
# Where evidence for x is this much weaker than against it, the attack gives up.
_HOPELESS = 1e-100


class LowerBound(Protocol):
    """An attack, ready to be evaluated at any epsilon."""

    def delta(self, epsilon: float) -> float:
        """Returns a proven lower bound of the divergence at `epsilon` >= 0."""


@dataclass(frozen=True, eq=False)
class TwoCountBound:
    """The two-count attack, its sum over t cut into blocks.

    A block uses its shortest walk (less noise only lowers a convex function) and the mean
    threshold (Jensen): both make the result smaller.

    Attributes:
        gap: By how much the victim is more likely to send x than x'.
        steps: Shortest walk of each block, shape (blocks,).
        weights: sum of P(t - 1) / t over each block, shape (blocks,).
        drift: Mean of tau_t / tanh(eps / 2) over each block, shape (blocks,).
    """

    gap: float
    steps: Floats
    weights: Floats
    drift: Floats

    def delta(self, epsilon: float) -> float:
        """Returns a proven lower bound of the divergence at `epsilon` >= 0."""
        excess, _ = walk_excess(self.steps, math.tanh(epsilon / 2.0) * self.drift)
        scale = self.gap * (1.0 + math.exp(epsilon))
        return scale * float(self.weights @ excess) * _ARITHMETIC


def two_count_bound(attack: TwoCountAttack, others: CoinSum) -> TwoCountBound:
    """Prepares the attack; `others` is how many of them send x or x'."""
    start, probability, error = others.weights()
    least = max(_NEGLIGIBLE * float(probability.max()), 2.0 * error)
    visible = np.flatnonzero(probability[:-1] > least)
    if visible.size == 0:
        nothing = np.zeros(0)
        return TwoCountBound(attack.gap, nothing, nothing, nothing)
    here = probability[visible[0] : visible[-1] + 1]
    beyond = probability[visible[0] + 1 : visible[-1] + 2]
    t = start + visible[0] + 1.0 + np.arange(here.size)
    edges = np.arange(0, t.size, max(1, int(_BLOCK * t[0])))
    # Lower weights and higher thresholds, by the error, only weaken the attack.
    weights = np.add.reduceat(np.maximum(here - error, 0.0) / t, edges)
    telling = 2.0 * attack.flip + attack.gap
    evidence = telling * (here + error) + (1.0 - telling) * (beyond + error)
    drift = np.add.reduceat(evidence, edges) / (attack.gap * weights)
    return TwoCountBound(attack.gap, t[edges], weights, drift * (1.0 + 1e-12))


@dataclass(frozen=True, eq=False)
class OneCountBound:
    """The one-count attack; its tail sum is one integral along a vertical line.

    Attributes:
        flip: Chance that the victim sends the value she does not hold.
        gap: By how much she is more likely to send hers.
        others: How many others send x by chance.
    """

    flip: float
    gap: float
    others: CoinSum

    def delta(self, epsilon: float) -> float:
        """Returns a proven lower bound of the divergence at `epsilon` >= 0."""
        flip, gap = self.flip, self.gap
        growth = math.expm1(epsilon)
        gain, cost = gap - growth * flip, gap + growth * (flip + gap)
        if gain <= _HOPELESS * cost:
            return 0.0
        # P(a) / P(a - 1) falls below gain / cost one above the mode of the tilted
        # distribution, and the mode of a sum of coins is within 1 of its mean.
        tilt = math.log(cost / gain)
        mean, variance = self.others.tilted(tilt)
        threshold = math.floor(mean) + np.arange(0.0, 4.0)
        spread = max(math.sqrt(variance), 0.5)
        line = max(tilt, 0.5 / spread)
        # The rule with `nodes` points all around the circle is exact but for copies of
        # the tail `nodes` away, which weigh less than exp(-line * nodes).
        nodes = 2 * math.ceil(max(25.0 * spread, 30.0 / line, 32.0))
        step = 2.0 * math.pi / nodes
        last = min(nodes // 2, math.ceil(20.0 / spread / step))
        z = line + 1j * step * np.arange(0, last + 1)
        # So far out that grouped coins are not known well enough: no attack from there.
        doubt = self.others.log_error(z) + 1e-15 * threshold[-1] * np.abs(z)
        if doubt.max() > 1.0:
            return 0.0
        factor = (gain * np.exp(z) - cost) / -np.expm1(-z)
        weight = np.ones(z.size)
        weight[0] = 0.5
        if last == nodes // 2:
            weight[-1] = 0.5
        exponent = self.others.log_generating(z)[:, None] - z[:, None] * threshold
        terms = (weight * factor)[:, None] * np.exp(exponent)
        values = 2.0 * terms.real.sum(axis=0) / nodes
        error = 1e-11 + np.expm1(doubt)
        rounding = 2.0 * (error[:, None] * np.abs(terms)).sum(axis=0) / nodes
        return max(float((values - rounding).max()) * _ARITHMETIC, 0.0)


def coin_probabilities(attack: Attack) -> Floats:
    """Returns the chance of a person of each level to be counted, shape (levels,)."""
    kinds = 2.0 if isinstance(attack, TwoCountAttack) else 1.0
    return kinds * attack.hit_probabilities


def lower_bound(attack: Attack, others: CoinSum) -> LowerBound:
    """Prepares an attack; `others` is how many of them are counted by chance."""
    if isinstance(attack, TwoCountAttack):
        return two_count_bound(attack, others)
    return OneCountBound(attack.flip, attack.gap, others)
