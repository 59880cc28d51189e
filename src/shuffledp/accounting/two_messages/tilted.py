"""The divergence of a population of bits at one epsilon, under a fixed tilt.

The target user sends a 1 with probability q + gap (holding x) or q (holding x'), and S
is how many others do. With E = e^epsilon, top = gap - (E - 1) q, the divergence is

    max over t of  top P(S = t - 1) - (E - 1) P(S >= t)
  = c max over t of  r P(S = t - 1) - (1 - r) P(S >= t),   c = top + E - 1, r = top / c.

Tilt every user's draw by e^theta = 1 / r, whatever the value. If K is the logarithm of
E[e^{theta S}], mu and P_theta mean and distribution of the tilted sum, and tau = t -
mu,

    D = c e^{K - theta mu} max over t of
        e^{-theta tau} sum_{u >= 0} e^{-theta u} (P_theta(t + u - 1) - P_theta(t + u)).

The best t is one more than the mode of the tilted sum, which is a whole number next to mu
(Darroch 1964): tau is in (0, 2). The exponent K - theta mu is *linear* in the data. The sum
hardly depends on them: it is a finite Fourier sum of the tilted distribution, which
`tilted_bounds` bounds (docs/theory/two-messages.md).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffledp.accounting.sums.complex_log1p import log1p
from shuffledp.accounting.sums.rounding import sum_rounding
from shuffledp.accounting.two_messages.binary_population import BinaryPopulation
from shuffledp.errors import CertificationError
from shuffledp.types import Complexes, Floats

# Tails of the tilted sum beyond e^-50 are cut off, and added.
_TAIL = 50.0
# Points of the Fourier sum; the rest is bounded.
_POINTS = 56
# Centers of the cells that tau may be in.
CELLS = 8
# Several times what one operation in double precision loses.
_UNIT = 1e-15
_MOST_TILT = 300.0
_MOST_EPSILON = 700.0


@dataclass(frozen=True, eq=False)
class FourierGrid:
    """The points of a Fourier sum of the tilted distribution, for variances up to a limit.

    Attributes:
        size: How many points there are in all.
        angles: Those that are summed, shape (angles,).
        falls: 1 - cos of the angles.
        base: Logarithm of the transform if no one holds the likelier value, shape
            (angles,).
        moves: How it moves with every holder: real parts and, after them, imaginary ones,
            shape (2 angles, bands).
        kernel: The factors of the transform in the sum.
        alias: A bound of the contribution of tails beyond the points.
        points: The tilt and the angles as complex numbers.
        apart: Sizes of these moves, shape (angles, bands).
        waves: Factors of `points` at the centers of the cells of tau, shape (CELLS,
            angles).
        parts_of_waves: `parts_of` the waves and of their slopes, shape (2 CELLS, 2
            angles).
        parts_of_moves: `parts_of` the moves, shape (bands, 2 angles).
        shrink: Factors of the tilt at their lower ends.
        rounding: How far a logarithm of the transform may be off, shape (angles,).
    """

    size: float
    angles: Floats
    falls: Floats
    base: Complexes
    moves: Floats
    kernel: Complexes
    alias: float
    points: Complexes
    apart: Floats
    waves: Complexes
    parts_of_waves: Floats
    parts_of_moves: Floats
    shrink: Floats
    rounding: Floats


def parts_of(rows: Complexes) -> Floats:
    """Returns real numbers whose sum of products with those of z is Re(z times rows)."""
    parts: Floats = np.stack([rows.real, -rows.imag], axis=-1)
    return parts.reshape(len(rows), -1)


class TiltedPopulation:
    """A population at one epsilon, ready to be evaluated at any data.

    Data are how many people of each band hold the value for which a 1 is likelier.

    Args:
        population: The others, and the target user.
        epsilon: At which the divergence is wanted, >= 0.
        upward: Whether rounding may raise the divergence, as for upper bounds, or may
            lower it, as for attacks.
    """

    def __init__(
        self, population: BinaryPopulation, epsilon: float, *, upward: bool = True
    ) -> None:
        self.population = population
        if not epsilon < _MOST_EPSILON:
            raise CertificationError(f"Epsilon {epsilon:g} is too large for a tilt.")
        steep = math.expm1(epsilon)
        # A larger top, and a smaller tilt, only raise the divergence.
        unit = _UNIT if upward else -_UNIT
        self.top = population.gap * (1.0 + unit) - steep * population.stray * (
            1.0 - unit
        )
        # A Python number: what is too large becomes infinite, without a warning.
        self.top = float(self.top + unit * population.gap)
        if self.top <= 0.0:
            raise CertificationError(f"Nothing is left to hide at epsilon {epsilon:g}.")
        self.theta = math.log1p(steep / self.top) * (1.0 - unit)
        if not self.theta < _MOST_TILT:
            raise CertificationError(f"Epsilon {epsilon:g} is too close to the budget.")
        self.log_scale = math.log(self.top + steep)
        up, down = math.expm1(self.theta), math.expm1(-self.theta)
        # Tilted probabilities of a 1 for those who rarely send it, of a 0 for the
        # others.
        self.one = population.ones * math.exp(self.theta) / (1.0 + population.ones * up)
        # Probabilities near 1 are no trouble either.
        left = (1.0 - population.zeros) + population.zeros * math.exp(-self.theta)
        self.zero = population.zeros * math.exp(-self.theta) / left
        low_log = np.log1p(population.ones * up)
        # Of a fall that is small, 1 plus it keeps too few digits for a billion people.
        fall = population.zeros * down
        high_log = np.where(fall > -0.5, np.log1p(np.maximum(fall, -0.5)), np.log(left))
        self.low_exponent = low_log - self.theta * self.one
        self.high_exponent = high_log + self.theta * self.zero
        sizes = np.abs(low_log) + np.abs(high_log) + self.theta * (self.one + self.zero)
        # Data add a second sum over bands to the first.
        self.unit = _UNIT + sum_rounding(2 * population.counts.size + 2)
        self.exponent_error = self.unit * float(population.counts @ sizes)
        self.low_variance = self.one * (1.0 - self.one)
        self.high_variance = self.zero * (1.0 - self.zero)
        self.variance_error = self.unit * float(
            population.counts @ (self.low_variance + self.high_variance)
        )
        self._grids: dict[int, FourierGrid] = {}

    @cached_property
    def rise(self) -> Floats:
        """The growth of the exponent with each holder, shape (bands,)."""
        growth: Floats = self.high_exponent - self.low_exponent
        return growth

    def exponents(self, holders: Floats) -> Floats:
        """Returns K - theta mu of each row of data, shape (data,)."""
        base = float(self.population.counts @ self.low_exponent)
        exponents: Floats = base + holders @ self.rise
        return exponents

    def variances(self, holders: Floats) -> Floats:
        """Returns the variance of the tilted sum, shape (data,)."""
        base = float(self.population.counts @ self.low_variance)
        variances: Floats = base + holders @ (self.high_variance - self.low_variance)
        return np.maximum(variances, 0.0)

    def means(self, holders: Floats) -> Floats:
        """Returns the mean of the tilted sum, shape (data,)."""
        base = float(self.population.counts @ self.one)
        means: Floats = base + holders @ (1.0 - self.zero - self.one)
        return means

    def grid(self, scale: int) -> FourierGrid:
        """Returns the Fourier sum for variances up to 2^scale."""
        if scale not in self._grids:
            self._grids[scale] = self._prepared(2.0**scale)
        return self._grids[scale]

    def _prepared(self, variance: float) -> FourierGrid:
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
        moves = zeros - ones
        kernel = step * np.expm1(-z * length) / np.expm1(-z)
        falls = 2.0 * np.sin(0.5 * angles) ** 2
        alias = 8.0 * math.exp(-_TAIL)
        half = 1.0 / CELLS
        centers = half * (2.0 * np.arange(CELLS) + 1.0)
        waves = np.exp(-np.multiply.outer(centers, z))
        return FourierGrid(
            size,
            angles,
            falls,
            ones @ self.population.counts,
            np.concatenate([moves.real, moves.imag]),
            kernel,
            alias,
            points=z,
            apart=np.abs(moves),
            waves=waves,
            parts_of_waves=parts_of(np.concatenate([waves, z * waves])),
            parts_of_moves=parts_of(moves.T),
            shrink=np.exp(-self.theta * (centers - half)),
            rounding=_UNIT
            * angles
            * float(self.population.counts @ (self.one + self.zero))
            # Of the base, and of moves that are at most as large as both terms.
            + self.unit
            * ((2.0 * np.abs(ones) + np.abs(zeros)) @ self.population.counts),
        )
