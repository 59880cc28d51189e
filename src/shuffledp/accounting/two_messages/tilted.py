"""The divergence of a crowd of bits at one epsilon, under a tilt that data do not change.

The victim sends a 1 with chance q + gap (holding x) or q (holding x'), and S is how many
others do. With E = e^epsilon, top = gap - (E - 1) q, the divergence is

    max over t of  top P(S = t - 1) - (E - 1) P(S >= t)
  = c max over t of  r P(S = t - 1) - (1 - r) P(S >= t),   c = top + E - 1, r = top / c.

Tilt everybody's coin by e^theta = 1 / r, whatever her value. If K is the logarithm of
E[e^{theta S}], mu and P_theta mean and law of the tilted sum, and tau = t - mu,

    D = c e^{K - theta mu} max over t of
        e^{-theta tau} sum_{u >= 0} e^{-theta u} (P_theta(t + u - 1) - P_theta(t + u)).

The best t is one more than the mode of the tilted sum, which is a whole number next to mu
(Darroch 1964): tau is in (0, 2). The exponent K - theta mu is *linear* in the data. The sum
hardly depends on them: it is a finite Fourier sum of the tilted law, and how far it may be,
for all data of a box, from its value in the middle is bounded
(docs/theory/two-messages.md).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffledp.accounting.sums.logarithm import log1p
from shuffledp.accounting.two_messages.bits import BitCrowd
from shuffledp.errors import CertificationError
from shuffledp.types import Complexes, Floats

# Tails of the tilted sum beyond e^-50 are cut off, and added.
_TAIL = 50.0
# Points of the Fourier sum; the rest is bounded.
_POINTS = 72
# Centers of the cells that tau may be in.
_CELLS = 8
# Several times what one operation in double precision loses.
_UNIT = 1e-15
_MOST_TILT = 300.0
_MOST_EPSILON = 700.0
# Beyond this a bound by differences says nothing.
_FAR_APART = 100.0


@dataclass(frozen=True, eq=False)
class _Grid:
    """Fourier sums with `size` points, for variances up to a limit.

    `falls` are 1 - cos of the angles; `ones` and `zeros` what those who rarely, or mostly,
    send a 1 add to the logarithm of the transform, shape (angles, bands), and `apart` how
    far they are apart; `points` are the tilt and the angles as complex numbers, `waves` and
    `shrink` what they turn the centers of the cells of tau into.
    """

    size: float
    angles: Floats
    falls: Floats
    ones: Complexes
    zeros: Complexes
    kernel: Complexes
    alias: float
    points: Complexes
    apart: Floats
    waves: Complexes
    shrink: Floats


class TiltedCrowd:
    """A crowd at one epsilon, ready to be evaluated at any data.

    Data are how many people of each band hold the value for which a 1 is likelier.

    Args:
        crowd: The others, and the victim.
        epsilon: At which the divergence is wanted, >= 0.
        upward: Whether rounding may raise the divergence, as for upper bounds, or may
            lower it, as for attacks.
    """

    def __init__(self, crowd: BitCrowd, epsilon: float, *, upward: bool = True) -> None:
        self.crowd = crowd
        if not epsilon < _MOST_EPSILON:
            raise CertificationError(f"Epsilon {epsilon:g} is too large for a tilt.")
        steep = math.expm1(epsilon)
        # A larger top, and a smaller tilt, only raise the divergence.
        unit = _UNIT if upward else -_UNIT
        self.top = crowd.gap * (1.0 + unit) - steep * crowd.stray * (1.0 - unit)
        self.top += unit * crowd.gap
        if self.top <= 0.0:
            raise CertificationError(f"Nothing is left to hide at epsilon {epsilon:g}.")
        self.theta = math.log1p(steep / self.top) * (1.0 - unit)
        if not self.theta < _MOST_TILT:
            raise CertificationError(f"Epsilon {epsilon:g} is too close to the budget.")
        self.log_scale = math.log(self.top + steep)
        up, down = math.expm1(self.theta), math.expm1(-self.theta)
        # Tilted chances of a 1 for those who rarely send it, of a 0 for the others.
        self.one = crowd.ones * math.exp(self.theta) / (1.0 + crowd.ones * up)
        # Chances near 1 are no trouble either.
        left = (1.0 - crowd.zeros) + crowd.zeros * math.exp(-self.theta)
        self.zero = crowd.zeros * math.exp(-self.theta) / left
        low_log = np.log1p(crowd.ones * up)
        # Of a fall that is small, 1 plus it keeps too few digits for a billion people.
        fall = crowd.zeros * down
        high_log = np.where(fall > -0.5, np.log1p(np.maximum(fall, -0.5)), np.log(left))
        self.low_exponent = low_log - self.theta * self.one
        self.high_exponent = high_log + self.theta * self.zero
        sizes = np.abs(low_log) + np.abs(high_log) + self.theta * (self.one + self.zero)
        self.exponent_error = _UNIT * float(crowd.counts @ sizes)
        self.low_variance = self.one * (1.0 - self.one)
        self.high_variance = self.zero * (1.0 - self.zero)
        self._grids: dict[int, _Grid] = {}

    @cached_property
    def rise(self) -> Floats:
        """By how much the exponent grows with each holder, shape (bands,)."""
        found: Floats = self.high_exponent - self.low_exponent
        return found

    def exponents(self, holders: Floats) -> Floats:
        """Returns K - theta mu of each row of data, shape (data,)."""
        base = float(self.crowd.counts @ self.low_exponent)
        found: Floats = base + holders @ self.rise
        return found

    def variances(self, holders: Floats) -> Floats:
        """Returns the variance of the tilted sum, shape (data,)."""
        base = float(self.crowd.counts @ self.low_variance)
        found: Floats = base + holders @ (self.high_variance - self.low_variance)
        return np.maximum(found, 0.0)

    def means(self, holders: Floats) -> Floats:
        """Returns the mean of the tilted sum, shape (data,)."""
        base = float(self.crowd.counts @ self.one)
        found: Floats = base + holders @ (1.0 - self.zero - self.one)
        return found

    def grid(self, scale: int) -> _Grid:
        """Returns the Fourier sum for variances up to 2^scale."""
        if scale not in self._grids:
            self._grids[scale] = self._prepared(2.0**scale)
        return self._grids[scale]

    def _prepared(self, variance: float) -> _Grid:
        # Bernstein: P(|S - mu| >= reach) <= 2 e^-50.
        reach = math.ceil(
            _TAIL / 3.0 + math.sqrt((_TAIL / 3.0) ** 2 + 2.0 * _TAIL * variance)
        )
        length = reach + 3.0
        size = 2.0 * length + 1.0
        last = min(_POINTS, int((size - 1.0) / 2.0))
        angles = 2.0 * np.pi / size * np.arange(1.0, last + 1.0)
        step = np.expm1(1j * angles)
        ones = log1p(np.multiply.outer(step, self.one))
        ones -= 1j * np.multiply.outer(angles, self.one)
        back = step.conj()
        zeros = log1p(np.multiply.outer(back, self.zero))
        zeros += 1j * np.multiply.outer(angles, self.zero)
        z = self.theta + 1j * angles
        kernel = step * np.expm1(-z * length) / np.expm1(-z)
        falls = 2.0 * np.sin(0.5 * angles) ** 2
        alias = 8.0 * math.exp(-_TAIL)
        half = 1.0 / _CELLS
        centers = half * (2.0 * np.arange(_CELLS) + 1.0)
        return _Grid(
            size,
            angles,
            falls,
            ones,
            zeros,
            kernel,
            alias,
            points=z,
            apart=np.abs(zeros - ones),
            waves=np.exp(-np.multiply.outer(z, centers)),
            shrink=np.exp(-self.theta * (centers - half)),
        )


def evaluate(tilted: TiltedCrowd, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Bounds the divergence of all data between two corners of each box.

    Args:
        tilted: The crowd.
        low: Least holders in each band, shape (boxes, bands).
        high: Most of them, shape (boxes, bands).

    Returns:
        The logarithm of a bound for each box, shape (boxes,), and by how much each band
        loosens it, shape (boxes, bands).
    """
    middle, radius = 0.5 * (low + high), 0.5 * (high - low)
    falls = tilted.high_variance < tilted.low_variance
    most = tilted.variances(np.where(falls, low, high))
    least = tilted.variances(np.where(falls, high, low))
    exponent = tilted.exponents(np.where(tilted.rise > 0.0, high, low))
    scales = np.ceil(np.log2(np.maximum(most, 1.0) * (1.0 + 1e-9))).astype(np.int64)
    upper = np.empty(len(low))
    doubt = np.empty(low.shape)
    for scale in set(scales.tolist()):
        rows = scales == scale
        grid = tilted.grid(scale)
        sums, parts = _worst_sum(tilted, grid, middle[rows], radius[rows], least[rows])
        upper[rows] = np.log(np.maximum(sums, 1e-300))
        doubt[rows] = parts / np.maximum(sums, 1e-300)[:, None]
    upper += tilted.log_scale + exponent + tilted.exponent_error + 1e-12
    doubt += 2.0 * radius * np.abs(tilted.rise)
    return upper, doubt


def _amplitudes(
    tilted: TiltedCrowd, grid: _Grid, holders: Floats
) -> tuple[Complexes, Floats]:
    """Returns the tilted law's transform about its mean, and its rounding error."""
    counts = tilted.crowd.counts
    logs = (counts - holders) @ grid.ones.T + holders @ grid.zeros.T
    return np.exp(logs), _UNIT * grid.angles * float(
        counts @ (tilted.one + tilted.zero)
    )


def _worst_sum(
    tilted: TiltedCrowd, grid: _Grid, middle: Floats, radius: Floats, least: Floats
) -> tuple[Floats, Floats]:
    """Returns the largest sum for any data of each box, and what each band adds to it."""
    amplitudes, rounding = _amplitudes(tilted, grid, middle)
    moved = radius @ grid.apart.T + rounding
    terms = amplitudes * grid.kernel
    sizes = np.abs(terms)
    # |e^a - e^b| <= |e^b| (e^|a - b| - 1), and the least variance limits |e^a|.
    decay = np.exp(-np.multiply.outer(least, grid.falls))
    near = np.where(moved < _FAR_APART, np.expm1(np.minimum(moved, _FAR_APART)), np.inf)
    farthest = np.minimum(sizes * near, sizes + decay * np.abs(grid.kernel))
    scale = 2.0 / grid.size
    error = scale * (farthest.sum(axis=1) + 1e-13 * sizes.sum(axis=1)) + grid.alias
    if grid.angles.size < (grid.size - 1.0) / 2.0:
        # The points left out; the kernel never exceeds 4.
        error += 4.0 * decay[:, -1]
    half, z = 1.0 / _CELLS, grid.points
    values = scale * (terms @ grid.waves).real
    slopes = scale * np.abs(((terms * z) @ grid.waves).real)
    bend = scale * (sizes @ np.abs(z) ** 2)
    cells = values + half * slopes
    cells += np.multiply.outer(error + 0.5 * half**2 * bend, grid.shrink)
    return cells.max(axis=1), scale * radius * (sizes @ grid.apart)


def at_data(tilted: TiltedCrowd, holders: Floats) -> tuple[Floats, Floats]:
    """Returns logarithms of a lower and an upper bound at each row of data.

    Args:
        tilted: The crowd.
        holders: How many people of each band hold the likelier value, whole numbers,
            shape (data, bands).
    """
    variances = tilted.variances(holders)
    scales = np.ceil(np.log2(np.maximum(variances, 1.0) * (1.0 + 1e-9)))
    lower, upper = np.empty(len(holders)), np.empty(len(holders))
    for scale in set(scales.astype(np.int64).tolist()):
        rows = scales == scale
        ends = _sums_at(tilted, tilted.grid(scale), holders[rows], variances[rows])
        lower[rows], upper[rows] = np.log(np.maximum(ends, 1e-300))
    exponent = tilted.log_scale + tilted.exponents(holders)
    slack = tilted.exponent_error + 1e-12
    # Where nothing is left of a sum, the logarithm is that of nothing.
    lower = np.where(lower > -690.0, lower + exponent - slack - 1e-9, -np.inf)
    return lower, upper + exponent + slack


def _sums_at(
    tilted: TiltedCrowd, grid: _Grid, holders: Floats, variances: Floats
) -> Floats:
    """Returns lower and upper ends of the sum at the best t, shape (2, data)."""
    amplitudes, rounding = _amplitudes(tilted, grid, holders)
    terms = amplitudes * grid.kernel
    sizes = np.abs(terms)
    z = grid.points
    means = tilted.means(holders)
    # The mean itself is rounded.
    blur = _UNIT * (float(tilted.crowd.counts @ (tilted.one + 1.0)) + 1.0)
    scale = 2.0 / grid.size
    error = grid.alias + scale * (
        sizes @ (np.expm1(rounding) + 1e-13 + blur * np.abs(z))
    )
    if grid.angles.size < (grid.size - 1.0) / 2.0:
        error += 4.0 * np.exp(-variances * grid.falls[-1])
    # The mode lies next to the mean, and the best t one above it.
    first, last = np.floor(means - blur) + 1.0, np.ceil(means + blur) + 1.0
    tau = np.minimum(first + np.array([[0.0], [1.0], [2.0]]), last) - means
    waves = np.exp(-np.multiply.outer(tau, z))
    values = scale * (terms * waves).real.sum(axis=2)
    doubt = error * np.exp(-tilted.theta * tau)
    ends: Floats = np.stack([values - doubt, values + doubt]).max(axis=1)
    return ends
