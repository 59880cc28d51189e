"""A loss with normal noise: phi(z) = E[e^{z L}] e^{s^2 z^2 / 2}, accurate near z = 0."""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.sums.complex_expm1 import expm1
from shuffledp.accounting.sums.grid_sums import grid_sums
from shuffledp.accounting.upper.atoms import Atoms
from shuffledp.types import Complexes, Floats

# Variance of the noise, as a part of that which the difference of x and x' makes: 2e-7 of
# epsilon. Where a large epsilon makes the loss's own variance large, this part of it, if
# that is more: no more points.
_SMOOTHING, LEAST_SMOOTHING = 4e-7, 4e-9


@dataclass(frozen=True, eq=False)
class SmoothedLoss:
    """The target user's loss with noise.

    Attributes:
        losses: Its values, shape (atoms,).
        masses: Their probabilities, shape (atoms,).
        smoothing: The variance of the noise.
        num_terms: How many terms a sum over all values has, as its rounding grows with.
    """

    losses: Floats
    masses: Floats
    smoothing: float
    num_terms: int

    @property
    def variance(self) -> float:
        """That of the loss without noise."""
        return variance_of(self.losses, self.masses)

    def real_less_1(self, thetas: Floats) -> Floats:
        """Returns phi(theta) - 1 on the real axis, shape of the points."""
        powers = np.multiply.outer(thetas, self.losses)
        plain = np.expm1(powers, out=powers) @ self.masses
        noise = np.expm1(0.5 * self.smoothing * thetas * thetas)
        x: Floats = plain + noise + plain * noise
        return x

    def less_1(self, outer: Complexes, inner: Complexes) -> Complexes:
        """Returns phi(z) - 1 at the sums z of an outer and an inner point, shape (m, n).

        Args:
            outer: Points, shape (m,).
            inner: Small steps from each of them, shape (n,).
        """
        (plain,) = grid_sums(outer, inner, self.losses, self.masses[np.newaxis])
        z = outer[:, np.newaxis] + inner
        noise = expm1(0.5 * self.smoothing * z * z)
        x: Complexes = plain + noise + plain * noise
        return x

    def less_1_and_slope(
        self, outer: Complexes, inner: Complexes, *, mirrored: int = 0
    ) -> tuple[Complexes, Complexes]:
        """Returns phi(z) - 1 and phi'(z), of shape (m, n) each.

        Args:
            outer: See `less_1`, as for what follows.
            inner: Likewise.
            mirrored: How many of the first steps are conjugates of the last ones.
        """
        weights = np.stack([self.masses, self.masses * self.losses])
        plain, slope = grid_sums(outer, inner, self.losses, weights, mirrored=mirrored)
        slope += weights[1].sum()
        z = outer[:, np.newaxis] + inner
        slope += self.smoothing * z * (1.0 + plain)
        noise = expm1(0.5 * self.smoothing * z * z)
        return plain + noise + plain * noise, slope * (1.0 + noise)

    def steepest(self, line: float) -> float:
        """Returns a bound of |phi'| where Re z is `line`, at any height."""
        weights = self.masses * np.exp(line * self.losses)
        # s^2 |z| e^{-s^2 w^2 / 2} is at most s^2 x + 0.61 s.
        noise = self.smoothing * line + 0.61 * math.sqrt(self.smoothing)
        slope = float(weights @ (np.abs(self.losses) + noise))
        return slope * math.exp(0.5 * self.smoothing * line**2)

    def rounding(self, line: float, distance: float) -> float:
        """Returns a bound of by how much phi is off where Re z is `line`.

        Args:
            line: Above 0.
            distance: Of z from 0, at most.
        """
        reach = distance * self.losses
        # |(1 + A) B| + |A| <= |A B| + |A| + |B| (grid_sums.py); left of 0 no exponential
        # exceeds 1, and right of it none exceeds that of the line, however far up.
        with np.errstate(over="ignore"):
            most = 3.0 * np.exp(line * self.losses) + 5.0
            most = np.minimum(np.expm1(reach), most)
        sizes = np.where(reach > 0.0, most, np.minimum(-3.0 * reach, 8.0))
        size = float(self.masses @ sizes)
        # Exponents are rounded, too: x e^-x <= 1.
        bent = np.minimum(-3.0 * reach, 3.0 * distance / line)
        bent = np.where(reach > 0.0, reach * most, bent)
        rounding = (2e-15 + 1.2e-16 * self.num_terms) * size
        return rounding + 1.2e-16 * float(self.masses @ bent)


def smoothed_loss(loss: Atoms, *, smoother: float, noise: float) -> SmoothedLoss:
    """Returns the loss with noise.

    Args:
        loss: The target user's.
        smoother: Times which the noise is the usual one.
        noise: Its variance, at least.
    """
    variance = variance_of(loss.losses, loss.masses)
    smoothing = max(_SMOOTHING * loss.telling, LEAST_SMOOTHING * variance)
    smoothing = max(smoothing * smoother, noise)
    return SmoothedLoss(loss.losses, loss.masses, smoothing, loss.num_terms)


def variance_of(losses: Floats, masses: Floats) -> float:
    """Returns the variance of a loss with these values and probabilities."""
    return float(masses @ (losses - masses @ losses) ** 2)
