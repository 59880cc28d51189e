"""Which omega of normal noise makes the bound of one target user smallest, about.

Any choice is valid, and none takes long: of each the number of messages and a chi-square
divergence say how wide a normal loss would be. Far out sums are not normal: few messages
far away tell most. There a bound of Chernoff's compares shapes.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from scipy.special import log_ndtr

from shuffledp.randomizers.normal_blanket import (
    CELLS,
    NormalBlanket,
    NormalBlankets,
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

    def messages_of(shapes: Sequence[NormalBlanket]) -> Floats:
        probabilities = NormalBlankets(shapes).blanket_probabilities(
            deviations[::stride]
        )
        people = np.array([weights @ gammas for gammas in probabilities])
        counted: Floats = np.maximum(people, 1e-300)
        return counted

    def spreads_of(shapes: Sequence[NormalBlanket]) -> Floats:
        chi_squares = NormalBlankets(shapes).chi_squares(_POINTS)
        return np.sqrt(chi_squares / messages_of(shapes))

    reaches = [reach_of_noise(deviation, part * delta) for part in _TAILS]
    # The best form hardly depends on the reach.
    forms = [shape_at(reaches[-1], deviation, form) for form in _WIDER]
    wider = _WIDER[int(np.argmin(spreads_of(forms)))]
    shapes = [
        shape_at(reach, deviation, form)
        for reach, form in itertools.product(reaches, (None, wider))
    ]
    spreads = spreads_of(shapes)
    # As if the mean loss were normal, at the epsilon where the narrowest has delta.
    narrowest = spreads.min(keepdims=True)
    low, high = 0.0, min(40.0 * narrowest[0], 600.0)
    for _ in range(30):
        middle = 0.5 * (low + high)
        if normal_divergence(narrowest, np.full(1, middle))[0] > delta:
            low = middle
        else:
            high = middle
    divergences = normal_divergence(spreads, np.full(spreads.size, high))
    for index, shape in enumerate(shapes):
        near_masses, far_masses = uncovered_beyond(shape.reach, shape.deviation)
        divergences[index] += np.maximum(
            near_masses - math.exp(high) * far_masses, 0.0
        ).sum()
    best = shapes[int(np.argmin(divergences))]
    losses = _Losses(best, float(messages_of([best])[0]))
    if losses.matter_far_out(delta):
        rivals = [shape_at(best.reach, deviation, form) for form in (None, *_WIDER)]
        _, usual = least = losses.epsilon_range(delta)
        for rival, messages in zip(rivals, messages_of(rivals).tolist(), strict=True):
            losses = _Losses(rival, messages)
            # Few of them are better than all before: of others one epsilon tells.
            if losses.keep(delta, least[0]):
                least = losses.epsilon_range(delta)
                if least[1] < _BETTER * usual:
                    best = rival
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

    def epsilon_range(self, delta: float) -> tuple[float, float]:
        """Returns two epsilons, between which the divergence is about delta."""
        if not math.isfinite(self._unit):
            return math.inf, math.inf
        low, high = _LEAST_EPSILON, _MOST_EPSILON
        for _ in range(_BISECTIONS):
            middle = math.sqrt(low * high)
            if self.keep(delta, middle):
                high = middle
            else:
                low = middle
        return low, high

    def keep(self, delta: float, epsilon: float) -> bool:
        """Returns whether the divergence at epsilon is at most about delta."""
        if not math.isfinite(self._unit) or math.isinf(epsilon):
            return math.isfinite(self._unit)
        losses = self._first - math.exp(epsilon) * self._second
        moments = np.expm1(np.minimum(_THETAS * losses, 600.0)) @ self._masses
        return bool(self._messages * moments.min() <= math.log(delta))


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
