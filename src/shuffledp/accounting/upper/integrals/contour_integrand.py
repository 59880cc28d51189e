"""The integrand of the blanket bound, its integral, and all errors of that.

*Errors.* All are added to the result. G has non-negative coefficients, so that on a line
Re z = x the integrand is at most

    A(x, w) = E[(|L| + s^2 x + 0.86 s) e^{x L}] e^{s^2 x^2 / 2 - s^2 w^2 / 4}
              G(E[e^{x L}] e^{s^2 (x^2 - w^2) / 2}) / max(x, |w|),

which falls in w = Im z. This bounds the cut tail, and, by its integrals along two lines
at distance d, the error of the trapezoid rule: at step h, their sum over e^{2 pi d / h} - 1
(Trefethen and Weideman 2014, SIAM Review 56, Theorem 5.1). Points at which a cheap bound
of |G| is negligible are skipped.
"""

import math

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.upper.atoms import Atoms, raised_to
from shuffledp.accounting.upper.integrals.contour_blocks import visible_blocks
from shuffledp.accounting.upper.integrals.line_distance import line_distance
from shuffledp.accounting.upper.integrals.smoothed_loss import (
    SmoothedLoss,
    smoothed_loss,
)
from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.types import Complexes, Floats, Ints

# A sum with a value of e to minus this at the saddle is positive only so rarely, over the
# number of messages.
_OUTWEIGHED = 25.0
# Of what is left, in saddles: all values may be outweighed.
_LEAST_DEVIATION = 0.1
# Blocks times atoms, and points that count times atoms; more would take too long.
_MOST_BLOCKS, _MOST_WORK = 6e7, 4e7
# What a point, and a block, cost whatever the number of atoms, in atoms.
_PER_POINT, _PER_BLOCK = 30, 100
# Points that are looked at together: more where log |G| changes by so little, at most,
# to either side.
_BLOCKS = (16, 128)
_CHANGE = 5.0
# Points that are evaluated together, so that they stay in a processor's cache.
_AT_ONCE = 1 << 14
# Discretization and truncation together: about this part of the result each.
_TOLERANCE = 1e-9
# Covers rounding, as a part of the sum of the absolute values of all terms.
_ARITHMETIC = 1e-9
# Which part of the bound of absolute values these surely have, about.
_LEAST_ROUNDED = 0.1
# Points with log |G| this far below its value at the saddle are skipped.
_SKIP = 60.0
# Heights at which a tail is bounded, all and first, and its part that may be rounded up.
_HEIGHTS, _FIRST_HEIGHTS, _NOTHING = 300, 120, 1e-30
# The largest double below 1 is 1 less this.
_LEAST_GAP = 2.0**-53


class ContourIntegrand:
    """phi'(z) G(phi(z)) / z at one epsilon, with losses in units of the gap.

    Args:
        loss: The target user's.
        log_g: log G(1 + x), of the other people.
        smoother: Times which the noise is the usual one, so that fewer points do.
        noise: Its variance, at least.
        most_work: Points times atoms, and a few, that are evaluated at most.
    """

    def __init__(
        self,
        loss: Atoms,
        log_g: LogProduct,
        *,
        smoother: float = 1.0,
        noise: float = 0.0,
        most_work: float = math.inf,
    ) -> None:
        self._most_work = most_work
        self.probabilities, self.counts = log_g.probabilities, log_g.counts
        self._log_g = log_g
        # Powers of the probabilities, for the cheap bound of |G|.
        self.sums = [float(self.counts @ self.probabilities**j) for j in (1, 2)]
        self.messages = max(1.0, self.sums[0])
        # With no noise that comes of values which hardly any sum outweighs.
        self.loss = SmoothedLoss(loss.losses, loss.masses, noise, loss.num_terms)
        self.deviation = math.sqrt(self.messages * self.loss.variance)
        saddle = self._saddle()
        least = -(_OUTWEIGHED + math.log(self.messages)) / saddle
        if loss.losses.min() < least:
            loss = raised_to(loss, least)
        self.loss = smoothed_loss(loss, smoother=smoother, noise=noise)
        self.deviation = math.sqrt(self.messages * self.loss.variance)
        self.deviation = max(self.deviation, _LEAST_DEVIATION / saddle)
        self.saddle = self._saddle()
        self.level = self._log_g_at(self.saddle)
        self.distance = line_distance(self.saddle, self._growth)
        self._at_saddle = self._tails(self.saddle)
        above = self._tails(self.saddle + self.distance)[1][0]
        self.mass = float(above + self._tails(self.saddle - self.distance)[1][0])

    @property
    def absolute(self) -> float:
        """Upper bound of the integral of the absolute value over e^level."""
        return float(self._at_saddle[1][0])

    @property
    def rounding(self) -> float:
        """About how much of the integral over e^level may be rounding, at least."""
        return _LEAST_ROUNDED * self._rounding(self.saddle) * self.absolute

    @property
    def size(self) -> float:
        """About the size of the integral over e^level."""
        # H(phi) / (theta^2 deviation sqrt(2 pi)).
        return 0.4 / (self.messages * self.saddle**2 * self.deviation)

    def integral(self) -> tuple[float, float]:
        """Returns the integral over e^level, and a bound of all its errors."""
        size = min(self.size, self.absolute)
        decay = math.log1p(self.mass / (size * _TOLERANCE))
        step = 2.0 * math.pi * self.distance / decay
        heights, beyond = self._at_saddle
        end = int(np.argmax(beyond < size * _TOLERANCE)) or heights.size - 1
        return self.trapezoid(step, math.ceil(heights[end] / step))

    def trapezoid(self, step: float, last: int) -> tuple[float, float]:
        """Returns the rule with points 0, ..., last at this step, and its error bound."""
        terms, indices, skipped = self._terms(step, last)
        value = float(terms.real.sum()) * step / math.pi
        # Most of the sum is near the axis, where less is lost.
        end = last * step
        middle = min(10.0 / self.deviation, end)
        near = indices * step <= middle
        rounding = skipped
        for region, height in ((near, middle), (~near, end)):
            relative = self._rounding(
                math.hypot(self.saddle, height) + _BLOCKS[1] * step
            )
            rounding += relative * float(np.abs(terms[region]).sum())
        error = rounding * step / math.pi
        error += float(self._tails(self.saddle, start=end)[1][0])
        # 1 / (e^r - 1) with r = 2 pi distance / step, which may be large.
        decay = math.exp(-2.0 * math.pi * self.distance / step)
        error += self.mass * decay / (1.0 - decay)
        return value, error

    def _rounding(self, distance: float) -> float:
        """Returns by which part of itself a term may be off, so far from 0 or nearer."""
        # log G is off by the rounding of phi, times the number of messages.
        rounding = self.loss.rounding(self.saddle, distance) * self.messages
        return _ARITHMETIC + self._log_g.remainder + rounding

    def _log_g_of(self, x: Floats) -> Floats:
        """Returns log G(1 + x) of real numbers x > -1."""
        # A factor of 0 is none, but for the rounding of x.
        steps = np.multiply.outer(x, self.probabilities)
        np.maximum(steps, _LEAST_GAP - 1.0, out=steps)
        logs: Floats = np.log1p(steps, out=steps) @ self.counts
        return logs

    def _log_g_at(self, theta: float) -> float:
        """Returns log G(phi(theta)) on the real axis."""
        return float(self._log_g_of(self.loss.real_less_1(np.array([theta])))[0])

    def _terms(self, step: float, last: int) -> tuple[Complexes, Ints, float]:
        """Returns the integrand over e^level, its points, and a bound of skipped points.

        Points come in blocks. Where a cheap bound of |G| in the middle of a block, and
        the most by which it may rise within, are negligible, the block is skipped.
        """
        margin = self.loss.steepest(self.saddle) * step / 2.0
        size = int(min(max(_CHANGE / (self.sums[0] * margin), _BLOCKS[0]), _BLOCKS[1]))
        num_blocks = last // size + 1
        if not num_blocks * (self.loss.losses.size + _PER_BLOCK) < _MOST_BLOCKS:
            raise OverflowError
        offsets = 1j * step * (np.arange(size) - (size - 1) / 2.0)
        first, spacing = self.saddle - offsets[0], 1j * step * size
        rows = visible_blocks(
            self._is_visible, first, spacing, num_blocks, margin * size
        )
        atoms, num_points = self.loss.losses.size, rows.size * size
        work = num_points * (atoms + _PER_POINT)
        if not (num_points * atoms < _MOST_WORK and work <= self._most_work):
            raise OverflowError
        terms, indices = [], []
        most = _AT_ONCE // size
        for some in np.split(rows, range(most, rows.size, most)):
            middles = first + spacing * some
            x, values = self._moment_and_factor(middles, offsets)
            index = size * some[:, None] + np.arange(size)
            exact = (self._cheap(x, 0.0) > -_SKIP) & (index <= last)
            values[index == 0] *= 0.5
            terms.append(values[exact] * self._log_g.scaled(x[exact], self.level))
            indices.append(index[exact])
        skipped = last + 1 - sum(len(some) for some in terms)
        lost = skipped * self._largest_factor() * math.exp(-_SKIP)
        return np.concatenate(terms), np.concatenate(indices), lost

    def _usual_saddle(self) -> float:
        """Returns about where the saddle may be."""
        return 1.0 / self.deviation

    def _growth(self, distance: float) -> float:
        """Returns by how much the logarithm grows on the axis, so far from the saddle."""
        return self._log_g_at(self.saddle + distance) - self.level

    def _moment_and_factor(
        self, outer: Complexes, inner: Complexes
    ) -> tuple[Complexes, Complexes]:
        """Returns phi - 1, and the factor beside G(phi), of shape (m, n) each."""
        x, slope = self.loss.less_1_and_slope(outer, inner, mirrored=inner.size // 2)
        return x, slope / (outer[:, None] + inner)

    def _rough_factor(self, log_thetas: Floats, x: Floats) -> Floats:
        """Returns roughly the logarithm of the factor on the axis, where phi is 1 + x."""
        factor: Floats = np.log1p(x) - 2.0 * log_thetas
        return factor

    def _largest_factor(self) -> float:
        """Returns a bound of the factor beside G(phi) on the line."""
        return self.loss.steepest(self.saddle) / self.saddle

    def _log_factor(self, line: float, heights: Floats) -> Floats:
        """Returns a bound of the logarithm of the factor beside G(phi)."""
        noise = self.loss.smoothing
        weights = self.loss.masses * np.exp(line * self.loss.losses)
        sizes = np.abs(self.loss.losses) + noise * line + 0.86 * math.sqrt(noise)
        size = math.log(float(weights @ sizes)) + 0.5 * noise * line * line
        factor: Floats = size - 0.25 * noise * heights**2
        return factor - np.log(np.maximum(line, heights))

    def _is_visible(
        self, outer: Complexes, inner: Complexes, margin: float
    ) -> NDArray[np.bool_]:
        """Returns whether points near these sums may matter, shape (m, n).

        Args:
            outer: Points, shape (m,).
            inner: Small steps from each of them, shape (n,).
            margin: By how much phi may differ nearby.
        """
        x = self.loss.less_1(outer, inner)
        visible: NDArray[np.bool_] = self._cheap(x, margin) > -_SKIP
        return visible

    def _cheap(self, x: Complexes, margin: float) -> Floats:
        """Returns an upper bound of log |G(1 + x)| - level, also within a margin of x."""
        # log |1 + p x| <= p Re x + p^2 |x|^2 / 2, summed over all others.
        first = self.sums[0] * (x.real + margin)
        second = 0.5 * self.sums[1] * (np.abs(x) + margin) ** 2
        bound: Floats = first + second - self.level
        return bound

    def _log_bound(self, line: float, heights: Floats) -> Floats:
        """Returns log A(line, heights) - level; it falls in the heights."""
        noise = 0.5 * self.loss.smoothing
        plain = float(self.loss.masses @ np.expm1(line * self.loss.losses))
        x = plain + (1.0 + plain) * np.expm1(noise * (line * line - heights**2))
        return self._log_g_of(x) - self.level + self._log_factor(line, heights)

    def _tails(self, line: float, *, start: float = 0.0) -> tuple[Floats, Floats]:
        """Returns heights, and bounds of the integrals of |integrand| / 2 pi beyond them.

        Both ends of the line are counted; the first height is `start`.
        """
        reach = 30.0 / math.sqrt(self.messages * self.loss.smoothing)
        # What np.linspace does takes several times as long there.
        heights = start + reach / (_HEIGHTS - 1) * np.arange(float(_HEIGHTS))
        values = np.empty(_HEIGHTS)
        first = values[:_FIRST_HEIGHTS]
        np.exp(self._log_bound(line, heights[:_FIRST_HEIGHTS]), out=first)
        if first[-1] < _NOTHING * first[0]:
            # Beyond, it is no larger, and makes no difference.
            values[_FIRST_HEIGHTS:] = first[-1]
        else:
            values = np.exp(self._log_bound(line, heights))
        # Left ends of the cells, since the bound falls; beyond the grid it falls at least
        # like e^{-s^2 w^2 / 4}.
        beyond = float(values[-1]) * math.sqrt(math.pi / self.loss.smoothing)
        sums = values[::-1].cumsum()[::-1] * (heights[1] - heights[0])
        return heights, (sums + beyond) / math.pi

    def _saddle(self) -> float:
        """Returns roughly where the integrand is smallest on the positive axis."""

        # It need not be exact, so that real numbers will do, which are quick.
        def log_sizes(log_thetas: Floats) -> Floats:
            x = self.loss.real_less_1(np.exp(log_thetas))
            sizes: Floats = self._log_g_of(x) + self._rough_factor(log_thetas, x)
            # What overflows is far away.
            return np.where(np.isnan(sizes), np.inf, sizes)

        log_thetas = math.log(self._usual_saddle()) + np.arange(-7.0, 8.5)
        for step in (1.0, 0.25, 0.0625, 0.015625):
            sizes = log_sizes(log_thetas)
            least = float(log_thetas[np.argmin(sizes)])
            log_thetas = least + step * np.arange(-0.75, 1.0, 0.25)
        return math.exp(least)
