"""Epsilons at which a profile is evaluated, for a loss distribution of few values.

Nodes are chosen by rounded bounds. Densities are second differences, and a bound that
another processor rounds otherwise would choose other nodes there: the epsilon that a
verifier recomputes would differ in its third digit.
"""

import math
from collections.abc import Callable, Container
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from shuffledp.accounting.rounds.loss_distribution import (
    LEAST_MASS,
    LossDistribution,
    connect_dots,
)
from shuffledp.types import Floats

# Evaluations of one profile at most, and the part of the variance that a chord between
# two nodes may add without being split: together well below 1 % of epsilon.
EVALUATIONS = 200
_CHORD = 2e-5
# The same where it is known which tilt decides, as fewer chords are long then.
_AIMED_CHORD = 1.5e-5
# Tilts that are tried, as parts of the one of a normal loss, and those that are looked at,
# as parts of the best.
_TRIED_TILTS, _TILTS = 2.0 ** np.arange(-6.0, 4.1, 0.25), np.array([0.7, 1.0, 1.4])
# Where a bound does not even halve while epsilon doubles, twice as much is infinite, but no
# more than so many times what is negligible: a third of delta in all. Covers leave at most
# 0.3 of it uncovered.
_FLAT, _STILL_NEGLIGIBLE, _LEAST_ROOM = 0.5, 330.0, 1.05
# A chord so short is not split: no loss grows by more than this part of itself.
_SHORT = 2e-3
# Epsilons beyond this count as infinite, so that e^-epsilon is a normal number.
_FARTHEST = 600.0
# As many losses make up a tail, about, from which on chords are judged by it.
_FEW_LOSSES = 6.0
# Of a normal loss means grow like tilts; faster than that, others begin to matter.
_FAR = 2.5
# Finite losses that show less than this part of what infinite ones do hardly matter.
_HARDLY = 1e-4
# By how much sums of losses may be off, as a part of them.
_ROUNDING = 1e-12
# Bits of bounds that nodes are chosen by, and of costs and exponents: of equal ones, the
# left is taken.
_BOUND_BITS, _COST_BITS, _EXPONENT_BITS = 34, 10, 24


@dataclass(frozen=True)
class Aim:
    """Where a composition is asked for: chords matter as far as they do there.

    Attributes:
        shuffles: How often the loss is composed with itself.
        delta: The divergence at which an epsilon is asked for.
        epsilon: Where the divergence is asked for instead; 0 if it is not.
    """

    shuffles: int
    delta: float
    epsilon: float = 0.0

    def infinite_decide(self, distribution: LossDistribution) -> bool:
        """Returns whether hardly anything but infinite losses shows at that epsilon.

        Finite ones show less with more nodes, which does not matter then.
        """
        if self.epsilon == 0.0:
            return False
        if self.shuffles * distribution.losses[-1] < (1.0 - _ROUNDING) * self.epsilon:
            return True
        if distribution.infinite == 0.0:
            return False
        _, _, exponent = self._best_tilt(distribution)
        return exponent < math.log(_HARDLY * self.shuffles * distribution.infinite)

    def tilts(self, distribution: LossDistribution) -> tuple[Floats, float] | None:
        """Returns under which tilts the losses make up the tail there, shape (tilts,).

        And the variance of a normal loss with the same tail: a chord adds as large a part
        to epsilon as it would add to that.

        None where few losses make up the tail, as of rough chords, or far ones begin to:
        a sum may be that of one of these and of small ones.
        """
        tilt, epsilon, _ = self._best_tilt(distribution)
        losses = distribution.losses
        logs = np.log(distribution.masses) + losses
        tilted = logs + np.multiply.outer(tilt * _TILTS, losses)
        shares = np.exp(tilted - logsumexp(tilted, axis=1, keepdims=True))
        means = shares @ losses
        if (
            np.square(shares).sum(axis=1).max() > 1.0 / _FEW_LOSSES
            or (means[1:] > _FAR * means[:-1]).any()
        ):
            return None
        return tilt * _TILTS, epsilon / (self.shuffles * tilt)

    def _best_tilt(self, distribution: LossDistribution) -> tuple[float, float, float]:
        """Returns about the tilt of Chernoff's bound, its epsilon, and its exponent."""
        losses = distribution.losses
        logs = np.log(distribution.masses) + losses
        variance = float(np.exp(logs - logsumexp(logs)) @ losses**2)
        depth = -math.log(self.delta)
        # Of a normal loss.
        usual = math.sqrt(2.0 * depth / (self.shuffles * max(variance, 1e-300)))
        tilts = usual * _TRIED_TILTS
        sums = self.shuffles * logsumexp(
            logs + np.multiply.outer(tilts, losses), axis=1
        )
        # The least exponent at epsilon, or the least epsilon.
        epsilons = (sums + depth) / tilts
        with np.errstate(over="ignore"):
            exponents = sums - tilts * self.epsilon if self.epsilon > 0.0 else epsilons
        steady = _steady(exponents, _EXPONENT_BITS)
        best = int(np.argmin(steady))
        epsilon = self.epsilon or float(epsilons[best])
        return float(tilts[best]), epsilon, float(steady[best])


def loss_distribution(
    upper: Callable[[float], float],
    *,
    ceiling: float,
    negligible: float,
    evaluations: int = EVALUATIONS,
    aim: Aim | None = None,
) -> LossDistribution:
    """Chooses nodes, evaluates a profile there, and connects the dots.

    Args:
        upper: A proven upper bound of the divergence at any epsilon in [0, ceiling), for
            all neighbors in both directions.
        ceiling: An epsilon known to hold with delta = 0, or infinity.
        negligible: A delta that may be added to that of every collection.
        evaluations: Of the profile, about, at most.
        aim: Where the composition is asked for; by default anywhere.
    """
    values: dict[float, float] = {}

    def evaluate(epsilon: float) -> float:
        values[epsilon] = 0.0 if epsilon >= ceiling else upper(epsilon)
        return float(_steady(np.array(values[epsilon])))

    low, high, limit = 0.0, 0.0, min(ceiling, _FARTHEST)
    value = evaluate(0.0)
    room = 1.001
    if value > negligible:
        high = min(4.0 * value, limit)
        before = value
        while (value := evaluate(high)) > negligible and high < limit:
            # A cover leaves about as much uncovered, however large epsilon is.
            most = _STILL_NEGLIGIBLE * negligible
            if _FLAT * before <= value <= most / _LEAST_ROOM:
                room = min(1.0 / _FLAT, most / value)
                break
            low, high = high, min(2.0 * high, limit)
            before = value
    # What never falls further is infinite anyway.
    enough = max(negligible, room * value)
    while high - low > 0.05 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if evaluate(middle) <= enough else (middle, high)
    least_mass = min(LEAST_MASS, negligible)
    while True:
        losses = np.array(sorted(loss for loss in values if loss <= high))
        bounds = np.array([values[x] for x in losses.tolist()])
        approximate = connect_dots(losses, _steady(bounds), least_mass=least_mass)
        new = _middles_to_add(approximate, values, aim)
        new = new[: max(0, evaluations - len(values))]
        is_done = aim is not None and aim.infinite_decide(approximate)
        if is_done or not new:
            return connect_dots(losses, bounds, least_mass=least_mass)
        for middle in new:
            evaluate(middle)


def _steady(numbers: Floats, bits: int = _BOUND_BITS) -> Floats:
    """Returns numbers rounded to these bits, to choose nodes by."""
    mantissas, exponents = np.frexp(numbers)
    rounded: Floats = np.ldexp(np.round(np.ldexp(mantissas, bits)), exponents - bits)
    return rounded


def _middles_to_add(
    distribution: LossDistribution, known: Container[float], aim: Aim | None
) -> list[float]:
    """Returns the middles of the chords that cost too much, the worst first.

    A chord whose middle was dropped is straight: it is neither split nor compared.

    A chord of length h adds h^2 / 6 to the variance of the mass under it. Composed tails
    are made by tilts e^{t loss}; the worst share of a tilted variance decides, among all
    tilts or among those of the aim.
    """
    losses, masses = distribution.losses, distribution.masses
    nodes = losses[losses.size // 2 :]
    weights = masses[losses.size // 2 :] * np.exp(nodes)
    if nodes.size < 2:
        return []
    lengths, centers = np.diff(nodes), 0.5 * (nodes[:-1] + nodes[1:])
    density = weights / np.convolve(np.pad(lengths, 1, "edge"), [1.0, 1.0], "valid")
    under = lengths * (density[:-1] + density[1:])
    aimed = None if aim is None else aim.tilts(distribution)
    if aimed is None:
        # Under the tilt t = -(log density)', the mass gathers at that chord.
        slopes = -np.diff(np.log(density)) / lengths
        tilts = np.maximum(np.append(slopes, 0.0), 0.0)
    else:
        tilts = aimed[0]
    tilts = tilts[:, np.newaxis]
    logs = np.log(masses) + losses + tilts * losses
    norms = logsumexp(logs, axis=1, keepdims=True)
    added = np.exp(np.minimum(np.log(under) + tilts * centers - norms, 0.0))
    added *= lengths**2 / 6.0
    if aimed is None:
        tilted = np.exp(logs - norms)
        means = (tilted * losses).sum(axis=1, keepdims=True)
        variances = (tilted * (losses - means) ** 2).sum(axis=1, keepdims=True)
        # Two collections or more are rarely all near the last node.
        weight = np.where(means > 0.7 * nodes[-1], 0.1, 1.0)
        costs, chord = weight * added / (added + variances + 1e-300), _CHORD
    else:
        costs, chord = added / (added + aimed[1]), _AIMED_CHORD
    costs = costs.max(axis=0)
    is_known = np.array([middle in known for middle in centers.tolist()])
    is_done = is_known | (lengths < _SHORT * nodes[:-1])
    costs = np.where(is_done, 0.0, _steady(costs, _COST_BITS))
    min_cost = max(chord, 0.25 * float(costs.max()))
    order = np.argsort(-costs, kind="stable")
    return [float(centers[i]) for i in order if costs[i] > min_cost]
