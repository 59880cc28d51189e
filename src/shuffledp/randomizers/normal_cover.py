"""The cover of normal noise whose deviations differ from user to user.

Values are scaled to [-1, 1]; s_i is user i's deviation, s the target user's. For every
value, user i's density at y is at least that of the farther end, the normal density of
deviation s_i at |y| + 1. omega is proportional to e^{-h(|y|)} on [-reach, reach], with

    h'(y) = (y + fold) / width^2 up to `joint`, and h'' = 1 / s^2 beyond,

fold = 1 and width = s (that least density of the target user's own deviation), or fold
= 0 and width >= s. For both the ends are the worst pair (docs/theory/covers.md).
gamma_i is a smallest ratio of exponentials of quadratic functions. Messages beyond
`reach` are charged to the target user, and so are uncovered ones.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr

from shuffledp.cover import CellBounds, Cover
from shuffledp.randomizers.normal_divergence import normal_divergence
from shuffledp.types import Floats, Ints

# Rounding of a difference of two tails within a cell, as a part of the cell.
_ROUNDING = 4e-12
# In deviations.
_FARTHEST = 37.0
_CELLS = 400
# Parts of delta that may stay uncovered; the best is taken.
_TAILS = (0.3, 0.01, 1e-3)
# Widths of omega in the target user's deviations, and up to which cell they hold.
_WIDER = tuple(itertools.product((1.2, 1.5, 2.0, 3.0, 5.0), (40, 80, 120, 200, _CELLS)))
# Distinct budgets at which a shape of omega is compared with others.
_SAMPLED = 256
# Edges of the cells of what is uncovered, in deviations.
_OUTER = 0.1 * np.arange(41)


@dataclass(frozen=True)
class NormalBlanket:
    """omega's parameters, in units in which the values are 2 apart."""

    deviation: float
    reach: float
    joint: float
    width: float
    fold: float

    @property
    def center(self) -> float:
        """Center of the normal density that omega follows beyond the joint."""
        return self.joint - (self.joint + self.fold) * self.narrow

    @property
    def narrow(self) -> float:
        """The target user's variance as a part of omega's own."""
        return (self.deviation / self.width) ** 2

    @property
    def log_step(self) -> float:
        """By how much that density is higher than the one within, in logarithms."""
        return -0.5 * ((self.joint + self.fold) / self.width) ** 2 * (1.0 - self.narrow)

    def steepness(self, y: Floats) -> Floats:
        """Returns h'(y) at y >= 0."""
        inside = (np.minimum(y, self.joint) + self.fold) / self.width**2
        beyond = np.maximum(y - self.joint, 0.0) / self.deviation**2
        slope: Floats = inside + beyond
        return slope

    def log_density(self, y: Floats) -> Floats:
        """Returns -h(y) at y >= 0."""
        inside = -0.5 * ((y + self.fold) / self.width) ** 2
        beyond = self.log_step - 0.5 * ((y - self.center) / self.deviation) ** 2
        log: Floats = np.where(y <= self.joint, inside, beyond)
        return log

    def masses(self, edges: Floats) -> Floats:
        """Returns the integrals of e^{-h} between edges >= 0, one of them the joint."""
        inside = self.width * normal_masses((edges + self.fold) / self.width)
        beyond = normal_masses((edges - self.center) / self.deviation)
        beyond *= self.deviation * math.exp(self.log_step)
        masses: Floats = np.where(edges[1:] <= self.joint, inside, beyond)
        return masses * math.sqrt(2.0 * math.pi)

    @property
    def norm(self) -> float:
        """The integral of e^{-h(|y|)} over [-reach, reach]."""
        edges = np.unique([0.0, self.joint, self.reach])
        return 2.0 * float(self.masses(edges).sum())

    def blanket_probability(self, deviations: Floats) -> Floats:
        """Returns gamma for people with these deviations."""
        minima = np.full(deviations.shape, np.inf)
        precise = 1.0 / deviations**2
        joint, own_precision = self.joint, 1.0 / self.deviation**2
        with np.errstate(divide="ignore", invalid="ignore"):
            # Where the slope of the ratio is 0, on either side of the joint.
            inner = (precise - self.fold / self.width**2) / (self.width**-2 - precise)
            outer = (precise + self.center * own_precision) / (own_precision - precise)
        for y, start, end in (
            (np.zeros(deviations.shape), 0.0, 0.0),
            (inner, 0.0, joint),
            (np.full(deviations.shape, joint), joint, joint),
            (outer, joint, self.reach),
            (np.full(deviations.shape, self.reach), self.reach, self.reach),
        ):
            location = np.clip(np.nan_to_num(y, nan=start), start, end)
            ratio = -0.5 * ((location + 1.0) / deviations) ** 2 - self.log_density(
                location
            )
            np.minimum(minima, ratio, out=minima)
        log_norm = math.log(self.norm / math.sqrt(2.0 * math.pi))
        logs = minima + log_norm - np.log(deviations)
        gamma: Floats = np.exp(np.minimum(logs, 1.0)) * (1.0 - _ROUNDING)
        return np.minimum(gamma, 1.0)


def normal_cover(
    deviation: float, deviations: Floats, counts: Ints, *, delta: float
) -> Cover:
    """Returns the cover for one target user, with the best omega of the family.

    Args:
        deviation: Of the target user's noise.
        deviations: Of the noise at each level of the population, shape (levels,).
        counts: People at each level, shape (levels,).
        delta: About the size of the divergence that is asked for, in (0, 1).
    """
    if _FARTHEST * deviation <= 2.0:
        return _cover_hiding_nothing(deviations.size)
    stride = max(1, deviations.size // _SAMPLED)
    weights = np.add.reduceat(counts, np.arange(0, counts.size, stride))

    def spread(shape: NormalBlanket) -> float:
        people = weights @ shape.blanket_probability(deviations[::stride])
        return math.sqrt(_chi_square(shape) / max(float(people), 1e-300))

    reaches = [reach_of_noise(deviation, part * delta) for part in _TAILS]
    # The best form hardly depends on the reach.
    wider = min(_WIDER, key=lambda form: spread(shape_at(reaches[-1], deviation, form)))
    shapes = [
        shape_at(reach, deviation, form)
        for reach, form in itertools.product(reaches, (None, wider))
    ]
    spreads = [spread(shape) for shape in shapes]
    # As if the mean loss were normal, at the epsilon where the narrowest has delta.
    narrowest = np.full(1, min(spreads))
    low, high = 0.0, min(40.0 * narrowest[0], 600.0)
    for _ in range(30):
        middle = 0.5 * (low + high)
        if normal_divergence(narrowest, np.full(1, middle))[0] > delta:
            low = middle
        else:
            high = middle
    divergences = normal_divergence(np.array(spreads), np.full(len(spreads), high))
    for index, shape in enumerate(shapes):
        near_masses, far_masses = uncovered_beyond(shape.reach, shape.deviation)
        divergences[index] += np.maximum(
            near_masses - math.exp(high) * far_masses, 0.0
        ).sum()
    shape = shapes[int(np.argmin(divergences))]
    return cover_with(shape, shape.blanket_probability(deviations))


def shape_at(
    reach: float, deviation: float, form: tuple[float, int] | None = None
) -> NormalBlanket:
    """Returns the shape of the target user's own noise, or one of a width and a joint."""
    edges = np.linspace(0.0, reach, _CELLS + 1).tolist()
    if form is None:
        return NormalBlanket(deviation, edges[-1], edges[-1], deviation, 1.0)
    width, joint = form
    return NormalBlanket(deviation, edges[-1], edges[joint], width * deviation, 0.0)


def _cover_hiding_nothing(num_levels: int) -> Cover:
    """Returns the cover that hides nothing."""
    nothing = np.zeros(1)
    uncovered = np.array([[1.0], [0.0]])
    return Cover(np.zeros(num_levels), nothing + 1.0, nothing, nothing, None, uncovered)


def reach_of_noise(deviation: float, charge: float) -> float:
    """Returns beyond which message the target user's ends differ by so little."""
    # Farther out nothing can be told in double precision.
    low, high = 1.0, _FARTHEST * deviation - 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        log_near, log_far = (
            float(log_ndtr((value - middle) / deviation)) for value in (1.0, -1.0)
        )
        if log_near + math.log(-math.expm1(log_far - log_near)) > math.log(charge):
            low = middle
        else:
            high = middle
    return high


def _chi_square(shape: NormalBlanket) -> float:
    """Returns approximately the integral of (R(1) - R(-1))^2 / omega."""
    y = shape.reach * (np.arange(64) + 0.5) / 64
    logs = -((y - 1.0) ** 2) / shape.deviation**2 - shape.log_density(y)
    squares = np.exp(logs) * np.expm1(-2.0 * y / shape.deviation**2) ** 2
    total = 2.0 * shape.reach * float(squares.mean()) * shape.norm
    return total / (2.0 * math.pi * shape.deviation**2)


def cover_with(shape: NormalBlanket, gamma: Floats) -> Cover:
    """Returns the target user's cells: the right half and its mirror."""
    s, norm = shape.deviation, shape.norm
    edges = np.linspace(0.0, shape.reach, _CELLS + 1)
    masses = shape.masses(edges) / norm
    near_densities, far_densities = (
        normal_masses((edges - end) / s) / masses for end in (1.0, -1.0)
    )
    # Of both densities against omega at the edges.
    scale = norm / (math.sqrt(2.0 * math.pi) * s)
    high_end, low_end = (
        scale * np.exp(-0.5 * ((edges - end) / s) ** 2 - shape.log_density(edges))
        for end in (1.0, -1.0)
    )
    telling = 2.0 * edges / s**2
    slopes = shape.steepness(edges) - (edges - 1.0) / s**2
    with np.errstate(divide="ignore", over="ignore"):
        faster = 2.0 / s**2 / np.expm1(telling)
    near_low, near_high = _cell_extremes(high_end, slopes, edges)
    # R(-1) against omega never rises on this side.
    far_low, far_high = low_end[1:], low_end[:-1]
    gap_low, gap_high = _cell_extremes(
        -np.expm1(-telling) * high_end, slopes + faster, edges
    )
    low, high = np.stack([far_low, near_low]), np.stack([far_high, near_high])
    differences, slack = (
        far_densities - near_densities,
        _ROUNDING * (near_densities + far_densities),
    )
    down, up = 1.0 - _ROUNDING, 1.0 + _ROUNDING
    return Cover(
        blanket_probabilities=gamma,
        masses=np.concatenate([masses, masses]),
        differences=np.concatenate([differences + slack, -differences + slack]),
        bases=np.concatenate([near_densities, far_densities]),
        cells=CellBounds(
            down * np.hstack([low, low[::-1]]),
            up * np.hstack([high, high[::-1]]),
            np.array(
                [
                    np.concatenate([-up * gap_high, down * gap_low]),
                    np.concatenate([-down * gap_low, up * gap_high]),
                ]
            ),
        ),
        uncovered=uncovered_beyond(shape.reach, shape.deviation),
    )


def _cell_extremes(
    values: Floats, slopes: Floats, edges: Floats
) -> tuple[Floats, Floats]:
    """Returns the smallest and largest value in each cell of a log-concave function.

    Args:
        values: At the edges.
        slopes: Of its logarithm, there; the first may be infinite.
        edges: Of the cells.
    """
    low = np.minimum(values[:-1], values[1:])
    high = np.maximum(values[:-1], values[1:])
    # The peak is below the tangent from the right.
    peaked = (slopes[:-1] > 0.0) & (slopes[1:] < 0.0)
    tangent = values[1:] * np.exp(np.maximum(-slopes[1:], 0.0) * np.diff(edges))
    return low, np.where(peaked, tangent, high)


def uncovered_beyond(reach: float, deviation: float) -> Floats:
    """Returns both ends' masses beyond omega's reach, on one side, on the safe side."""
    edges = reach + deviation * _OUTER
    tails = ndtr((1.0 - edges) / deviation)
    near_masses = np.append(tails[:-1] - tails[1:], tails[-1]) * (1.0 + _ROUNDING)
    # The farther end gets its smallest ratio to the nearer one within each cell, so that
    # the divergence of the cells is at least that of all messages.
    parts = np.exp(-2.0 * edges[1:] / deviation**2)
    far_masses = np.append(near_masses[:-1] * parts, 0.0) * (1.0 - _ROUNDING)
    return np.stack([near_masses, far_masses])


def normal_masses(edges: Floats) -> Floats:
    """Returns the probabilities of a unit normal number between edges."""
    # Differences of the nearer tail.
    above, below = ndtr(-edges), ndtr(edges)
    parts: Floats = np.where(
        edges[:-1] > 0.0, above[:-1] - above[1:], below[1:] - below[:-1]
    )
    return parts
