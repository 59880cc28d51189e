"""The cover of Clip-Laplace whose messages from the middle are replaced by dummies.

Values and messages are scaled to [-1, 1]; b = eps / 2, f_v is the Clip-Laplace density, t
the threshold, p_v = P_v(|y| < t). A person who holds v sends z with density

    R_v(z) = f_v(z) 1[|z| >= t] + p_v f_0(z).

*gamma.* Both terms are smallest, for z >= 0, at v = -1. f_v(z) is smallest at the farther
end (docs/theory/covers.md). With K = (e^{-b t} - e^{-b}) / b, p_v = 1 - 2 K cosh(b v) /
N(v) for |v| <= t, and N falls as |v| grows, so that p_v falls, too; for |v| >= t p_v is
proportional to e^{-b |v|} / N(v), the density on the far half, which falls. So the infimum
over values is e^{-b |z|} times a constant on either side of t, and attained.

*omega* is proportional to e^{-kappa |z|} in the middle and to e^{s - kappa' |z|} beyond t.
gamma is a smallest ratio of exponentials, attained at |z| = 0, t from either side, or 1.

*Worst pair.* Any pair is dominated by the one made from all values (dominating_pair.py).
Devices move values to one of the points of a public grid, so that every value's density
is a mixture of two points' densities: the maximum is over 4097 points, and half of them
by symmetry. All are tried. Within a cell densities are replaced by bounds, with the
probabilities that keep their mean: this only adds to a convex function's expectation.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from shuffledp.cover import Cover
from shuffledp.population import Population
from shuffledp.randomizers.clipped_probabilities import noise_probabilities, normalizers
from shuffledp.randomizers.dominating_pair import DominatingPair, dominating_pair
from shuffledp.randomizers.grid import STEPS
from shuffledp.types import Floats

_HALF = STEPS // 2
# Distinct budgets at which a shape of omega is compared with others.
_SAMPLED = 256
_NODES = 100
_SMALLEST = 1e-12
# An omega steeper than this would have masses too small for doubles.
_STEEPEST = 40.0
# Rounding of the densities, as a part of them.
_ROUNDING = 4e-14


@dataclass(frozen=True)
class TwoPieceBlanket:
    """omega's parameters: rates inside and outside, log of the step at the threshold."""

    inner: float
    outer: float
    step: float
    threshold: float

    @property
    def norm(self) -> float:
        """The integral of the unnormalized omega."""
        edges = np.array([0.0, self.threshold, 1.0])
        return 2.0 * float(self.integrals(edges).sum())

    def logs(self, away: Floats, *, outside: bool) -> Floats:
        """Returns log omega without its norm, at distances from the middle."""
        if not outside:
            return -self.inner * away
        return self.step - self.outer * away

    def integrals(self, edges: Floats) -> Floats:
        """Returns the integrals between distances; these include the threshold."""
        left, width = edges[:-1], np.diff(edges)
        outside = left >= self.threshold
        rate = np.where(outside, self.outer, self.inner)
        logs = np.where(outside, self.step, 0.0) - rate * left
        masses: Floats = np.exp(logs) * width * _mean_decay(rate * width)
        return masses


def middle_probabilities(rates: Floats, values: Floats, threshold: float) -> Floats:
    """Returns p_v, the probability that a Clip-Laplace message is within the threshold."""
    distances = np.abs(values)
    inside = np.minimum(distances, threshold)
    # Both sides of a value inside; the far side only of one that is outside.
    area = -np.expm1(-rates * (threshold + inside))
    area = area - np.expm1(-rates * (threshold - inside))
    area = area * np.exp(-rates * (distances - inside))
    probabilities: Floats = area / rates / normalizers(rates, values)
    return probabilities


def blanket_probability(rates: Floats, shape: TwoPieceBlanket) -> Floats:
    """Returns gamma for people whose noise has these rates, shape as `rates`."""
    rates = np.maximum(rates, _SMALLEST)
    edge, middle = np.ones(rates.shape), np.zeros(rates.shape)
    dummy_density = middle_probabilities(rates, edge, shape.threshold) / normalizers(
        rates, middle
    )
    kept_density = np.exp(-rates) / normalizers(rates, edge)
    gamma = np.full(rates.shape, np.inf)
    for minimum, outside in (
        (dummy_density, False),
        (dummy_density + kept_density, True),
    ):
        ends = (shape.threshold, 1.0) if outside else (0.0, shape.threshold)
        for away in ends:
            (log,) = shape.logs(np.array([away]), outside=outside)
            np.minimum(gamma, minimum * np.exp(-rates * away - log), out=gamma)
    probabilities: Floats = np.minimum(gamma * shape.norm * (1.0 - 1e-11), 1.0)
    return probabilities


def sparsified_cover(epsilon: float, population: Population, threshold: int) -> Cover:
    """Returns the cover for a target user at this level, with the best omega of the family.

    Args:
        epsilon: The target user's local budget.
        population: The other users.
        threshold: Distance from the middle, in cells, from which messages are sent.
    """
    rate = max(epsilon / 2.0, _SMALLEST)
    shape = best_shape(rate, population, threshold / _HALF)
    points = np.arange(_HALF + 1) / _HALF
    cells = 40 + int(min(40.0 * rate, 200.0))
    pair = worst_pair(rate, shape, points, cells=cells, nodes=_NODES)
    # The difference is rounded up, which only raises the loss.
    slack = 4e-16 * (pair.falling + pair.rising)
    return Cover(
        blanket_probabilities=blanket_probability(population.epsilons / 2.0, shape),
        masses=pair.masses,
        differences=pair.falling - pair.rising + slack,
        bases=pair.rising,
    )


def best_shape(
    rate: float, population: Population, threshold: float
) -> TwoPieceBlanket:
    """Returns the shape with the least mean square of the loss per blanket message.

    Args:
        rate: The target user's b.
        population: The other users.
        threshold: t, a whole number of cells, in units of half the range.
    """
    stride = max(1, population.num_levels // _SAMPLED)
    rates = population.epsilons[::stride] / 2.0
    counts = np.add.reduceat(
        population.counts, np.arange(0, population.num_levels, stride)
    )
    # Of all values these matter most.
    points = np.array([0.0, threshold, 1.0])

    def shape_of(parameters: Floats) -> TwoPieceBlanket:
        inner, outer, step = np.clip(parameters, -2.0, 3.0).tolist()
        unit = min(rate, _STEEPEST)
        return TwoPieceBlanket(unit * inner, unit * outer, step, threshold)

    def log_cost(parameters: Floats) -> float:
        shape = shape_of(parameters)
        people = float(counts @ blanket_probability(rates, shape))
        spread = worst_pair(rate, shape, points, cells=32, nodes=60).spread
        return math.log(max(spread, 1e-300)) - math.log(max(people, 1e-300))

    # What the target user's own dummies and kept messages are like.
    start = np.array([1.0, 1.0, 0.8])
    optimum = minimize(
        log_cost,
        start,
        method="Nelder-Mead",
        options={"maxfev": 200, "xatol": 3e-3, "fatol": 1e-4},
    )
    return shape_of(optimum.x)


def worst_pair(
    rate: float, shape: TwoPieceBlanket, points: Floats, *, cells: int, nodes: int
) -> DominatingPair:
    """Returns the pair that dominates all pairs of these values and their mirror images.

    Args:
        rate: b.
        shape: omega's.
        points: Values in [0, 1].
        cells: Largest number of cells from the threshold to 1; half as many below.
        nodes: Of `dominating_pair`.
    """
    edges = _cell_edges(shape.threshold, cells)
    left, right = edges[:-1], edges[1:]
    masses = shape.integrals(edges) / shape.norm
    outside = left >= shape.threshold
    omega = np.where(
        outside,
        [shape.logs(at, outside=True) for at in (left, right)],
        [shape.logs(at, outside=False) for at in (left, right)],
    )
    omega = np.exp(omega) / shape.norm
    dummies = _against(rate, np.zeros(1), left, right, masses, omega)
    probabilities = middle_probabilities(np.array(rate), points, shape.threshold)[
        :, None
    ]
    outer = (left[outside], right[outside], masses[outside], omega[:, outside])
    near, far = (_against(rate, side * points, *outer) for side in (1.0, -1.0))
    # The middle, where both sides are alike, and the two outer parts.
    mean, low, high = (
        np.hstack(
            [
                probabilities * dummy[:, ~outside],
                probabilities * dummy[:, outside] + right_side,
                probabilities * dummy[:, outside] + left_side,
            ]
        )
        for dummy, right_side, left_side in zip(dummies, near, far, strict=True)
    )
    weights = np.concatenate([2.0 * masses[~outside], masses[outside], masses[outside]])
    low = np.minimum(low * (1.0 - _ROUNDING), mean)
    high = np.maximum(high * (1.0 + _ROUNDING), mean)
    share = (mean - low) / np.maximum(high - low, 1e-300)
    return dominating_pair(
        np.hstack([low, high]),
        np.hstack([weights * (1.0 - share), weights * share]),
        nodes=nodes,
    )


def _cell_edges(threshold: float, cells: int) -> Floats:
    """Returns cells between the middle and 1, more of them beyond the threshold."""
    inside, outside = round(threshold * _HALF), round((1.0 - threshold) * _HALF)
    parts = [
        np.linspace(0, inside, min(cells // 2, inside) + 1),
        inside + np.linspace(0, outside, min(cells, outside) + 1),
    ]
    rounded: Floats = np.unique(np.rint(np.concatenate(parts))) / _HALF
    return rounded


def _against(
    rate: float,
    values: Floats,
    left: Floats,
    right: Floats,
    masses: Floats,
    omega: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Returns Clip-Laplace densities against omega in each cell, shape (values, cells).

    Args:
        rate: b.
        values: v, shape (values,).
        left: Where cells begin, shape (cells,).
        right: Where they end, shape (cells,).
        masses: omega's mass of each cell, shape (cells,).
        omega: omega's density where cells begin and end, shape (2, cells).

    Returns:
        Their means, and bounds from below and above.
    """
    v = values[:, None]
    norm = normalizers(np.array(rate), v)
    ends = np.exp(-rate * np.abs(np.array([left - v, right - v]))) / norm
    ratios = ends / omega[:, None, :]
    low, high = np.minimum(*ratios), np.maximum(*ratios)
    # A cell around the value: the peak is within.
    inside = (left < v) & (v < right)
    low = np.where(inside, np.minimum(*ends) / np.maximum(*omega), low)
    high = np.where(inside, 1.0 / norm / np.minimum(*omega), high)
    return noise_probabilities(np.array(rate), v, left, right) / masses, low, high


def _mean_decay(rates: Floats) -> Floats:
    """Returns the mean of e^{-rate t} over [0, 1]."""
    small = np.abs(rates) < 1e-8
    safe = np.where(small, 1.0, rates)
    mean: Floats = np.where(small, 1.0 - rates / 2.0, -np.expm1(-safe) / safe)
    return mean
