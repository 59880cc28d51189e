"""The integrand of what one rare loss adds to the blanket bound.

With J the rare losses, each with noise as well, and phi the moment of the usual ones, it is
E[e^{z J}] e^{s^2 z^2 / 2} G(phi(z)) / z^2 (divided_loss.py).
"""

import math

import numpy as np

from shuffledp.accounting.sums.complex_expm1 import expm1
from shuffledp.accounting.sums.grid_sums import grid_sums
from shuffledp.accounting.upper.atoms import Atoms
from shuffledp.accounting.upper.integrals.contour_integrand import ContourIntegrand
from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.types import Complexes, Floats


class RareIntegrand(ContourIntegrand):
    """E[e^{z J}] e^{s^2 z^2 / 2} G(phi(z)) / z^2, of rare losses J.

    Args:
        usual: The loss with 0 for rare values.
        rare: The rare values, all above 0.
        log_g: See `ContourIntegrand`, as for what follows.
        smoother: Likewise.
        noise: Likewise.
    """

    def __init__(
        self,
        usual: Atoms,
        rare: Atoms,
        log_g: LogProduct,
        *,
        smoother: float = 1.0,
        noise: float = 0.0,
    ) -> None:
        self._rare = rare
        super().__init__(usual, log_g, smoother=smoother, noise=noise)

    @property
    def size(self) -> float:
        """About the size of the integral over e^level."""
        moment = math.exp(float(self._log_moments(np.array([self.saddle]))[0]))
        # Of width 1 / deviation, or theta, beyond which 1 / z^2 falls.
        width = 1.0 / max(self.deviation, 1.0 / self.saddle)
        return 0.1 * moment / self.saddle**2 * width

    def _log_moments(self, thetas: Floats) -> Floats:
        """Returns log E[e^{theta J}] of the rare losses with noise, on the real axis."""
        powers = np.exp(np.multiply.outer(thetas, self._rare.losses))
        moments = np.log(powers @ self._rare.masses)
        logs: Floats = moments + 0.5 * self.loss.smoothing * thetas**2
        return logs

    def _usual_saddle(self) -> float:
        rare = self._rare
        return float(rare.masses.sum() / (rare.masses @ rare.losses))

    def _growth(self, distance: float) -> float:
        ends = np.array([self.saddle, self.saddle + distance])
        at, beyond = self._log_moments(ends).tolist()
        return float(super()._growth(distance) + beyond - at)

    def _rough_factor(self, log_thetas: Floats, x: Floats) -> Floats:
        del x
        return self._log_moments(np.exp(log_thetas)) - 2.0 * log_thetas

    def _moment_and_factor(
        self, outer: Complexes, inner: Complexes
    ) -> tuple[Complexes, Complexes]:
        rare = self._rare
        (moment,) = grid_sums(outer, inner, rare.losses, rare.masses[np.newaxis])
        moment += rare.masses.sum()
        z = outer[:, np.newaxis] + inner
        factor = moment * (1.0 + expm1(0.5 * self.loss.smoothing * z * z)) / (z * z)
        return self.loss.less_1(outer, inner), factor

    def _largest_factor(self) -> float:
        return math.exp(float(self._log_factor(self.saddle, np.zeros(1))[0]))

    def _log_factor(self, line: float, heights: Floats) -> Floats:
        (moment,) = self._log_moments(np.array([line])).tolist()
        factor: Floats = moment - 0.5 * self.loss.smoothing * heights**2
        return factor - 2.0 * np.log(np.maximum(line, heights))
