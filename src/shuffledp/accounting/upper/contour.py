"""The blanket bound as an integral, at a cost that does not depend on how many people.

By exchangeability the bound is sum_m P(M = m) E[L(Y_1) 1{L(Y_1) + ... + L(Y_{m+1}) > 0}].
With phi(z) = E[e^{z L}] and G(u) = E[u^M] = prod (1 - gamma_i + gamma_i u), it is

    1 / (2 pi i)  integral over Re z = theta of  phi'(z) G(phi(z)) / z  dz,   any theta > 0.

*Smoothing.* A little independent normal noise, of variance s^2, is added to every L. It has
mean 0 and (.)_+ is convex, so the bound only rises - by about s^2 / (2 var L) of epsilon,
one part in a million - and phi gains the factor e^{s^2 z^2 / 2}, which ends the integral.

Errors of the evaluation are added to the result (contour_integrand.py).
"""

import functools
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from shuffledp.accounting.failed_trials import FailedTrials
from shuffledp.accounting.upper.atoms import Atoms, atoms, fewer_atoms
from shuffledp.accounting.upper.contour_integrand import ContourIntegrand
from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.accounting.upper.saddle_estimate import saddle_estimate
from shuffledp.cover import Cover
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

# Nothing smaller is ever returned: it might have been rounded down to 0.
_SMALLEST = 1e-306
_LOG_SMALLEST = math.log(_SMALLEST)
# Points times atoms of an integral that takes ten milliseconds, and of one that takes a
# few, as a composition makes hundreds. Longer ones are smoothed by so many times the noise,
# for fewer points: 2e-6 of epsilon, and, as much as chords add in a composition, 2e-5.
_SLOW_WORK, _SMOOTHER = 1e6, 10.0
_MUCH_WORK, _COMPOSED = 3e5, 100.0
# The sum of fewer losses is as smooth as they are, and fewer values of them save nothing.
_MANY_MESSAGES = 30.0


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
                unit = float(np.abs(cover.differences).max())
                loss = atoms(cover, unit, epsilon)
                size = unit * saddle_estimate(loss, self.probabilities, self.counts)
            except (OverflowError, ValueError, ZeroDivisionError):
                return math.nan
        return min(size + cover.beyond(epsilon), 1.0)

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
                unit = float(np.abs(cover.differences).max())
                loss = atoms(cover, unit, epsilon)
            except (OverflowError, ValueError, ZeroDivisionError):
                return math.nan, math.nan
        return integral_ends(
            loss,
            unit,
            self._log_g,
            epsilon,
            coarse=cover.cells is not None,
            long=self._long_integrals if self.is_composed else None,
        )


def proven_delta(total: float, epsilon: float) -> float:
    """Returns a bound that was summed up as a delta, never 0.

    Raises:
        CertificationError: If it is no number.
    """
    if not math.isfinite(total):
        raise CertificationError(
            f"No proven bound at epsilon {epsilon:g}: the numbers are too extreme."
        )
    return min(max(total, _SMALLEST), 1.0)


def integral_ends(
    loss: Atoms,
    unit: float,
    log_g: LogProduct,
    epsilon: float,
    *,
    coarse: bool,
    long: FailedTrials | None,
) -> tuple[float, float]:
    """Returns upper and lower end of the integral; NaN if nothing is known.

    Args:
        loss: The target user's loss, in units of `unit`.
        unit: In units of omega's density.
        log_g: log G(1 + x), of the other people.
        epsilon: At which it is the loss.
        coarse: Whether losses vary within cells.
        long: Integrals of this bound, if it is composed with others, so that fewer points
            do where they failed as too long; else None.
    """
    # Losses that are never positive add up to none; there is no saddle.
    if loss.losses.max() <= 0.0:
        return 0.0, 0.0
    integrated = functools.partial(_integrated, unit=unit, log_g=log_g, coarse=coarse)
    has_many = float(log_g.probabilities @ log_g.counts) >= _MANY_MESSAGES
    with np.errstate(all="ignore"):
        try:
            if long is not None:
                return _within_composition(integrated, loss, epsilon, has_many, long)
            # Losses that vary within cells are smoothed more already, and at 0 sums may be
            # 0, half of which noise would count.
            smoother = 1.0 if coarse or epsilon == 0.0 else _SMOOTHER
            if smoother > 1.0:
                with suppress(OverflowError):
                    return integrated(loss, most_work=_SLOW_WORK)
            with suppress(OverflowError):
                return integrated(loss, smoother=smoother)
            return integrated(
                fewer_atoms(loss) if has_many else loss, smoother=smoother
            )
        except (OverflowError, ValueError, ZeroDivisionError):
            return math.nan, math.nan


def _within_composition(
    integrated: Callable[..., tuple[float, float]],
    loss: Atoms,
    epsilon: float,
    has_many: bool,
    long: FailedTrials,
) -> tuple[float, float]:
    """Returns the ends of an integral that takes little work, if that can be.

    Raises:
        OverflowError: If numbers are too extreme.
    """
    if not long.surround(epsilon):
        ends = None
        with suppress(OverflowError):
            ends = integrated(loss, most_work=_MUCH_WORK)
        long.add(epsilon, failed=ends is None)
        if ends is not None:
            return ends
    return integrated(fewer_atoms(loss) if has_many else loss, smoother=_COMPOSED)


def _integrated(
    loss: Atoms,
    unit: float,
    log_g: LogProduct,
    *,
    coarse: bool,
    smoother: float = 1.0,
    most_work: float = math.inf,
) -> tuple[float, float]:
    """Returns upper and lower end of the integral, of losses in this unit.

    Raises:
        OverflowError: If it takes more work, or numbers are too extreme.
    """
    integrand = ContourIntegrand(
        loss,
        log_g,
        coarse=coarse,
        smoother=smoother,
        most_work=most_work,
    )
    level = integrand.level + math.log(unit)
    if level + math.log(integrand.absolute) <= _LOG_SMALLEST:
        # So far out the points are millions, and nothing smaller is returned.
        return _SMALLEST, 0.0
    value, error = integrand.integral()
    upper = math.exp(level + math.log(max(value, 0.0) + error))
    return upper, math.exp(level) * max(value - error, 0.0)
