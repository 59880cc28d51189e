"""The blanket bound as an integral, at a cost that does not depend on how many people.

By exchangeability the bound is sum_m P(M = m) E[L(Y_1) 1{L(Y_1) + ... + L(Y_{m+1}) > 0}].
With phi(z) = E[e^{z L}] and G(u) = E[u^M] = prod (1 - gamma_i + gamma_i u), it is

    1 / (2 pi i)  integral over Re z = theta of  phi'(z) G(phi(z)) / z  dz,   any theta > 0.

*Smoothing.* A little independent normal noise, of variance s^2, is added to every L. It has
mean 0 and (.)_+ is convex, so the bound only rises - by about s^2 / (2 var L) of epsilon,
one part in a million - and phi gains the factor e^{s^2 z^2 / 2}, which ends the integral.

*Errors.* All are added to the result. G has non-negative coefficients, so that on a line
Re z = x the integrand is at most

    A(x, w) = E[(|L| + s^2 x + 0.86 s) e^{x L}] e^{s^2 x^2 / 2 - s^2 w^2 / 4}
              G(E[e^{x L}] e^{s^2 (x^2 - w^2) / 2}) / max(x, |w|),

which falls in w = Im z. This bounds what is cut off, and, by its integrals along two lines
at distance d, the error of the trapezoid rule: at step h, their sum over e^{2 pi d / h} - 1
(Trefethen and Weideman 2014, SIAM Review 56, Theorem 5.1). Points at which a cheap bound
of |G| is negligible are skipped.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from shuffledp.accounting.sums.logarithm import log1p
from shuffledp.accounting.upper.atoms import atoms
from shuffledp.cover import Cover
from shuffledp.errors import CertificationError
from shuffledp.types import Complexes, Floats

# Variance of the smoothing noise as a part of var L: 2e-7 of epsilon. Where a large
# epsilon makes var L large it is smaller, down to this part: more points, no more noise.
_SMOOTHING = 4e-7
_LEAST_SMOOTHING = 4e-9
# Where losses vary within cells, as many times more: 1e-5 of epsilon, and more where few
# messages do not smooth the sum by themselves.
_COARSER = 50.0
# Points times atoms; more would take too long.
_MOST_WORK = 4e7
# Points that are looked at together.
_BLOCK = 16
# Discretization and truncation together: about this part of the result each.
_TOLERANCE = 1e-9
# Covers rounding, as a part of the sum of the absolute values of all terms.
_ARITHMETIC = 1e-9
# Points with log |G| this far below its value at the saddle are skipped.
_SKIP = 60.0
# Nothing smaller is ever returned: it might have been rounded down to 0.
_SMALLEST = 1e-306


@dataclass(frozen=True, eq=False)
class ContourBound:
    """The bound for one victim, ready to be evaluated at any epsilon.

    Attributes:
        cover: What she hides behind.
        probabilities: Chance of a blanket message, or less, in each group, shape
            (groups,).
        counts: Other people in each group, shape (groups,).
    """

    cover: Cover
    probabilities: Floats
    counts: Floats

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        upper, _ = self._ends(self.cover, epsilon)
        total = upper + self.cover.beyond(epsilon)
        if not math.isfinite(total):
            raise CertificationError(
                f"No proven bound at epsilon {epsilon:g}: the numbers are too extreme."
            )
        return min(max(total, _SMALLEST), 1.0)

    def slack(self, epsilon: float) -> float:
        """Returns which part of the bound at `epsilon` is numerical caution.

        What remains is the integral, less its error, of the mean loss of every cell:
        by Jensen's inequality no more than the exact bound, but for the smoothing.
        """
        _, lower = self._ends(replace(self.cover, cells=None), epsilon)
        exact = lower + self.cover.beyond(epsilon)
        part = 1.0 - exact / self.delta(epsilon)
        return min(max(part, 0.0), 1.0) if math.isfinite(part) else 1.0

    def _ends(self, cover: Cover, epsilon: float) -> tuple[float, float]:
        """Returns upper and lower end of the integral; NaN if nothing is known."""
        with np.errstate(all="ignore"):
            try:
                unit = float(np.abs(cover.differences).max())
                # Losses that are never positive add up to none; there is no saddle.
                if atoms(cover, unit, epsilon).losses.max() <= 0.0:
                    return 0.0, 0.0
                integrand = ContourIntegrand(replace(self, cover=cover), unit, epsilon)
                value, error = integrand.integral()
                level = integrand.level + math.log(unit)
                upper = math.exp(level + math.log(max(value, 0.0) + error))
                return upper, math.exp(level) * max(value - error, 0.0)
            except (OverflowError, ValueError, ZeroDivisionError):
                return math.nan, math.nan


class ContourIntegrand:
    """phi'(z) G(phi(z)) / z at one epsilon, with losses in units of the gap."""

    def __init__(self, bound: ContourBound, unit: float, epsilon: float) -> None:
        loss = atoms(bound.cover, unit, epsilon)
        self.losses, self.masses = loss.losses, loss.masses
        self.probabilities, self.counts = bound.probabilities, bound.counts
        variance = float(self.masses @ (self.losses - self.masses @ self.losses) ** 2)
        self.smoothing = max(_SMOOTHING * loss.telling, _LEAST_SMOOTHING * variance)
        # Of one sum over all atoms, as a part of the sum of the absolute values.
        self.rounding = 2e-15 + 1.2e-16 * self.losses.size
        # Powers of the probabilities, for the cheap bound of |G|.
        self.sums = [float(self.counts @ self.probabilities**j) for j in (1, 2)]
        self.messages = max(1.0, self.sums[0])
        if bound.cover.cells is not None:
            self.smoothing *= _COARSER * max(1.0, 1e3 / self.messages)
        self.deviation = math.sqrt(self.messages * variance)
        self.saddle = self._saddle()
        self.level = self._log_g_at(self.saddle)[0]
        # To the two lines beside the saddle, where the function must not grow too much;
        # the pole at 0 stays outside.
        self.distance = min(0.9 * self.saddle, 5.0 / self.deviation)
        while not self._log_g_at(self.saddle + self.distance)[0] < self.level + 40.0:
            self.distance /= 2.0
            if self.distance < 1e-9 * self.saddle:
                raise OverflowError
        above = self._tails(self.saddle + self.distance)[1][0]
        self.mass = float(above + self._tails(self.saddle - self.distance)[1][0])

    def integral(self) -> tuple[float, float]:
        """Returns the integral over e^level, and a bound of all its errors."""
        theta = self.saddle
        # About the size of the result: H(phi) / (theta^2 deviation sqrt(2 pi)).
        size = 0.4 / (self.messages * theta**2 * self.deviation)
        decay = math.log1p(self.mass / (size * _TOLERANCE))
        step = 2.0 * math.pi * self.distance / decay
        heights, beyond = self._tails(theta)
        end = int(np.argmax(beyond < size * _TOLERANCE)) or heights.size - 1
        last = heights[end] / step
        if not last * self.losses.size < _MOST_WORK:
            raise OverflowError
        return self.trapezoid(step, math.ceil(last))

    def trapezoid(self, step: float, last: int) -> tuple[float, float]:
        """Returns the rule with points 0, ..., last at this step, and its error bound."""
        terms, skipped = self._terms(step, last)
        value = float(terms.real.sum()) * step / math.pi
        # log G is off by the rounding of phi, times the number of messages.
        height = math.hypot(self.saddle, 10.0 / self.deviation) + _BLOCK * step
        reach = height * self.losses
        # |A B + A + B|; left of 0 no exponential exceeds 1.
        sizes = np.where(reach > 0.0, np.expm1(reach), np.minimum(-3.0 * reach, 8.0))
        size = float(self.masses @ sizes)
        relative = _ARITHMETIC + self.rounding * self.messages * size
        rounding = relative * float(np.abs(terms).sum()) + skipped
        error = rounding * step / math.pi
        error += float(self._tails(self.saddle, start=last * step)[1][0])
        # 1 / (e^r - 1) with r = 2 pi distance / step, which may be large.
        decay = math.exp(-2.0 * math.pi * self.distance / step)
        error += self.mass * decay / (1.0 - decay)
        return value, error

    def _phi_less_1(self, outer: Complexes, inner: Complexes) -> Complexes:
        """Returns phi(z) - 1 and phi'(z) of the smoothed loss, accurate near 0.

        Args:
            outer: Points, shape (m,).
            inner: Small steps from each of them, shape (n,).

        Returns:
            Both at outer + inner, shape (2, m, n).
        """
        # With A = e^{a L} - 1 and B = e^{b L} - 1, e^{(a + b) L} - 1 = A B + A + B is
        # accurate near 0, and the sums over atoms are products of matrices.
        near = np.expm1(np.multiply.outer(inner, self.losses))
        far = np.expm1(np.multiply.outer(outer, self.losses))

        def total(weights: Floats) -> Complexes:
            # einsum: these products are too small for threads to pay.
            grid: Complexes = np.einsum("oa,ia->oi", far * weights, near)
            grid += np.einsum("oa,a->o", far, weights)[:, None]
            grid += np.einsum("ia,a->i", near, weights)
            return grid

        z = outer[:, None] + inner
        weights = self.masses * self.losses
        plain, slope = total(self.masses), total(weights) + weights.sum()
        slope = slope + self.smoothing * z * (1.0 + plain)
        noise = np.expm1(0.5 * self.smoothing * z * z)
        return np.stack([plain + noise + plain * noise, slope * (1.0 + noise)])

    def _log_g(self, x: Complexes) -> Complexes:
        """Returns log G(1 + x)."""
        logs = log1p(np.multiply.outer(x, self.probabilities))
        result: Complexes = np.einsum("zg,g->z", logs, self.counts)
        return result

    def _log_g_at(self, theta: float) -> tuple[float, float]:
        """Returns log G(phi(theta)) and phi(theta) - 1 on the real axis."""
        x = self._phi_less_1(np.array([theta + 0j]), np.zeros(1, complex))[0, 0]
        return float(self._log_g(x).real[0]), float(x.real[0])

    def _terms(self, step: float, last: int) -> tuple[Complexes, float]:
        """Returns the integrand over e^level, and what the skipped points may hold.

        Points come in blocks. Where a cheap bound of |G| in the middle of a block, and
        the most by which it may rise within, are negligible, the block is skipped.
        """
        offsets = 1j * step * (np.arange(_BLOCK) - (_BLOCK - 1) / 2.0)
        num_blocks = last // _BLOCK + 1
        middles = self.saddle - offsets[0] + 1j * step * _BLOCK * np.arange(num_blocks)
        # The middles are equally spaced, too: a square of points has short sides.
        side = math.isqrt(num_blocks - 1) + 1
        x = self._phi_less_1(middles[::side], middles[:side] - middles[0])[0]
        x = x.ravel()[:num_blocks]
        steepest = self._steepest(abs(middles[-1]))
        seen = self._cheap(x, steepest * step * _BLOCK / 2.0) > -_SKIP
        x, slope = self._phi_less_1(middles[seen], offsets)
        z = middles[seen][:, None] + offsets
        index = _BLOCK * np.flatnonzero(seen)[:, None] + np.arange(_BLOCK)
        weight = np.where(index > last, 0.0, np.where(index == 0, 0.5, 1.0))
        exact = self._cheap(x, 0.0) > -_SKIP
        terms = weight * slope / z
        terms[exact] *= np.exp(self._log_g(x[exact]) - self.level)
        skipped = last + 1 - np.count_nonzero(exact)
        return terms[exact], skipped * steepest / self.saddle * math.exp(-_SKIP)

    def _cheap(self, x: Complexes, margin: float) -> Floats:
        """Returns an upper bound of log |G(1 + x)| - level, also within a margin of x."""
        # log |1 + p x| <= p Re x + p^2 |x|^2 / 2, summed over everybody.
        first = self.sums[0] * (x.real + margin)
        second = 0.5 * self.sums[1] * (np.abs(x) + margin) ** 2
        bound: Floats = first + second - self.level
        return bound

    def _steepest(self, farthest: float) -> float:
        """Returns a bound of |phi'| on the line, up to this distance from 0."""
        weights = self.masses * np.exp(self.saddle * self.losses)
        slope = float(weights @ np.abs(self.losses))
        slope += self.smoothing * farthest * float(weights.sum())
        return slope * math.exp(0.5 * self.smoothing * self.saddle**2)

    def _log_bound(self, line: float, heights: Floats) -> Floats:
        """Returns log A(line, heights) - level; it falls in the heights."""
        noise = 0.5 * self.smoothing * line * line
        weights = self.masses * np.exp(line * self.losses)
        sizes = np.abs(self.losses) + self.smoothing * line
        sizes = sizes + 0.86 * math.sqrt(self.smoothing)
        plain = float(self.masses @ np.expm1(line * self.losses))
        x = plain + (1.0 + plain) * np.expm1(noise - 0.5 * self.smoothing * heights**2)
        log_g = np.asarray(self._log_g(x.astype(np.complex128)).real, dtype=np.float64)
        bound: Floats = log_g - self.level + noise
        bound -= 0.25 * self.smoothing * heights**2 + np.log(np.maximum(line, heights))
        bound += math.log(float(weights @ sizes))
        return bound

    def _tails(self, line: float, *, start: float = 0.0) -> tuple[Floats, Floats]:
        """Returns heights, and bounds of the integrals of |integrand| / 2 pi beyond them.

        Both ends of the line are counted; the first height is `start`.
        """
        reach = 30.0 / math.sqrt(self.messages * self.smoothing)
        heights = np.linspace(start, start + reach, 300)
        values = np.exp(self._log_bound(line, heights))
        # Left ends of the cells, since the bound falls; beyond the grid it falls at least
        # like e^{-s^2 w^2 / 4}.
        rest = float(values[-1]) * math.sqrt(math.pi / self.smoothing)
        sums = np.cumsum(values[::-1])[::-1] * (heights[1] - heights[0])
        tails: Floats = (sums + rest) / math.pi
        return heights, tails

    def _saddle(self) -> float:
        """Returns roughly where the integrand is smallest on the positive axis."""

        def log_size(log_theta: float) -> float:
            log_g, x = self._log_g_at(math.exp(log_theta))
            return log_g + math.log1p(x) - 2.0 * log_theta

        middle = math.log(1.0 / self.deviation)
        found = minimize_scalar(
            log_size,
            bounds=(middle - 7.0, middle + 8.0),
            method="bounded",
            options={"xatol": 0.02},
        )
        return math.exp(float(found.x))
