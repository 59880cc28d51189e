"""The blanket bound as an integral, at a cost that does not depend on how many people.

By exchangeability the bound is sum_m P(M = m) E[L(Y_1) 1{L(Y_1) + ... + L(Y_{m+1}) > 0}].
With phi(z) = E[e^{z L}] and G(u) = E[u^M] = prod (1 - gamma_i + gamma_i u), it is

    1 / (2 pi i)  integral over Re z = theta of  phi'(z) G(phi(z)) / z  dz,   any theta > 0.

*Smoothing.* A little independent normal noise, of variance s^2, is added to every L. It has
mean 0 and (.)_+ is convex, so the bound only rises - by about s^2 / (2 var L) of epsilon,
one part in a million - and phi gains the factor e^{s^2 z^2 / 2}, which ends the integral.

Errors of the evaluation are added to the result (integrals/contour_integrand.py).
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from shuffledp.accounting.failed_trials import FailedTrials
from shuffledp.accounting.upper.atoms import Atoms, atoms, bounded_below
from shuffledp.accounting.upper.integrals.contour_ends import SMALLEST
from shuffledp.accounting.upper.integrals.contour_integral import (
    NEGLIGIBLE,
    integral_ends,
)
from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.accounting.upper.saddle_estimate import saddle_estimate
from shuffledp.cover import Cover
from shuffledp.errors import CertificationError
from shuffledp.types import Floats


@dataclass(frozen=True, eq=False)
class ContourBound:
    """The bound for one target user, ready to be evaluated at any epsilon.

    Attributes:
        cover: The target user's cover.
        probabilities: Probability of a blanket message, or less, in each group, shape
            (groups,).
        counts: Other people in each group, shape (groups,).
        is_composed: Whether the bound is composed with others, so that fewer points do.
    """

    cover: Cover
    probabilities: Floats
    counts: Floats
    is_composed: bool = False

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        return self._computed(epsilon)

    @functools.cached_property
    def _log_g(self) -> LogProduct:
        return LogProduct(self.probabilities, self.counts)

    @functools.cached_property
    def _long_integrals(self) -> FailedTrials:
        return FailedTrials()

    @functools.cached_property
    def _computed(self) -> Callable[[float], float]:
        """The bound at any epsilon; cached, as its slack asks for it again."""
        return functools.cache(self._delta)

    def _delta(self, epsilon: float) -> float:
        upper, _ = self._ends(self.cover, epsilon)
        total = upper + self.cover.beyond(epsilon)
        return proven_delta(total, epsilon)

    def estimate(self, epsilon: float) -> float:
        """Returns about the bound at `epsilon`, far quicker; NaN if nothing is known."""
        cover = replace(self.cover, cells=None)
        with np.errstate(all="ignore"):
            try:
                loss, unit = self._loss(cover, epsilon)
                about = saddle_estimate(loss, self.probabilities, self.counts)
            except (OverflowError, ValueError, ZeroDivisionError):
                return math.nan
        return min(unit * about.size + cover.beyond(epsilon), 1.0)

    def slack(self, epsilon: float) -> float:
        """Returns which part of the bound at `epsilon` is numerical caution."""
        # The integral of the mean loss of every cell, less its error: by Jensen's
        # inequality no more than the exact bound, up to the smoothing.
        _, lower = self._ends(replace(self.cover, cells=None), epsilon)
        exact = lower + self.cover.beyond(epsilon)
        part = 1.0 - exact / self.delta(epsilon)
        return min(max(part, 0.0), 1.0) if math.isfinite(part) else 1.0

    def _ends(self, cover: Cover, epsilon: float) -> tuple[float, float]:
        """Returns upper and lower end of the integral; NaN if nothing is known."""
        with np.errstate(all="ignore"):
            try:
                loss, unit = self._loss(cover, epsilon)
            except (OverflowError, ValueError, ZeroDivisionError):
                return math.nan, math.nan
        return integral_ends(
            loss,
            unit,
            self._log_g,
            epsilon,
            coarse=cover.cells is not None,
            long=self._long_integrals if self.is_composed else None,
            negligible=NEGLIGIBLE * cover.beyond(epsilon),
        )

    def _loss(self, cover: Cover, epsilon: float) -> tuple[Atoms, float]:
        """Returns the target user's loss, and its unit."""
        unit = float(np.abs(cover.differences).max())
        return bounded_below(
            atoms(cover, unit, epsilon), float(self.counts.sum())
        ), unit


def proven_delta(total: float, epsilon: float) -> float:
    """Returns a bound that was summed up as a delta, never 0.

    Raises:
        CertificationError: If it is no number.
    """
    if not math.isfinite(total):
        raise CertificationError(
            f"No proven bound at epsilon {epsilon:g}: the numbers are too extreme."
        )
    return min(max(total, SMALLEST), 1.0)
