"""The blanket bound in closed form: weaker than the sum or the integral, and as proven.

The bound (blanket.py) is sum_m P(M = m) E[(S_{m+1})_+] / (m + 1), S_k the sum of k
independent losses. Since (s)_+ <= e^{theta s} / (e theta) for theta > 0, it is at most

    1 / (e theta)  integral from 0 to phi of G(u) du,    phi = E[e^{theta L}],

where G(u) = E[u^M] = prod (1 - gamma_i + gamma_i u), whatever levels the others chose. G is
a product of rising lines, so that log G is concave and lies below its tangent at phi, whose
slope is g = sum gamma_i / (1 - gamma_i + gamma_i phi): the integral is at most

    G(phi) (1 - e^{-g phi}) / g.

Every theta is proven, and the best of a few is taken. That costs one exponential per theta
and atom of the loss, for 10^4 people as for 10^10.

Near epsilon = 0 another line is lower. With mu and v the mean and variance of L, by
E[(S)_+] = (E|S| + E[S]) / 2 and E|S| <= sqrt(E[S^2]) the summand is at most

    (sqrt(v / (m + 1) + mu^2) + mu) / 2,

concave in 1 / (m + 1), whose mean, the integral of G from 0 to 1, is at most
(1 - e^-s) / s with s = sum gamma_i.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.upper.atoms import Atoms, atoms
from shuffledp.accounting.upper.blanket import UpperBound, bounds_of_populations
from shuffledp.accounting.upper.blanket_population import BlanketPopulation
from shuffledp.cover import Cover
from shuffledp.errors import CertificationError
from shuffledp.types import Floats, Ints

# Thetas that are tried, as parts of what would be best for a normal loss: rare large gains
# need more.
_PARTS = np.geomspace(1.0 / 8.0, 64.0, 37)
# Several times what one operation in double precision loses.
_UNIT = 5e-16
# Covers all rounding that is not multiplied by the number of people.
_ARITHMETIC = 1e-11
# More than all products that are too small for a double may add up to.
_UNDERFLOW = 1e-300
# Nothing smaller is ever returned: it might have been rounded down to 0.
_SMALLEST = 1e-306


@dataclass(frozen=True, eq=False)
class ChernoffBound:
    """The bound for one target user and one pair of values, at any epsilon.

    Attributes:
        cover: The target user's cover.
        probabilities: Probability of a blanket message, or less, in each group, shape
            (groups,).
        counts: Other people in each group, shape (groups,).
    """

    cover: Cover
    probabilities: Floats
    counts: Floats

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        with np.errstate(all="ignore"):
            total = self._covered(epsilon) + self.cover.beyond(epsilon)
        if not math.isfinite(total):
            raise CertificationError(
                f"No proven bound at epsilon {epsilon:g}: the numbers are too extreme."
            )
        return min(max(total, _SMALLEST), 1.0)

    def estimate(self, epsilon: float) -> float:
        """Returns NaN: the bound is quick itself."""
        return math.nan

    def slack(self, epsilon: float) -> float:
        """Returns 1: how much of the bound at `epsilon` is caution is not known."""
        return 1.0

    def _covered(self, epsilon: float) -> float:
        unit = float(np.abs(self.cover.differences).max())
        if unit == 0.0:
            return 0.0
        loss = atoms(self.cover, unit, epsilon)
        # Losses that are never positive add up to none.
        if loss.losses.max() <= 0.0:
            return 0.0
        mean = float(loss.masses @ loss.losses)
        variance = float(loss.masses @ (loss.losses - mean) ** 2) + _UNDERFLOW
        thetas = self._thetas(mean, variance)
        x = _moments_less_1(thetas, loss.losses, loss.masses)
        steps = np.multiply.outer(x, self.probabilities)
        logs, factors = np.log1p(steps), 1.0 + steps
        log_g = logs @ self.counts
        # One logarithm per person is rounded, and so is what it is of.
        log_g += _UNIT * ((np.abs(logs) + np.abs(steps) / factors) @ self.counts)
        slope = (self.probabilities / factors) @ self.counts
        # Where no one else sends blanket messages, G is 1.
        area = np.where(slope > 0.0, -np.expm1(-slope * (1.0 + x)) / slope, 1.0 + x)
        bounds = log_g + np.log(area) - np.log(thetas) - 1.0 + math.log(unit)
        min_bound = float(np.min(np.where(np.isnan(bounds), np.inf, bounds)))
        steep = math.exp(min(min_bound, 1.0)) * (
            1.0 + _ARITHMETIC * (1.0 + abs(min_bound))
        )
        return min(steep, unit * self._by_moments(loss, mean, variance))

    def _thetas(self, mean: float, variance: float) -> Floats:
        """Returns the candidate tilts, shape (thetas,)."""
        messages = max(float(self.probabilities @ self.counts), 1.0)
        center = -mean + math.sqrt(mean**2 + 4.0 * variance / messages)
        thetas: Floats = center / (2.0 * variance) * _PARTS
        return thetas

    def _by_moments(self, loss: Atoms, mean: float, variance: float) -> float:
        """Returns the bound by mean and variance of the loss, in its unit."""
        sizes = float(loss.masses @ np.abs(loss.losses))
        # The mean cancels: what it may have lost is added.
        mean += _UNIT * (4.0 + loss.losses.size) * sizes + _UNDERFLOW
        messages = float(self.probabilities @ self.counts)
        part = -math.expm1(-messages) / messages if messages > 0.0 else 1.0
        share = variance * part
        root = math.hypot(math.sqrt(share), mean)
        above = share / (root - mean) if mean < 0.0 else root + mean
        return 0.5 * above * (1.0 + _ARITHMETIC)


def _moments_less_1(thetas: Floats, losses: Floats, masses: Floats) -> Floats:
    """Returns E[e^{theta L}] - 1, accurate near 0 and rounded upward, shape (thetas,)."""
    powers = np.multiply.outer(thetas, losses)
    grown = np.expm1(powers)
    # Each term, their sum, and the exponents.
    doubt = (4.0 + 0.5 * losses.size) * (np.abs(grown) @ masses)
    doubt += (np.abs(powers) * (grown + 1.0)) @ masses
    moments: Floats = grown @ masses + _UNIT * doubt + _UNDERFLOW
    return moments


def chernoff_bounds(
    covers: Sequence[tuple[Cover, ...]],
    counts: Ints,
    target_users: Sequence[int],
    *,
    absent: int = 0,
) -> list[UpperBound]:
    """Prepares the bound for target users of several levels of one population.

    Args:
        covers: The cover of each target user, for each pair of values that may be
            worst.
        counts: People at each level of the population, target users included, shape
            (levels,).
        target_users: Positions of the target users' levels, distinct.
        absent: How many of the others may be absent or collude: those who give most.
    """
    return bounds_of_populations(
        covers,
        target_users,
        population=lambda gammas: BlanketPopulation(
            gammas, counts, target_users, absent=absent, tail=0.0
        ),
        bound=_bound,
    )


def _bound(
    cover: Cover, population: BlanketPopulation, target_user: int
) -> ChernoffBound:
    probabilities, people = population.groups(target_user)
    return ChernoffBound(cover, probabilities, people.astype(np.float64))
