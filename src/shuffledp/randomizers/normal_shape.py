"""Which omega of normal noise makes the bound of one target user smallest, about.

Any choice is valid, and none takes long: of each the number of messages and a chi-square
divergence say how wide a normal loss would be. Far out sums are not normal: few messages
far away tell most. There a bound of Chernoff's compares shapes.
"""

import functools
import itertools
import math

import numpy as np
from scipy.special import log_ndtr

from shuffledp.randomizers.normal_blanket import (
    CELLS,
    NormalBlanket,
    shape_at,
    uncovered_beyond,
)
from shuffledp.randomizers.normal_divergence import normal_divergence
from shuffledp.types import Floats, Ints

# In deviations: farther out nothing can be told in double precision.
FARTHEST = 37.0
# Parts of delta that may stay uncovered; the best is taken.
_TAILS = (0.3, 0.01, 1e-3)
# Widths of omega in the target user's deviations, and up to which cell they hold.
_WIDER = tuple(itertools.product((1.2, 1.5, 2.0, 3.0, 5.0), (40, 80, 120, 200, CELLS)))
# Distinct budgets at which a shape of omega is compared with others.
_SAMPLED = 256
# Points at which losses are looked at on either side.
_POINTS = 64
# Losses far out matter from this part of what the variance makes of epsilon, by Bernstein's
# bound; another shape has to promise so much smaller an epsilon.
_MUCH, _BETTER = 0.25, 0.98
# Parameters of Chernoff's bound, in units of the largest loss, and where epsilons are found
# by so many bisections.
_THETAS = np.exp(np.linspace(-12.0, 7.0, 96))[:, None]
_LEAST_EPSILON, _MOST_EPSILON, _BISECTIONS = 1e-9, 30.0, 16


def best_shape(
    deviation: float, deviations: Floats, counts: Ints, *, delta: float
) -> NormalBlanket:
    """Returns about the best omega for one target user.

    Args:
        deviation: Of the target user's noise.
        deviations: Of the noise at each level of the population, shape (levels,).
        counts: People at each level, shape (levels,).
        delta: About the size of the divergence that is asked for, in (0, 1).
    """
    stride = max(1, deviations.size // _SAMPLED)
    weights = np.add.reduceat(counts, np.arange(0, counts.size, stride))

    @functools.cache
    def messages(shape: NormalBlanket) -> float:
        people = weights @ shape.blanket_probability(deviations[::stride])
        return max(float(people), 1e-300)

    def spread(shape: NormalBlanket) -> float:
        return math.sqrt(_chi_square(shape) / messages(shape))

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
    best = shapes[int(np.argmin(divergences))]
    losses = _Losses(best, messages(best))
    if losses.matter_far_out(delta):
        rivals = [shape_at(best.reach, deviation, form) for form in (None, *_WIDER)]
        epsilons = [_Losses(each, messages(each)).epsilon_at(delta) for each in rivals]
        if min(epsilons) < _BETTER * losses.epsilon_at(delta):
            return rivals[int(np.argmin(epsilons))]
    return best


class _Losses:
    """Losses of messages on a coarse grid, under one omega, and how many are sent."""

    def __init__(self, shape: NormalBlanket, messages: float) -> None:
        y = shape.reach * (np.arange(_POINTS) + 0.5) / _POINTS
        logs = shape.log_density(y)
        scale = shape.norm / (math.sqrt(2.0 * math.pi) * shape.deviation)
        # Where nearly nothing of omega is left, densities are more than any double.
        with np.errstate(over="ignore"):
            near, far = (
                scale * np.exp(-0.5 * ((y - end) / shape.deviation) ** 2 - logs)
                for end in (1.0, -1.0)
            )
        masses = np.exp(logs)
        masses /= 2.0 * masses.sum()
        self._masses = np.concatenate([masses, masses])
        self._unit = float(near.max())
        self._first = np.concatenate([near, far]) / self._unit
        self._second = np.concatenate([far, near]) / self._unit
        self._messages = messages

    def matter_far_out(self, delta: float) -> bool:
        """Returns whether the largest loss matters beside the variance, at this delta."""
        if not math.isfinite(self._unit):
            return True
        changes, depth = self._first - self._second, -math.log(delta)
        variance = float(self._masses @ changes**2) / self._messages
        tail = float(changes.max()) / self._messages * depth / 3.0
        return tail > _MUCH * math.sqrt(2.0 * depth * variance)

    def epsilon_at(self, delta: float) -> float:
        """Returns about the epsilon at which the divergence is delta."""
        if not math.isfinite(self._unit):
            return math.inf
        log_delta = math.log(delta)
        low, high = _LEAST_EPSILON, _MOST_EPSILON
        for _ in range(_BISECTIONS):
            middle = math.sqrt(low * high)
            losses = self._first - math.exp(middle) * self._second
            moments = np.expm1(np.minimum(_THETAS * losses, 600.0)) @ self._masses
            if self._messages * moments.min() > log_delta:
                low = middle
            else:
                high = middle
        return high


def reach_of_noise(deviation: float, charge: float) -> float:
    """Returns beyond which message the target user's ends differ by so little."""
    low, high = 1.0, FARTHEST * deviation - 1.0
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
    y = shape.reach * (np.arange(_POINTS) + 0.5) / _POINTS
    logs = -((y - 1.0) ** 2) / shape.deviation**2 - shape.log_density(y)
    squares = np.exp(logs) * np.expm1(-2.0 * y / shape.deviation**2) ** 2
    total = 2.0 * shape.reach * float(squares.mean()) * shape.norm
    return total / (2.0 * math.pi * shape.deviation**2)
