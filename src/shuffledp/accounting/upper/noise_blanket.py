"""The blanket bound for noise of several levels, with a blanket of any falling shape.

The covers of randomizers have an omega of few parameters, whose worst pair of values is
the two ends. Here omega is one number in each of some hundred cells of the messages'
sizes, and falls from one to the next: people who spread their messages differently give
more cover. Other pairs than the ends may show a little more then, which noise_loss.py adds
(docs/theory/covers.md, "A blanket in steps").
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.failed_trials import FailedTrials
from shuffledp.accounting.upper.atoms import Atoms, bounded_below
from shuffledp.accounting.upper.blanket import UpperBound
from shuffledp.accounting.upper.blanket_population import BlanketPopulation
from shuffledp.accounting.upper.contour import proven_delta
from shuffledp.accounting.upper.falling_blanket import falling_blanket
from shuffledp.accounting.upper.few_at_saddle import few_at_saddle
from shuffledp.accounting.upper.integrals.contour_integral import (
    NEGLIGIBLE,
    integral_ends,
)
from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.accounting.upper.noise_loss import noise_loss
from shuffledp.accounting.upper.saddle_estimate import saddle_estimate
from shuffledp.cover import NoiseDensities, shown_by
from shuffledp.errors import CertificationError
from shuffledp.population import Population
from shuffledp.types import Floats, Ints

# From this many levels on gamma is computed at the ends of groups of levels, about half of
# them by rank and half by the logarithm.
_MOST_GROUPS = 4_096
# People of so many levels, or a few more, decide on the shape.
_SAMPLED = 128
# Searches for a shape, each about the epsilon of the one before, which is found by so many
# bisections.
_SEARCHES, _BISECTIONS = 2, 12
# Of gamma, besides that of the densities.
_ROUNDING = 1e-12
# Fewer blanket messages than this hide little.
_FEWEST_MESSAGES = 30.0
# One that proves delta at so many times that epsilon only is not improved.
_FAR_ABOVE = 2.0
_SMALLEST = 1e-306


@dataclass(frozen=True, eq=False)
class NoiseBlanketBound:
    """The bound for one target user, ready to be evaluated at any epsilon.

    Attributes:
        noise: The target user's densities.
        density: omega in each cell, falling, shape (cells,).
        probabilities: Probability of a blanket message, or less, in each group, shape
            (groups,).
        counts: Other people in each group, shape (groups,).
        is_composed: Whether the bound is composed with others, so that fewer points do.
    """

    noise: NoiseDensities
    density: Floats
    probabilities: Floats
    counts: Floats
    is_composed: bool = False

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0.

        Raises:
            CertificationError: If nothing is known there.
        """
        return self._computed(epsilon)

    @functools.cached_property
    def _log_g(self) -> LogProduct:
        return LogProduct(self.probabilities, self.counts)

    @functools.cached_property
    def _long_integrals(self) -> FailedTrials:
        return FailedTrials()

    @functools.cached_property
    def _computed(self) -> Callable[[float], float]:
        return functools.cache(self._delta)

    def _delta(self, epsilon: float) -> float:
        upper, _ = self._ends(epsilon, split=True)
        total = upper + shown_by(self.noise.uncovered, epsilon)
        return proven_delta(total, epsilon)

    def estimate(self, epsilon: float) -> float:
        """Returns about the bound at `epsilon`, far quicker; NaN if nothing is known."""
        with np.errstate(all="ignore"):
            try:
                loss, unit = self._loss(epsilon, split=False)
                about = saddle_estimate(loss, self.probabilities, self.counts)
            except (CertificationError, OverflowError, ValueError, ZeroDivisionError):
                return math.nan
        return min(unit * about.size + shown_by(self.noise.uncovered, epsilon), 1.0)

    def slack(self, epsilon: float) -> float:
        """Returns which part of the bound at `epsilon` is numerical caution."""
        _, lower = self._ends(epsilon, split=False)
        exact = lower + shown_by(self.noise.uncovered, epsilon)
        part = 1.0 - exact / self.delta(epsilon)
        return min(max(part, 0.0), 1.0) if math.isfinite(part) else 1.0

    def _ends(self, epsilon: float, *, split: bool) -> tuple[float, float]:
        loss, unit = self._loss(epsilon, split=split)
        if split:
            # Sums of many losses are as smooth as if each had fewer values.
            loss = few_at_saddle(loss, self._log_g)
        return integral_ends(
            loss,
            unit,
            self._log_g,
            epsilon,
            coarse=True,
            long=self._long_integrals if self.is_composed else None,
            negligible=NEGLIGIBLE * shown_by(self.noise.uncovered, epsilon),
        )

    def _loss(self, epsilon: float, *, split: bool) -> tuple[Atoms, float]:
        """Returns the target user's loss, and its unit."""
        loss, unit = noise_loss(self.noise, self.density, epsilon, split=split)
        return bounded_below(loss, float(self.counts.sum())), unit


def noise_blanket(
    noise: NoiseDensities,
    population: Population,
    target_user: int,
    usual: UpperBound,
    *,
    delta: float,
    absent: int,
    tail: float,
    is_composed: bool,
) -> NoiseBlanketBound | None:
    """Returns the bound with about the best blanket, or None where none is found.

    Args:
        noise: The target user's densities.
        population: Users among whom they hide, themselves included.
        target_user: Position of the target user's level.
        usual: Another bound for them, near whose epsilon the blanket is to be good.
        delta: About the size of the divergence that is asked for.
        absent: How many of the others may be absent or collude.
        tail: Probability that may be dropped.
        is_composed: Whether the bound is composed with others.
    """
    level = float(population.epsilons[target_user])
    starts = _starts(population.epsilons)
    ends = np.append(starts[1:], population.num_levels) - 1
    counts = np.add.reduceat(population.counts, starts)
    group = int(np.searchsorted(starts, target_user, side="right")) - 1
    least, last = (
        _normal_numbers(noise.least(population.epsilons[part]))
        for part in (starts, ends)
    )
    sample = _sample(starts.size)
    people = np.add.reduceat(counts, sample).astype(np.float64)
    own = noise.least(np.array([level]))[0]
    bound: NoiseBlanketBound | None = None
    epsilon = math.inf
    for _ in range(_SEARCHES):
        before, epsilon = epsilon, _epsilon_at(bound or usual, level, delta)
        # A blanket is good near the epsilon that it is made for, or not at all.
        if epsilon > _FAR_ABOVE * before:
            return bound
        density = falling_blanket(
            noise,
            least[sample],
            people,
            own,
            epsilon=epsilon,
            fewest=_FEWEST_MESSAGES,
        )
        if density is None:
            return bound
        # Between two levels nobody gives less than either of the two.
        ratios = (part / density for part in (least, last))
        gammas = np.minimum(*(ratio.min(axis=1) for ratio in ratios))
        gammas = np.minimum(gammas, 1.0) * (1.0 - noise.rounding) * (1.0 - _ROUNDING)
        others = BlanketPopulation(gammas, counts, [group], absent=absent, tail=tail)
        probabilities, numbers = others.groups(group)
        if float(probabilities @ numbers) < _FEWEST_MESSAGES:
            return bound
        candidate = NoiseBlanketBound(
            noise, density, probabilities, numbers.astype(np.float64), is_composed
        )
        # A search may end at another blanket than the one before it, and a worse one.
        if bound is None or not bound.estimate(epsilon) <= candidate.estimate(epsilon):
            bound = candidate
    return bound


def _normal_numbers(densities: Floats) -> Floats:
    """Returns densities, 0 where doubles have lost digits."""
    return np.where(densities < _SMALLEST, 0.0, densities)


def _starts(epsilons: Floats) -> Ints:
    """Returns where groups of levels start: each level by itself, if they are not many."""
    if epsilons.size <= _MOST_GROUPS:
        return np.arange(epsilons.size)
    half = _MOST_GROUPS // 2
    by_rank = np.rint(np.linspace(0, epsilons.size - 1, half)).astype(np.int64)
    spaced = np.geomspace(max(epsilons[0], 1e-6 * epsilons[-1]), epsilons[-1], half)
    by_epsilon = np.minimum(np.searchsorted(epsilons, spaced), epsilons.size - 1)
    return np.unique(np.concatenate([[0], by_rank, by_epsilon]))


def _sample(num_groups: int) -> Ints:
    """Returns where groups that are taken together start, the smaller the first are."""
    if num_groups <= _SAMPLED:
        return np.arange(num_groups)
    # Whoever has most noise gives a careful person most cover far out.
    by_rank = np.linspace(0, num_groups - 1, _SAMPLED // 2)
    first = np.geomspace(1, num_groups - 1, _SAMPLED // 2)
    sample: Ints = np.unique(np.rint(np.append(by_rank, first))).astype(np.int64)
    return sample


def _epsilon_at(bound: UpperBound, level: float, delta: float) -> float:
    """Returns about the epsilon at which the bound is delta, at most the level."""
    low, high = 1e-6 * level, level
    for _ in range(_BISECTIONS):
        middle = math.sqrt(low * high)
        # Where nothing is known, NaN, epsilon is too small.
        if bound.estimate(middle) <= delta:
            high = middle
        else:
            low = middle
    return high
