"""The certified upper bound from the blankets of all users together, where they differ.

Users of similar levels form groups, each with a blanket of its own. The numbers of
blanket messages are replaced by smaller, Poisson ones (poisson_counts.py). With Lambda the
density of all these messages together, the divergence is at most

    E[(sum of L(Y) over all)_+] / P(no number truncated) + P(a number is at its limit),

L = (R(x) - e^epsilon R(x')) / Lambda (docs/theory/differing-blankets.md). That is the
privacy blanket Lambda with a Poisson number of messages, which contour.py integrates.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.upper.atoms import fewer_atoms
from shuffledp.accounting.upper.blanket import UpperBound
from shuffledp.accounting.upper.contour import integral_ends
from shuffledp.accounting.upper.noise_loss import noise_loss
from shuffledp.accounting.upper.poisson_counts import PoissonCounts, poisson_counts
from shuffledp.accounting.upper.saddle_estimate import saddle_estimate
from shuffledp.cover import NoiseDensities, shown_by
from shuffledp.errors import CertificationError
from shuffledp.types import Floats, Ints

# Numbers of groups that are tried, by people and by the logarithm of the level.
_GROUPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
# People in the first group where sizes double from there.
_FIRST = (25.0, 50.0, 100.0, 200.0)
# Groups with a loss so much wider than that of others are not looked at.
_WIDER = 1.2
# Part of delta with which a number may be at its limit.
_FAILURE = 1e-3
# Coins of one kind in place of a Poisson number: so many times as many as its mean.
_COINS = 1_000.0
# Fewer messages than this hide little.
_FEWEST = 30.0
# Blankets that differ are integrated where they promise so much less.
_LESS = 0.99
_SMALLEST = 1e-306


@dataclass(frozen=True, eq=False)
class DifferingBlanketsBound:
    """The bound for one target user, ready to be evaluated at any epsilon.

    Attributes:
        noise: The target user's densities.
        density: Lambda, or less, in each cell, shape (cells,).
        counts: The Poisson numbers of messages.
        is_composed: Whether the bound is composed with others, so that fewer points do.
    """

    noise: NoiseDensities
    density: Floats
    counts: PoissonCounts
    is_composed: bool = False

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        return self._computed(epsilon)

    @functools.cached_property
    def _computed(self) -> Callable[[float], float]:
        return functools.cache(self._delta)

    def _delta(self, epsilon: float) -> float:
        upper, _ = self._ends(epsilon, split=True)
        total = upper + shown_by(self.noise.uncovered, epsilon)
        # Downward by what the quotient may lose.
        total = total / (1.0 - self.counts.beyond) * (1.0 + 1e-15)
        total += self.counts.at_limit
        if not math.isfinite(total):
            raise CertificationError(
                f"No proven bound at epsilon {epsilon:g}: the numbers are too extreme."
            )
        return min(max(total, _SMALLEST), 1.0)

    def estimate(self, epsilon: float) -> float:
        """Returns about the bound at `epsilon`, far quicker; NaN if nothing is known."""
        with np.errstate(all="ignore"):
            try:
                loss, unit = noise_loss(self.noise, self.density, epsilon)
                size = unit * saddle_estimate(loss, *self._coins)
            except (CertificationError, OverflowError, ValueError, ZeroDivisionError):
                return math.nan
        shown = shown_by(self.noise.uncovered, epsilon)
        return min(size + shown + self.counts.at_limit, 1.0)

    def slack(self, epsilon: float) -> float:
        """Returns which part of the bound at `epsilon` is numerical caution."""
        _, lower = self._ends(epsilon, split=False)
        exact = lower + shown_by(self.noise.uncovered, epsilon)
        part = 1.0 - exact / self.delta(epsilon)
        return min(max(part, 0.0), 1.0) if math.isfinite(part) else 1.0

    def _ends(self, epsilon: float, *, split: bool) -> tuple[float, float]:
        loss, unit = noise_loss(self.noise, self.density, epsilon, split=split)
        if split:
            # Sums of many losses are as smooth as if each had fewer values.
            loss = fewer_atoms(loss)
        return integral_ends(
            loss, unit, *self._coins, coarse=split, is_composed=self.is_composed
        )

    @functools.cached_property
    def _coins(self) -> tuple[Floats, Floats]:
        """Coins that come up no more often than the Poisson number of all messages."""
        messages = 2.0 * float(self.density @ np.diff(self.noise.edges))
        coins = math.ceil(_COINS * messages)
        probability = -math.expm1(-messages / coins) * (1.0 - 1e-12)
        return np.array([probability]), np.array([float(coins)])


class FirstByEstimate:
    """The one of two bounds that is smaller by its estimate, or else the other one.

    Args:
        usual: A bound.
        other: Another one.
        is_composed: Whether bounds at hundreds of epsilons are composed, which are
            compared at few of them only, as estimates take time.
    """

    def __init__(
        self, usual: UpperBound, other: UpperBound, *, is_composed: bool
    ) -> None:
        self._usual, self._other, self._is_composed = usual, other, is_composed
        self._is_other_less = functools.cache(self._compare)

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        first, second = self._ordered(epsilon)
        try:
            return first.delta(epsilon)
        except CertificationError:
            return second.delta(epsilon)

    def estimate(self, epsilon: float) -> float:
        """Returns about the bound, or NaN."""
        first, second = self._ordered(epsilon)
        size = first.estimate(epsilon)
        return second.estimate(epsilon) if math.isnan(size) else size

    def slack(self, epsilon: float) -> float:
        """Returns the share of the bound at `epsilon` that is numerical margin."""
        first, second = self._ordered(epsilon)
        try:
            return first.slack(epsilon)
        except CertificationError:
            return second.slack(epsilon)

    def _ordered(self, epsilon: float) -> tuple[UpperBound, UpperBound]:
        if self._is_composed and epsilon > 0.0:
            # One comparison for all epsilons near each other.
            epsilon = 2.0 ** (0.5 * round(2.0 * math.log2(epsilon)))
        if self._is_other_less(epsilon):
            return self._other, self._usual
        return self._usual, self._other

    def _compare(self, epsilon: float) -> bool:
        # Of either nothing may be known, and NaN is not less.
        return self._other.estimate(epsilon) < _LESS * self._usual.estimate(epsilon)


def differing_blankets(
    noise: NoiseDensities,
    epsilons: Floats,
    others: Ints,
    *,
    absent: int,
    delta: float,
    is_composed: bool = False,
) -> DifferingBlanketsBound | None:
    """Returns the bound with about the best groups, or None where it says nothing.

    Args:
        noise: The target user's densities.
        epsilons: Levels of the population, ascending, shape (levels,).
        others: People at each level, without the target user, shape (levels,).
        absent: How many of the others may be absent or collude.
        delta: About the size of the divergence that is asked for.
        is_composed: Whether the bound is composed with others.
    """
    widths = np.diff(noise.edges)
    squares = (noise.masses[0] - noise.masses[1]) ** 2 / widths
    candidates = []
    for starts in _groupings(epsilons, others):
        people = np.add.reduceat(others, starts)
        # Whoever is absent: no group loses more people than that.
        people = np.maximum(people - absent, 0).astype(np.float64)
        last = np.append(starts[1:], epsilons.size) - 1
        ends = noise.least(np.concatenate([epsilons[starts], epsilons[last]]))
        blankets = np.minimum(*np.split(ends, 2)) * (1.0 - noise.rounding)
        probabilities = 2.0 * blankets @ widths
        counts = poisson_counts(probabilities, people, _FAILURE * delta)
        part = counts.means / np.maximum(probabilities, 1e-300) * (1.0 - 1e-12)
        density = part @ blankets
        if density.min() > 0.0 and 2.0 * float(density @ widths) >= _FEWEST:
            spread = math.sqrt(2.0 * float((squares / density).sum()))
            bound = DifferingBlanketsBound(noise, density, counts, is_composed)
            candidates.append((spread, bound))
    least_spread = min((spread for spread, _ in candidates), default=1.0)
    # About the epsilon of delta, as if the loss were normal.
    depth = max(math.log(max(least_spread, 1e-300) / delta), math.log(2.0))
    epsilon = least_spread * math.sqrt(2.0 * depth)
    estimates = [
        (bound.estimate(epsilon), index)
        for index, (spread, bound) in enumerate(candidates)
        if spread <= _WIDER * least_spread
    ]
    known = [pair for pair in estimates if pair[0] < math.inf]
    return candidates[min(known)[1]][1] if known else None


def _groupings(epsilons: Floats, others: Ints) -> list[Ints]:
    """Returns where groups of levels start, ascending from 0, for each way to group."""
    ranks = np.cumsum(others)
    logs = np.log(np.maximum(epsilons, 1e-9 * float(epsilons[-1])))
    everyone = max(int(ranks[-1]), 1)
    limits = []
    for size in _GROUPS:
        parts = np.arange(1, size) / size
        limits += [(ranks, parts * everyone), (logs, logs[0] + parts * np.ptp(logs))]
    for first in _FIRST:
        # Small groups of those with most noise, whose messages are the farthest out.
        largest = everyone / _GROUPS[-1]
        sizes = [first]
        while sum(sizes) < everyone:
            sizes.append(min(2.0 * sizes[-1], max(largest, first)))
        limits.append((ranks, np.cumsum(sizes)))
    groupings: dict[bytes, Ints] = {}
    for scale, values in limits:
        starts = np.unique(np.append(0, np.searchsorted(scale, values, side="right")))
        starts = starts[starts < epsilons.size]
        groupings[starts.tobytes()] = starts
    if epsilons.size <= _GROUPS[-1]:
        starts = np.arange(epsilons.size)
        groupings[starts.tobytes()] = starts
    return list(groupings.values())
