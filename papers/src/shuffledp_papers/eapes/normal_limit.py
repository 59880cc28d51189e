"""Distances of the counts of Theorem 1 from the normal distribution (Lemma 3, eq. 15).

(X0, X1) are the first two of three counts of m independent users, each in the first with
probability a, in the second with probability a, elsewhere otherwise. Lemma 3 states that
their total variation distance from the normal distribution with the same moments is at most
C / sqrt(m), and eq. (15) computes it as

    sup over (k0, k1) of |P(X0 = k0, X1 = k1) - h(k0, k1)|,
    h = the normal probability of [k0, k0 + 1/2] x [k1, k1 + 1/2].

Erratum. The total variation distance is 1. Lemma 3 holds for the distribution functions,
and for the normal distribution rounded to whole numbers.

Source: Chen, Cao, Ge (2023), E-APES, Lemma 3 and eq. (15).
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats

# Beyond this distance from the mean both distributions have less than 1e-15.
_DEVIATIONS, _MORE = 8.5, 12.0
# Gauss-Legendre points per half cell: exact to 1e-14 for deviations above 1.
_POINTS = 8


@dataclass(frozen=True)
class NormalDistances:
    """Distances of the two counts from the normal distribution of the same moments.

    Attributes:
        printed: Eq. (15) as printed.
        rounded: Total variation distance of the rounded normal distribution.
        kolmogorov: The largest difference of distribution functions at (k0 + 1/2,
            k1 + 1/2), as in a Berry-Esseen theorem.
        mode: The largest probability of a pair of counts.
    """

    printed: float
    rounded: float
    kolmogorov: float
    mode: float


def normal_distances(people: int, epsilon: float, *, delta: float) -> NormalDistances:
    """Returns the distances for n - 1 other users, all with the same budget.

    >>> round(normal_distances(50, 0.1, delta=1 / 50).printed, 4)
    0.0206

    Args:
        people: n, from 10 to 20,000.
        epsilon: The local budget of every user, from 0 to 5.
        delta: delta_i of every user, in [0, 1).

    Raises:
        InvalidInputError: If one is out of range.
    """
    if not (10 <= people <= 20_000 and 0.0 <= epsilon <= 5.0 and 0.0 <= delta < 1.0):
        raise InvalidInputError(
            "Expected 10 to 20,000 people, epsilon from 0 to 5 and delta in [0, 1), got "
            f"{people}, {epsilon:g} and {delta:g}."
        )
    # As in Theorem 2, and in the example 0.0206 at n = 50; Lemma 3 prints half of it.
    trials, probability = people - 1, (1.0 - delta) / (1.0 + math.exp(epsilon))
    mean = trials * probability
    reach = _DEVIATIONS * math.sqrt(mean * (1.0 - probability)) + _MORE
    # With few users the normal distribution reaches negative counts, too.
    counts = np.arange(math.floor(mean - reach), math.ceil(mean + reach) + 1.0)
    joint = _joint_probabilities(counts, trials, probability)
    halves = _normal_halves(counts - mean, trials, probability)
    cells = halves.reshape(counts.size, 2, counts.size, 2)
    # The cell around a whole number has sides 1, half a cell on both of its sides.
    whole = cells.sum(axis=(1, 3))
    differences = joint - whole
    functions = np.cumsum(np.cumsum(differences, axis=0), axis=1)
    return NormalDistances(
        # Eq. (15) has cells of sides 1/2, and the largest difference in place of half the
        # sum: about half of the largest probability, of order 1 / n for any distribution.
        printed=float(np.abs(joint - cells[:, 1, :, 1]).max()),
        # Counts are whole numbers and a normal distribution has no atoms: unless it is
        # rounded, their total variation distance is 1.
        rounded=0.5 * float(np.abs(differences).sum()),
        kolmogorov=float(np.abs(functions).max()),
        mode=float(joint.max()),
    )


def _joint_probabilities(counts: Floats, trials: int, probability: float) -> Floats:
    """Returns P(X0 = k0, X1 = k1), shape (counts, counts)."""
    first, second = counts[:, None], counts[None, :]
    third = trials - first - second
    possible = (first >= 0.0) & (second >= 0.0) & (third >= 0.0)
    first, second, third = (np.maximum(part, 0.0) for part in (first, second, third))
    logs = gammaln(trials + 1.0) - gammaln(first + 1.0) - gammaln(second + 1.0)
    logs = logs - gammaln(third + 1.0) + (first + second) * math.log(probability)
    # At epsilon 0 and delta 0 no message is elsewhere, and log(0) must not occur.
    elsewhere = 1.0 - 2.0 * probability
    if elsewhere > 0.0:
        logs = logs + third * math.log(elsewhere)
    else:
        possible &= third == 0.0
    return np.where(possible, np.exp(logs), 0.0)


def _normal_halves(offsets: Floats, trials: int, probability: float) -> Floats:
    """Returns the normal probability of half cells, shape (2 counts, 2 counts)."""
    # The two counts are negatively correlated: a message is in one of them at most.
    variance = trials * probability * (1.0 - probability)
    covariance = -trials * probability**2
    nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
    starts = (offsets[:, None] + np.array([-0.5, 0.0])).ravel()
    at = (starts[:, None] + 0.25 * (nodes + 1.0)).ravel()
    load = np.tile(0.25 * weights, starts.size)
    determinant = variance**2 - covariance**2
    square = variance * (at[:, None] ** 2 + at[None, :] ** 2)
    square -= 2.0 * covariance * at[:, None] * at[None, :]
    density = np.exp(-0.5 * square / determinant) * load[:, None] * load[None, :]
    size = starts.size
    blocks = density.reshape(size, _POINTS, size, _POINTS).sum(axis=(1, 3))
    halves: Floats = blocks / (2.0 * math.pi * math.sqrt(determinant))
    return halves
