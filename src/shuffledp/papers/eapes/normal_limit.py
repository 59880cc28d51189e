"""How far the counts of Theorem 1 are from normal (Lemma 3 and eq. 15).

(X0, X1) are the first two of three counts of m independent people, each in the first with
chance a, in the second with chance a, elsewhere otherwise. Lemma 3 states that their
total variation distance from the normal law with the same moments is at most C / sqrt(m),
and eq. (15) computes it as

    sup over (k0, k1) of |P(X0 = k0, X1 = k1) - h(k0, k1)|,
    h = the normal probability of [k0, k0 + 1/2] x [k1, k1 + 1/2].

Errata. Counts are whole numbers and a normal law has no atoms: their total variation
distance is 1. What is true is said of the distribution functions, or of the normal law
rounded to whole numbers. Total variation is half the *sum*, not the largest, of the
differences, and the cell of a whole number has sides 1, not 1/2: eq. (15) is about half
of the largest probability, which falls like 1 / n whatever the shape. Its printed
example, 0.0206, is that of n = 50. The chance a is printed as half of what it is in
Theorem 2; the example uses the latter.

Source: Chen, Cao, Ge (2023), E-APES, Lemma 3 and eq. (15).
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats

# What lies further from the mean is left out; there both laws have less than 1e-15.
_DEVIATIONS, _MORE = 8.5, 12.0
# Gauss-Legendre points per half cell: exact to 1e-14 for deviations above 1.
_POINTS = 8


@dataclass(frozen=True)
class NormalDistances:
    """Between the two counts and the normal law of the same moments.

    Attributes:
        printed: Eq. (15) as printed.
        rounded: Total variation distance of the normal law rounded to whole numbers.
        kolmogorov: The largest difference of distribution functions at (k0 + 1/2,
            k1 + 1/2): what a Berry-Esseen theorem speaks of.
        mode: The largest probability of a pair of counts.
    """

    printed: float
    rounded: float
    kolmogorov: float
    mode: float


def normal_distances(people: int, epsilon: float, *, delta: float) -> NormalDistances:
    """Returns the distances for people - 1 others, all with the same budget.

    >>> round(normal_distances(50, 0.1, delta=1 / 50).printed, 4)
    0.0206

    Args:
        people: n, from 10 to 20,000.
        epsilon: The local budget of everybody, from 0 to 5.
        delta: delta_i of everybody, in [0, 1).

    Raises:
        InvalidInputError: If one is out of range.
    """
    if not (10 <= people <= 20_000 and 0.0 <= epsilon <= 5.0 and 0.0 <= delta < 1.0):
        raise InvalidInputError(
            "Expected 10 to 20,000 people, epsilon from 0 to 5 and delta in [0, 1), got "
            f"{people}, {epsilon:g} and {delta:g}."
        )
    trials, chance = people - 1, (1.0 - delta) / (1.0 + math.exp(epsilon))
    mean = trials * chance
    reach = _DEVIATIONS * math.sqrt(mean * (1.0 - chance)) + _MORE
    # The normal law has negative counts, too, where there are few people.
    counts = np.arange(math.floor(mean - reach), math.ceil(mean + reach) + 1.0)
    law = _law(counts, trials, chance)
    halves = _normal_halves(counts - mean, trials, chance)
    cells = halves.reshape(counts.size, 2, counts.size, 2)
    # Of the cell around a whole number: halves on both of its sides, in both directions.
    whole = cells.sum(axis=(1, 3))
    differences = law - whole
    functions = np.cumsum(np.cumsum(differences, axis=0), axis=1)
    return NormalDistances(
        printed=float(np.abs(law - cells[:, 1, :, 1]).max()),
        rounded=0.5 * float(np.abs(differences).sum()),
        kolmogorov=float(np.abs(functions).max()),
        mode=float(law.max()),
    )


def _law(counts: Floats, trials: int, chance: float) -> Floats:
    """Returns P(X0 = k0, X1 = k1), shape (counts, counts)."""
    first, second = counts[:, None], counts[None, :]
    rest = trials - first - second
    possible = (first >= 0.0) & (second >= 0.0) & (rest >= 0.0)
    first, second, rest = (np.maximum(part, 0.0) for part in (first, second, rest))
    logs = gammaln(trials + 1.0) - gammaln(first + 1.0) - gammaln(second + 1.0)
    logs = logs - gammaln(rest + 1.0) + (first + second) * math.log(chance)
    # Nobody's message is elsewhere at epsilon 0 and delta 0.
    elsewhere = 1.0 - 2.0 * chance
    if elsewhere > 0.0:
        logs = logs + rest * math.log(elsewhere)
    else:
        possible &= rest == 0.0
    return np.where(possible, np.exp(logs), 0.0)


def _normal_halves(offsets: Floats, trials: int, chance: float) -> Floats:
    """Returns the normal probability of half cells, shape (2 counts, 2 counts)."""
    variance, covariance = trials * chance * (1.0 - chance), -trials * chance**2
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
    found: Floats = blocks / (2.0 * math.pi * math.sqrt(determinant))
    return found
