"""By which factor budgets are too large for their targets, about: of bounds of three kinds.

The certified bounds are what targets are kept by. Estimates of them are far quicker, and
normal losses, which take no bound at all, quicker still: searches begin with these.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.calibration.budget_range import BudgetRange
from shuffledp.accounting.calibration.calibrated_population import rounded_population
from shuffledp.accounting.calibration.calibration_search import (
    excess_of,
    level_excess,
    normal_delta,
    normal_spread,
    with_budget,
)
from shuffledp.accounting.calibration.kept_estimates import estimates_of
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.calibration.target_margin import (
    has_blankets_in_steps,
    target_margin,
)
from shuffledp.population import MAX_BUDGET, Population
from shuffledp.types import Floats

# Logarithms of a normal loss's deviation over the one that is allowed, at a start.
_LEAST_NORMAL_EXCESS, _MOST_NORMAL_EXCESS = -50.0, 5.0


class TargetExcess:
    """Excess of every level, at logarithms of budgets in ascending order.

    Attributes:
        counts: How many people ask for each target, shape (levels,).
        targets: Central epsilons, ascending.
        range: The largest budget of each level.
        steepness: By how much the excess grows with the logarithm of a normal loss's
            deviation, shape (levels,).
        margin: By how much a certified excess is taken to be larger than it is.
        is_noise: Whether several levels hide in noise, whose budgets may be far above
            their targets, and whose covers take long.
        is_composed: Whether the bounds of several reports are composed.
        is_composed_noise: Whether noise of several levels is composed, whose certified
            bounds take longest of all.
    """

    def __init__(
        self,
        promise: Promise,
        counts: NDArray[np.int64],
        targets: Sequence[float],
        budget_range: BudgetRange,
    ) -> None:
        """Computes what does not depend on budgets.

        Args:
            promise: Protocol and delta.
            counts: How many people ask for each target, shape (levels,).
            targets: Central epsilons, ascending.
            budget_range: The largest budget of each level.
        """
        self._promise, self.counts, self.targets = promise, counts, targets
        self.range, self.margin = budget_range, target_margin(promise, counts.size)
        self.is_noise = counts.size > 1 and has_blankets_in_steps(promise)
        self.is_composed = promise.num_reports > 1
        self.is_composed_noise = self.is_noise and self.is_composed
        # Slow bounds are evaluated where they may be the answer's, which has few digits.
        self._is_rounded = self.is_composed and self.margin > 0.0
        # A correction of estimates is followed by a search that begins there.
        self._last: tuple[Floats, Floats] | None = None
        spreads = [normal_spread(target, promise.delta) for target in targets]
        self._spreads = np.log(spreads)
        more = [
            normal_delta(*value)
            for value in zip(targets, np.multiply(spreads, 1.05).tolist(), strict=True)
        ]
        self.steepness = np.array([excess_of(value, promise.delta) for value in more])
        self.steepness /= np.log(1.05)

    def normal(self, log_budgets: Floats) -> Floats:
        """Returns what it would be of normal losses, as a logarithm of deviations."""
        spreads = self._promise.spreads_of(self._population_of(log_budgets))
        excess: Floats = np.log(np.maximum(spreads, 1e-300)) - self._spreads
        # A lower end that small budgets reach would make their slopes flat, and a flat
        # slope sends Newton's method to the largest budget of all.
        np.clip(excess, _LEAST_NORMAL_EXCESS, _MOST_NORMAL_EXCESS, out=excess)
        return excess

    def normal_of_level(self, people: Population, index: int, budget: float) -> float:
        """Returns the same of one level with this budget, others fixed."""
        changed, position = with_budget(people, index, budget)
        (spread,) = self._promise.spreads_of(changed, [position])
        excess = math.log(max(spread, 1e-300)) - float(self._spreads[index])
        return min(max(excess, _LEAST_NORMAL_EXCESS), _MOST_NORMAL_EXCESS)

    def estimated(self, log_budgets: Floats) -> Floats:
        """Returns about the certified excess, quickly.

        Raises:
            CertificationError: If nothing is estimated.
        """
        return self._of_levels(log_budgets, partial(estimates_of, self._promise))

    def estimated_in_steps(self, log_budgets: Floats) -> Floats:
        """Returns about the same of noise, nearer to what is certified, and slower.

        Raises:
            CertificationError: If nothing is estimated.
        """
        estimates = partial(estimates_of, self._promise, in_steps=True)
        return self._of_levels(log_budgets, estimates)

    def certified(self, log_budgets: Floats) -> Floats:
        """Returns the excess over bounds that are proven.

        Raises:
            CertificationError: If nothing is proven.
        """
        if self._last is None or not np.array_equal(self._last[0], log_budgets):
            excess = self._of_levels(
                log_budgets, self._promise.deltas_of, self._certified_people
            )
            self._last = log_budgets.copy(), excess + self.margin
        return self._last[1].copy()

    def keeps(self, log_budgets: Floats) -> bool:
        """Returns whether these budgets, rounded, were just certified to be kept."""
        if self._last is None or not self._is_rounded:
            return False
        before, excess = self._last
        people_before = self._certified_people(before)
        people = self._certified_people(log_budgets)
        return (
            np.array_equal(people_before.epsilons, people.epsilons)
            and float(excess.max()) <= self.margin
        )

    def certified_of_level(
        self, people: Population, index: int, budget: float
    ) -> float:
        """Returns the certified excess of one level with this budget, others fixed."""
        return level_excess(self._promise, people, index, self.targets[index], budget)

    def estimated_of_level(
        self, people: Population, index: int, budget: float
    ) -> float:
        """Returns about the same, quickly.

        Raises:
            CertificationError: If nothing is estimated.
        """
        changed, position = with_budget(people, index, budget)
        (delta,) = self._promise.estimates_of(
            changed, [self.targets[index]], [position]
        )
        return excess_of(delta, self._promise.delta)

    def _of_levels(
        self,
        log_budgets: Floats,
        deltas_of: Callable[[Population, Sequence[float]], list[float]],
        people_of: Callable[[Floats], Population] | None = None,
    ) -> Floats:
        """Returns the excess of all levels, at deltas that a function computes."""
        people = (people_of or self._population_of)(log_budgets)
        size, num_distinct = log_budgets.size, self.range.num_distinct(log_budgets)
        deltas = deltas_of(people, self.targets[:num_distinct])
        if num_distinct < size and deltas[-1] > self._promise.delta:
            deltas = deltas_of(people, self.targets)
        return self._excess_of([*deltas, *deltas[-1:] * (size - len(deltas))])

    def _excess_of(self, deltas: Sequence[float]) -> Floats:
        return np.array([excess_of(delta, self._promise.delta) for delta in deltas])

    def _population_of(self, log_budgets: Floats) -> Population:
        return Population(np.minimum(np.exp(log_budgets), MAX_BUDGET), self.counts)

    def _certified_people(self, log_budgets: Floats) -> Population:
        """Returns people with budgets that slow bounds are evaluated at."""
        people = self._population_of(log_budgets)
        if not self._is_rounded:
            return people
        return rounded_population(people.epsilons, people.counts)
