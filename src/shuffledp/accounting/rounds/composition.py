"""Composition of many collections, from a certified bound of each.

Each collection is given by its likelihood ratios X_k (`LossDistribution`).

With M_k(z) = E_Q[X_k^z] over the finite ratios, P(X_k = inf) = u_k, and T_k
collections of kind k, the bound at epsilon is

    1 - prod (1 - u_k)^{T_k}
    + 1 / (2 pi i)  integral over Re z = theta of  M(z) e^{epsilon (1 - z)} / (z (z - 1)) dz

with M = e^{s^2 (z^2 - z) / 2} prod M_k^{T_k} and any theta > 1. The first factor multiplies
X by a lognormal variable of mean 1: (X - E)_+ is convex, so the bound only rises - by about
s^2 / (2 var log X) of epsilon, a few parts in a million - and the integral ends.

*Errors.* All are added to the result. |M(x + iw)| <= M(x) e^{-s^2 w^2 / 2} and |z (z - 1)|
>= (x - 1)^2 + w^2 bound the cut tail, and, by the integrals along two lines at distance
d, the error of the trapezoid rule: at step h, their sum over e^{2 pi d / h} - 1 (Trefethen
and Weideman 2014, SIAM Review 56, Theorem 5.1).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.rounds.loss_distribution import LossDistribution
from shuffledp.accounting.sums.complex_exp import exp_of
from shuffledp.accounting.sums.complex_expm1 import expm1_parts
from shuffledp.accounting.sums.complex_log1p import log1p
from shuffledp.accounting.sums.matrix_products import complex_product
from shuffledp.errors import CertificationError
from shuffledp.types import Complexes, Floats

# Variance of the smoothing noise, as a part of that of the composed loss.
_SMOOTHING = 5e-6
# Discretization and truncation together: about this part of the result each.
_TOLERANCE = 1e-9
# Lines on which the integrand is higher by e to this are too far away.
_LARGEST_LOG_HEIGHT = 300.0
# Covers all rounding that is not multiplied by the number of collections.
_ARITHMETIC = 1e-12
_ULP = 2.3e-16
# Exponents beyond this are factored out, lest e^x overflow.
_LARGE = 500.0
# Saddles nearer to the pole than this mean losses of thousands beyond epsilon: delta is
# about 1, and so is the bound.
_NEAR_POLE = 3e-4
_MOST_POINTS = 4_000_000
# Nothing smaller is ever returned: it might have been rounded down to 0.
_SMALLEST = 1e-306


@dataclass(frozen=True, eq=False)
class Composed:
    """Kinds of collections and how often each takes place."""

    parts: tuple[tuple[LossDistribution, int], ...]

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        with np.errstate(all="ignore"):
            try:
                total = self._delta(epsilon)
            except (OverflowError, ValueError, ZeroDivisionError):
                total = math.nan
        if not math.isfinite(total):
            raise CertificationError(
                f"No proven bound at epsilon {epsilon:g}: the numbers are too extreme."
            )
        return min(total, 1.0)

    def _delta(self, epsilon: float) -> float:
        if any(distribution.infinite >= 1.0 for distribution, _ in self.parts):
            return 1.0
        logs = math.fsum(
            n * math.log1p(-distribution.infinite) for distribution, n in self.parts
        )
        infinite = -math.expm1(logs) * (1.0 + 1e-14)
        largest_loss = math.fsum(
            n * float(distribution.losses[-1]) for distribution, n in self.parts
        )
        if epsilon >= largest_loss * (1.0 + 1e-14):
            return infinite
        integrand = LossIntegrand(self.parts, epsilon)
        if integrand.saddle - 1.0 < _NEAR_POLE:
            return 1.0
        integral, error = integrand.integral()
        finite = math.exp(integrand.level) * (max(integral, 0.0) + error)
        return max(infinite + finite, _SMALLEST)


def composed(parts: Sequence[tuple[LossDistribution, int]]) -> Composed:
    """Returns the composition of these collections, each repeated as stated."""
    if not parts or any(rounds < 1 for _, rounds in parts):
        raise ValueError("Expected each kind of collection at least once.")
    return Composed(tuple(parts))


class LossIntegrand:
    """M(z) e^{epsilon (1 - z)} / (z (z - 1)) along the line through its saddle."""

    def __init__(
        self, parts: Sequence[tuple[LossDistribution, int]], epsilon: float
    ) -> None:
        self.parts, self.epsilon, self.smoothing = parts, epsilon, 0.0
        # By how much the masses' total differs from 1, without rounding.
        self.excesses = [
            math.fsum([*distribution.masses, -1.0]) for distribution, _ in parts
        ]
        self.saddle = theta = self._saddle()
        # Roundings in one sum over the losses.
        self.ulps = [
            distribution.losses.size + 3.0 * theta * distribution.losses[-1]
            for distribution, _ in parts
        ]
        kinds = range(len(parts))
        self.tilted, self.doubts = zip(*map(self._tilted, kinds), strict=True)
        variance = 0.0
        for masses, (distribution, rounds) in zip(self.tilted, parts, strict=True):
            mean = float(masses @ distribution.losses)
            variance += rounds * float(masses @ (distribution.losses - mean) ** 2)
        # The pole may be nearer than the losses' width; next to 1 it adds less, since
        # the level gains s^2 theta (theta - 1) / 2.
        self.smoothing = _SMOOTHING * (variance + 2.0 / (theta * (theta - 1.0)))
        variance += 1.0 / theta**2 + 1.0 / (theta - 1.0) ** 2
        self.level = self._log_size(theta)
        # About the size of the result over e^level.
        self.size = 0.4 / (theta * (theta - 1.0) * math.sqrt(variance))
        # The best lines beside the saddle; the pole at 1 stays outside.
        widest, choices = (
            min(theta - 1.0, 12.0 / math.sqrt(variance)),
            [(0.0, 0.0, 0.0)],
        )
        while max(choices)[0] == 0.0:
            choices = [self._strip(widest * part) for part in (0.95, 0.8, 0.5, 0.25)]
            widest /= 8.0
            if not widest > 1e-12:
                raise OverflowError
        self.step, self.distance, self.mass = max(choices)

    def integral(self) -> tuple[float, float]:
        """Returns the integral over e^level, and a bound of all its errors."""
        heights = np.linspace(1.0, 15.0, 141) / math.sqrt(self.smoothing)
        small = [self._beyond(w) < self.size * _TOLERANCE for w in heights.tolist()]
        return self.trapezoid(
            self.step, math.ceil(heights[np.argmax(small)] / self.step)
        )

    def trapezoid(self, step: float, last: int) -> tuple[float, float]:
        """Returns the rule with at least points 0, ..., last, and its error bound."""
        if not last < _MOST_POINTS:
            raise OverflowError
        # A square of points: e^{i w loss} is the product of one for a row and a column.
        side = math.isqrt(last) + 1
        columns = step * np.arange(side, dtype=np.float64)
        heights = np.add.outer(side * columns, columns).ravel()
        real = -0.5 * self.smoothing * heights**2
        phase = (self.smoothing * (self.saddle - 0.5) - self.epsilon) * heights
        # Each factor's size, not less than e^-20, and its error as a part of that: the
        # error of a product is largest where all factors have at least their size.
        sizes, doubts = real.copy(), _ARITHMETIC + 4.0 * _ULP * np.abs(phase)
        for kind, (distribution, rounds) in enumerate(self.parts):
            masses = self.tilted[kind]
            x = _turned(masses, distribution.losses, side * columns, columns)
            logs = log1p(x)
            log_sizes = np.maximum(logs.real, -20.0)
            real += rounds * np.maximum(logs.real, -1e4)
            phase += rounds * logs.imag
            sizes += rounds * log_sizes
            # A sum is off by its number of terms, each |e^{i w loss} - 1| <= w |loss|.
            sums = 4.0 * float(masses @ np.abs(distribution.losses)) * heights
            sums *= self.doubts[kind] + 2.0 * _ULP * (self.ulps[kind] + 10.0)
            ulps = 8.0 * _ULP * (np.abs(x) + np.abs(logs.imag) - log_sizes)
            doubts += rounds * (sums * np.exp(-log_sizes) + ulps)
        z = self.saddle + 1j * heights
        factor = step / math.pi / (z * (z - 1.0))
        factor[0] *= 0.5
        rule = float((factor * exp_of(real, phase)).real.sum())
        little = np.exp(sizes) * np.expm1(np.minimum(doubts, 1.0))
        wrong = np.where(doubts < 1.0, little, np.exp(sizes + doubts))
        error = float((np.abs(factor) * wrong).sum()) + self._beyond(float(heights[-1]))
        # 1 / (e^r - 1) with r = 2 pi distance / step, which may be large.
        decay = math.exp(-2.0 * math.pi * self.distance / step)
        error += self.mass * decay / (1.0 - decay)
        # What may be wrong with the level, too.
        doubt = self.epsilon * self.saddle + abs(self.level) + 10.0
        doubt *= (len(self.parts) + 4.0) * _ULP
        for each, (_, rounds) in zip(self.doubts, self.parts, strict=True):
            doubt += rounds * each
        return rule, error + math.expm1(doubt) * (abs(rule) + error)

    def _beyond(self, height: float) -> float:
        """Returns a bound of the integral beyond both heights, over 2 pi e^level."""
        power = -0.5 * self.smoothing * height**2
        return math.exp(power) / (math.pi * self.smoothing * height**3)

    def _strip(self, distance: float) -> tuple[float, float, float]:
        """Returns the step allowed by two lines, their distance, the integrals there."""
        integral = 0.0
        for x in (self.saddle - distance, self.saddle + distance):
            log_height = self._log_size(x) - self.level
            if not log_height < _LARGEST_LOG_HEIGHT:
                return 0.0, 0.0, 0.0
            # The integral of 1 / ((x - 1)^2 + w^2) is pi / (x - 1); 1.01 is for rounding.
            integral += 1.01 * math.exp(log_height) / (2.0 * (x - 1.0))
        decay = math.log1p(integral / (self.size * _TOLERANCE))
        return 2.0 * math.pi * distance / decay, distance, integral

    def _log_size(self, x: float) -> float:
        """Returns log M(x) + epsilon (1 - x) on the real axis."""
        total = self.epsilon * (1.0 - x) + 0.5 * self.smoothing * x * (x - 1.0)
        for kind, (_, rounds) in enumerate(self.parts):
            total += rounds * self._log_moment(kind, x)
        return total

    def _log_moment(self, kind: int, x: float) -> float:
        """Returns log M_k(x), accurate near 0."""
        distribution, excess = self.parts[kind][0], self.excesses[kind]
        top = x * float(distribution.losses[-1])
        if top < _LARGE:
            return math.log1p(
                float(distribution.masses @ np.expm1(x * distribution.losses)) + excess
            )
        return top + math.log(
            float(distribution.masses @ np.exp(x * distribution.losses - top))
        )

    def _tilted(self, kind: int) -> tuple[Floats, float]:
        """Returns masses times e^{theta loss} / M_k(theta), and the latter's doubt."""
        distribution, log = self.parts[kind][0], self._log_moment(kind, self.saddle)
        powers = self.saddle * distribution.losses
        masses = distribution.masses * np.exp(powers - log)
        # M_k(theta) - 1 was a sum of terms of size |e^{theta loss} - 1|, and the excess.
        untilted = distribution.masses * math.exp(-log)
        terms = np.where(powers > 0.0, masses, untilted) @ -np.expm1(-np.abs(powers))
        size = float(terms) + abs(self.excesses[kind]) * math.exp(-log)
        size += powers[-1] >= _LARGE
        return masses, _ULP * ((self.ulps[kind] + 10.0) * size + abs(log))

    def _saddle(self) -> float:
        """Returns roughly where the integrand is smallest on the axis beyond 1."""
        # Imported on use: optimization takes long to load.
        from scipy.optimize import minimize_scalar

        variance = sum(
            n * float(distribution.masses @ distribution.losses**2)
            for distribution, n in self.parts
        )
        minimum = minimize_scalar(
            lambda t: self._log_size(1.0 + math.exp(t)) - math.log1p(math.exp(t)) - t,
            bounds=(-20.0, math.log(1e4 / math.sqrt(variance))),
            method="bounded",
            options={"xatol": 1e-3},
        )
        return 1.0 + math.exp(float(minimum.x))


def _turned(masses: Floats, losses: Floats, rows: Floats, columns: Floats) -> Complexes:
    """Returns sum masses (e^{i w losses} - 1) at all w = row + column, accurate near 0."""
    # (1 + a) (1 + b) - 1 = (1 + a) b + a, and the sums are a product of matrices.
    weighted = expm1_parts(1j * rows, losses) * masses
    alone = weighted.sum(axis=2)
    weighted[0] += masses
    result = complex_product(weighted, expm1_parts(1j * columns, losses))
    result += (alone[0] + 1j * alone[1])[:, np.newaxis]
    return result.ravel()
