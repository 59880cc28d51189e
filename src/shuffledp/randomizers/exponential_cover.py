"""The cover of two-sided exponential noise, on the whole line or within the value range.

Values are scaled to [-1, 1]; a user at level eps sends y with density proportional to
e^{-b |y - v|}, b = eps / 2, on the line (Laplace) or on [-1, 1] (Clip-Laplace). For every v
the density is at least that of the farther end, c e^{-b (1 + |y|)}: on the line since
nothing is farther; within the range since -b |y - v| - log(normalizer(v)) grows as v moves
inward. omega is taken proportional to

    e^{-kappa |y|} for |y| <= 1,    e^{-kappa - r (|y| - 1)} for 1 < |y| <= reach,

0 <= kappa <= b_v <= r, b_v being the target user's rate. Then gamma is a smallest ratio of
exponentials, attained at |y| = 0, 1 or reach. For every omega of this shape the ends -1
and 1 are the target user's worst pair: docs/theory/covers.md proves it. With r = b_v the
target user's densities against omega are constant beyond 1, so that each side is one kind
of message. A larger r lets people of larger budgets cover a careful one.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize_scalar

from shuffledp.cover import CellBounds, Cover
from shuffledp.population import Population
from shuffledp.types import Floats

# Distinct budgets at which a shape of omega is compared with others.
_SAMPLED = 256
# Parts of delta that may stay uncovered; the best is taken.
_TAILS = (0.3, 0.01)
# Rates of omega outside, over the target user's. Messages far out show much then: they may
# show so many deviations over how far out a normal loss has delta; gains below a part of
# the deviation do not count.
_STEEPER, _MOST_SHOWN, _STEEPER_COST = (1.1, 1.2, 1.35, 1.5), 15.0, 1.05
# Cells outside, on either side, if the loss varies there.
_OUTER_CELLS = 400
# Rounding of the target user's densities, as a part of their sum.
_ROUNDING = 4e-15


@dataclass(frozen=True)
class ExponentialBlanket:
    """Parameters of omega.

    Attributes:
        kappa: Its rate inside of [-1, 1].
        rate: The target user's.
        reach: Where it ends, maybe infinity.
        steeper: Its rate outside over the target user's, at least 1; 1 if it never ends.
    """

    kappa: float
    rate: float
    reach: float
    steeper: float = 1.0

    @property
    def outside(self) -> float:
        """Its rate outside of [-1, 1]."""
        return self.rate * self.steeper

    @cached_property
    def norm(self) -> float:
        """The integral of the unnormalized omega."""
        inside = _mean_decay(self.kappa)
        if self.reach <= 1.0:
            return 2.0 * inside
        outside = -math.expm1(-self.outside * (self.reach - 1.0)) / self.outside
        return 2.0 * (inside + math.exp(-self.kappa) * outside)

    def log_density(self, y: float) -> float:
        """Returns log omega at a distance y >= 0 from the middle."""
        beyond = max(y - 1.0, 0.0)
        return -self.kappa * min(y, 1.0) - self.outside * beyond - math.log(self.norm)


def blanket_probability(
    rates: Floats, shape: ExponentialBlanket, *, clipped: bool
) -> Floats:
    """Returns gamma for people whose noise has these rates, shape as `rates`."""
    return _probability_below(_log_peak(rates, clipped=clipped), rates, shape)


def _log_peak(rates: Floats, *, clipped: bool) -> Floats:
    # A rate of 0 is the uniform distribution within the range, and nothing on the line.
    with np.errstate(divide="ignore"):
        peak: Floats = np.log(end_density(rates, clipped=clipped))
    return peak


def _probability_below(
    peak: Floats, rates: Floats, shape: ExponentialBlanket
) -> Floats:
    """Returns `blanket_probability`, given the logarithm of the density's peak."""
    gamma: Floats = np.full(rates.shape, np.inf)
    for y in {0.0, 1.0, shape.reach}:
        if math.isfinite(y):
            ratio = peak - rates * (1.0 + y) - shape.log_density(y)
            # What exceeds 1 is cut off below, and need not be computed.
            np.minimum(gamma, np.exp(np.minimum(ratio, 1.0)), out=gamma)
        else:
            # On the way to infinity a steeper density falls below omega altogether.
            gamma[rates > shape.outside] = 0.0
    return np.minimum(gamma * (1.0 - 1e-12), 1.0)


def exponential_cover(
    epsilon: float,
    population: Population,
    *,
    clipped: bool,
    delta: float,
    steeper: bool = False,
) -> Cover:
    """Returns the cover for a target user at this level, with the best omega of the family.

    Args:
        epsilon: The target user's local budget, > 0.
        population: The other users.
        clipped: Clip-Laplace, and not Laplace.
        delta: About the size of the divergence that is asked for, in (0, 1).
        steeper: Whether omega may fall faster outside of [-1, 1] than the target user's.
    """
    shape = best_shape(
        epsilon, population, clipped=clipped, delta=delta, steeper=steeper
    )
    gamma = blanket_probability(population.epsilons / 2.0, shape, clipped=clipped)
    return cover_in_shape(shape, gamma, clipped=clipped)


def best_shape(
    epsilon: float,
    population: Population,
    *,
    clipped: bool,
    delta: float,
    steeper: bool = False,
) -> ExponentialBlanket:
    """Returns the omega with about the smallest bound; arguments as above."""
    rate = epsilon / 2.0
    stride = max(1, population.num_levels // _SAMPLED)
    rates = population.epsilons[::stride] / 2.0
    counts = np.add.reduceat(
        population.counts, np.arange(0, population.num_levels, stride)
    )

    # What all shapes have in common.
    peak, own = _log_peak(rates, clipped=clipped), _Target.of(rate, clipped=clipped)

    def with_reach(
        reach: float, factor: float = 1.0
    ) -> tuple[float, ExponentialBlanket]:
        def spread(kappa: float) -> float:
            shape = ExponentialBlanket(kappa, rate, reach, factor)
            people = counts @ _probability_below(peak, rates, shape)
            return own.divergence(shape) / max(float(people), 1e-300)

        best = minimize_scalar(
            spread, bounds=(0.0, rate), method="bounded", options={"xatol": rate / 500}
        )
        shapes = [
            ExponentialBlanket(kappa, rate, reach, factor)
            for kappa in (float(best.x), rate)
        ]
        return min(((spread(s.kappa), s) for s in shapes), key=lambda pair: pair[0])

    if clipped:
        return with_reach(1.0)[1]
    candidates = [with_reach(math.inf)]
    contrast = -math.expm1(-2.0 * rate)
    for part in _TAILS:
        # What stays uncovered leaves less of delta to the rest.
        cost = 1.0 - math.log1p(-part) / max(-math.log(delta), 1.0)
        farthest = 1.0 + math.log(0.5 / (part * delta)) / rate
        spread, shape = with_reach(farthest)
        candidates.append((spread * cost, shape))
        # At small epsilons the ends show only their difference there.
        farthest = max(farthest + math.log(contrast) / rate, 1.0 + 1.0 / rate)
        # A device that keeps delta by itself needs no cover.
        for factor in _STEEPER if steeper and rate > delta else ():
            spread, shape = with_reach(farthest, factor)
            people = counts @ blanket_probability(rates, shape, clipped=False)
            shown_far_out = float(_outer_cells(shape)[4][1, -1]) * contrast
            shown_far_out *= math.sqrt(-2.0 * math.log(delta) / max(spread, 1e-300))
            if shown_far_out <= _MOST_SHOWN * float(people):
                candidates.append((spread * cost * _STEEPER_COST, shape))
    return min(candidates, key=lambda pair: pair[0])[1]


def cover_in_shape(shape: ExponentialBlanket, gamma: Floats, *, clipped: bool) -> Cover:
    """Returns a target user's cells: the right half, the outer right, and their mirrors.

    Args:
        shape: Of omega; `rate` is the target user's.
        gamma: Blanket weights of the population, shape (levels,).
        clipped: Clip-Laplace, and not Laplace.
    """
    rate, kappa, norm = shape.rate, shape.kappa, shape.norm
    # The density's own peak, against that of a Laplace distribution of the same rate.
    scale = end_density(np.array([rate]), clipped=clipped)[0] / (rate / 2.0)
    # Cells narrow enough for a steep density, too; the error is of their second order.
    edges = np.linspace(0.0, 1.0, 201 + int(min(40.0 * rate, 1500.0)))
    left, right = edges[:-1], edges[1:]
    width, middle = right - left, (left + right) / 2.0
    masses = np.exp(-kappa * left) * width * _mean_decay_of(kappa * width) / norm
    far = 0.5 * np.exp(-rate * (1.0 + left)) * -np.expm1(-rate * width)
    near = 0.5 * np.exp(-rate * (1.0 - right)) * -np.expm1(-rate * width)
    # far - near, without cancellation.
    less = -np.exp(-rate + rate * middle) * -np.expm1(-2.0 * rate * middle)
    less *= np.sinh(rate * width / 2.0)
    ends = np.exp(
        np.array([-rate * (1.0 + edges), -rate * (1.0 - edges)]) + kappa * edges
    ) * (rate / 2.0 * norm)
    low = np.minimum(ends[:, :-1], ends[:, 1:])
    high = np.maximum(ends[:, :-1], ends[:, 1:])
    uncovered = None
    if shape.reach > 1.0:
        outer = _outer_cells(shape)
        masses, near, far = (
            np.append(inner, outside)
            for inner, outside in zip((masses, near, far), outer[:3], strict=True)
        )
        less = np.append(less, math.expm1(-2.0 * rate) * outer[1])
        low, high = np.hstack([low, outer[3]]), np.hstack([high, outer[4]])
        if math.isfinite(shape.reach):
            nearer = 0.5 * math.exp(-rate * (shape.reach - 1.0))
            farther = nearer * math.exp(-2.0 * rate)
            uncovered = np.array([[nearer, farther], [farther, nearer]])
    base, other, less = (
        scale * near / masses,
        scale * far / masses,
        scale * less / masses,
    )
    # On the mirrored half x and x' change places. Differences are rounded up.
    rounding = _ROUNDING + 6e-16 * rate
    if shape.steeper > 1.0:
        # Exponents are large far out.
        rounding += 6e-16 * shape.outside * shape.reach
    slack = rounding * (base + other)
    return Cover(
        blanket_probabilities=gamma,
        masses=np.concatenate([masses, masses]),
        differences=np.concatenate([less + slack, -less + slack]),
        bases=np.concatenate([base, other]),
        cells=CellBounds(
            scale * (1.0 - rounding) * np.hstack([low, low[::-1]]),
            scale * (1.0 + rounding) * np.hstack([high, high[::-1]]),
        ),
        uncovered=uncovered,
    )


def _outer_cells(shape: ExponentialBlanket) -> tuple[Floats, ...]:
    """Returns omega's masses in cells beyond 1, the target user's, and density bounds.

    Returns:
        omega's masses, and the target user's around the nearer and the farther end,
        shape (cells,); the smallest and the largest density against omega around the
        farther and the nearer end, shape (2, cells).
    """
    rate, beyond = shape.rate, shape.reach - 1.0
    scale = math.exp(-shape.kappa) / shape.norm
    if shape.steeper == 1.0:
        tail_share = np.array([-math.expm1(-rate * beyond)])
        masses, near = scale * tail_share / rate, 0.5 * tail_share
        flat = np.array([near * math.exp(-2.0 * rate), near]) / masses
        return masses, near, near * math.exp(-2.0 * rate), flat, flat
    edges = np.linspace(0.0, beyond, _OUTER_CELLS + 1)
    left, width = edges[:-1], np.diff(edges)
    masses = scale * np.exp(-shape.outside * left) * width
    masses *= _mean_decay_of(shape.outside * width)
    near = 0.5 * np.exp(-rate * left) * -np.expm1(-rate * width)
    # The density against omega grows outward.
    ratio = 0.5 * rate / scale * np.exp((shape.outside - rate) * edges)
    ratios = np.stack([ratio * math.exp(-2.0 * rate), ratio])
    return masses, near, near * math.exp(-2.0 * rate), ratios[:, :-1], ratios[:, 1:]


def divergence(shape: ExponentialBlanket, *, clipped: bool) -> float:
    """Computes approximately the integral of (R(-1) - R(1))^2 / omega."""
    return _Target.of(shape.rate, clipped=clipped).divergence(shape)


@dataclass(frozen=True, eq=False)
class _Target:
    """A target user's densities, whatever the shape of omega.

    Attributes:
        rate: Of the noise.
        peak: The density at its own location.
        middles: Distances from the middle, shape (64,).
        squares: Squared differences of the densities there, without their peak.
    """

    rate: float
    peak: float
    middles: Floats
    squares: Floats

    @staticmethod
    def of(rate: float, *, clipped: bool) -> "_Target":
        """Returns the target user with this rate."""
        y = (np.arange(64) + 0.5) / 64
        # Densities e^{-rate} 2 sinh(rate y), squared, against e^{-kappa y}.
        difference = np.exp(rate * (y - 1.0)) * -np.expm1(-2.0 * rate * y)
        peak = end_density(np.array([rate]), clipped=clipped)[0]
        return _Target(rate, float(peak), y, difference**2)

    def divergence(self, shape: ExponentialBlanket) -> float:
        """Computes about the integral of (R(-1) - R(1))^2 / omega."""
        weights = np.exp(shape.kappa * self.middles)
        total = float((self.squares * weights).sum()) / weights.size
        if shape.reach > 1.0:
            falls = 2.0 * self.rate - shape.outside
            edge = math.expm1(-2.0 * self.rate) ** 2 * math.exp(shape.kappa) / falls
            total += edge * -math.expm1(-falls * (shape.reach - 1.0))
        return 2.0 * total * self.peak**2 * shape.norm


def end_density(rates: Floats, *, clipped: bool) -> Floats:
    """Returns the density at its own location, an end of the range, shape as `rates`."""
    if not clipped:
        return rates / 2.0
    steep = np.maximum(rates, 1e-300)
    peak: Floats = np.where(rates > 0.0, steep / -np.expm1(-2.0 * steep), 0.5)
    return peak


def _mean_decay(rate: float) -> float:
    """Returns the mean of e^{-rate t} over [0, 1]."""
    return 1.0 - rate / 2.0 if rate < 1e-8 else -math.expm1(-rate) / rate


def _mean_decay_of(rates: Floats) -> Floats:
    small = rates < 1e-8
    safe = np.where(small, 1.0, rates)
    mean: Floats = np.where(small, 1.0 - rates / 2.0, -np.expm1(-safe) / safe)
    return mean
