"""Epsilons at which a profile is evaluated, for a loss distribution of few values.

Nodes are chosen by rounded bounds. Densities are second differences, and a bound that
another processor rounds otherwise would choose other nodes there: the epsilon that a
verifier recomputes would differ in its third digit.
"""

from collections.abc import Callable, Container

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
# Where a bound does not even halve while epsilon doubles, twice as much is infinite, if it
# is no more than so many times what is negligible: a third of delta in all.
_FLAT, _STILL_NEGLIGIBLE = 0.5, 300.0
# A chord so short is not split: no loss grows by more than this part of itself.
_SHORT = 2e-3
# Epsilons beyond this count as infinite, so that e^-epsilon is a normal number.
_FARTHEST = 600.0
# Bits of bounds that nodes are chosen by, and of costs: of equal ones, the left is cut.
_BOUND_BITS, _COST_BITS = 34, 10


def loss_distribution(
    upper: Callable[[float], float],
    *,
    ceiling: float,
    negligible: float,
    evaluations: int = EVALUATIONS,
    least_loss: float = 0.0,
) -> LossDistribution:
    """Chooses nodes, evaluates a profile there, and connects the dots.

    Args:
        upper: A proven upper bound of the divergence at any epsilon in [0, ceiling), for
            all neighbors in both directions.
        ceiling: An epsilon known to hold with delta = 0, or infinity.
        negligible: A delta that may be added to that of every collection.
        evaluations: Of the profile, about, at most.
        least_loss: No more nodes are added if all losses but infinite ones are smaller.
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
            if _FLAT * before <= value <= _FLAT * _STILL_NEGLIGIBLE * negligible:
                room = 1.0 / _FLAT
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
        new = _middles_to_add(approximate, values)
        new = new[: max(0, evaluations - len(values))]
        if not new or losses[-1] < least_loss:
            return connect_dots(losses, bounds, least_mass=least_mass)
        for middle in new:
            evaluate(middle)


def _steady(numbers: Floats, bits: int = _BOUND_BITS) -> Floats:
    """Returns numbers rounded to these bits, to choose nodes by."""
    mantissas, exponents = np.frexp(numbers)
    rounded: Floats = np.ldexp(np.round(np.ldexp(mantissas, bits)), exponents - bits)
    return rounded


def _middles_to_add(
    distribution: LossDistribution, known: Container[float]
) -> list[float]:
    """Returns the middles of the chords that cost too much, the worst first.

    A chord whose middle was dropped is straight: it is neither split nor compared.

    A chord of length h adds h^2 / 6 to the variance of the mass under it. Composed tails
    are made by tilts e^{t loss}; the worst share of a tilted variance decides.
    """
    losses, masses = distribution.losses, distribution.masses
    nodes = losses[losses.size // 2 :]
    weights = masses[losses.size // 2 :] * np.exp(nodes)
    if nodes.size < 2:
        return []
    lengths, centers = np.diff(nodes), 0.5 * (nodes[:-1] + nodes[1:])
    density = weights / np.convolve(np.pad(lengths, 1, "edge"), [1.0, 1.0], "valid")
    under = lengths * (density[:-1] + density[1:])
    # Under the tilt t = -(log density)', the mass gathers at that chord.
    slopes = -np.diff(np.log(density)) / lengths
    tilts = np.maximum(np.append(slopes, 0.0), 0.0)[:, np.newaxis]
    logs = np.log(masses) + losses + tilts * losses
    norms = logsumexp(logs, axis=1, keepdims=True)
    tilted = np.exp(logs - norms)
    means = (tilted * losses).sum(axis=1, keepdims=True)
    variances = (tilted * (losses - means) ** 2).sum(axis=1, keepdims=True)
    added = np.exp(np.minimum(np.log(under) + tilts * centers - norms, 0.0))
    added *= lengths**2 / 6.0
    # Two collections or more are rarely all near the last node.
    weight = np.where(means > 0.7 * nodes[-1], 0.1, 1.0)
    costs = (weight * added / (added + variances + 1e-300)).max(axis=0)
    is_known = np.array([middle in known for middle in centers.tolist()])
    is_done = is_known | (lengths < _SHORT * nodes[:-1])
    costs = np.where(is_done, 0.0, _steady(costs, _COST_BITS))
    min_cost = max(_CHORD, 0.25 * float(costs.max()))
    order = np.argsort(-costs, kind="stable")
    return [float(centers[i]) for i in order if costs[i] > min_cost]
