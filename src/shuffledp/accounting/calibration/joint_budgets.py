"""Joint solution for budgets at which every level meets its target exactly.

The excess (`target_excess`) is about by which factor a level's budget is too large. In
the logarithms of all budgets excesses are nearly straight, so that Newton's method finds
where all of them vanish in few steps (`newton_search`). It begins where they would if
losses were normal, which takes no bound, and with the slopes found there. With large and
close targets the largest budgets may do for all but the first levels (`saturated_budgets`).
Where estimates come first and are far off, certified bounds correct them.

Where a bound is not smooth enough for this, each level in turn is raised as far as its
target allows, until nothing moves.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from shuffledp.accounting.calibration.budget_range import BudgetRange
from shuffledp.accounting.calibration.common_budgets import common_budgets
from shuffledp.accounting.calibration.matched_budgets import matched_budgets
from shuffledp.accounting.calibration.newton_search import NewtonSearch
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.calibration.saturated_budgets import (
    free_levels,
    saturated_budgets,
)
from shuffledp.accounting.calibration.swept_budgets import swept_budgets
from shuffledp.accounting.calibration.target_excess import TargetExcess
from shuffledp.errors import CertificationError
from shuffledp.population import MAX_BUDGET
from shuffledp.types import Floats, Ints

# A step of Newton's method is much longer than what is left after it.
_STEP_ACCURACY = 2e-6
# Accuracy of the start, which assumes normal losses.
_START_ACCURACY = 1e-3
# Of the place where estimates of the bounds are used up.
_ESTIMATE_ACCURACY = 1e-4
# Estimates whose solution leaves a larger excess are corrected, so often.
_ROUGH_EXCESS, _MAX_CORRECTIONS = 1e-3, 3


def joint_budgets(
    promise: Promise,
    counts: Ints,
    targets: Sequence[float],
    start: Floats,
    *,
    largest_budget: float = MAX_BUDGET,
) -> Floats:
    """Returns budgets that use up every target, about, in ascending order.

    Args:
        promise: Protocol and delta.
        counts: How many people ask for each target, shape (levels,).
        targets: Central epsilons, ascending.
        start: Budgets that keep them, shape (levels,).
        largest_budget: The largest budget that is of use.
    """
    system = _System(promise, counts, targets, largest_budget)
    budgets = system.best_budgets(start)
    if budgets is not None:
        return budgets
    highest, ordered = system.range.highest, system.range.ordered
    if system.nearest is not None:
        start = ordered(np.exp(system.nearest))
    return swept_budgets(promise, system.counts, targets, start, highest, ordered)


def estimated_budgets(
    promise: Promise,
    counts: Ints,
    targets: Sequence[float],
    start: Floats,
) -> Floats:
    """Returns about the budgets of `joint_budgets`, by estimates: nothing is certified.

    Raises:
        CertificationError: If nothing is estimated.
    """
    return _System(promise, counts, targets, MAX_BUDGET).estimated_budgets(start)


class _System:
    """System of equations, one per level: excess(budgets) = 0, in logarithms.

    Attributes:
        counts: How many people ask for each target, shape (levels,).
        range: The largest budget of each level, and the order of all.
        nearest: Where the last of Newton's searches that failed came nearest, of those
            for certified bounds, in logarithms; None if there is none.
    """

    def __init__(
        self,
        promise: Promise,
        counts: Ints,
        targets: Sequence[float],
        largest_budget: float,
    ) -> None:
        self.counts = counts.astype(np.int64)
        self.range = BudgetRange(counts.size, largest_budget)
        self._excess = TargetExcess(promise, self.counts, targets, self.range)
        self._search = NewtonSearch(self.range)
        self.nearest: Floats | None = None
        # What certified bounds were seen to exceed estimates by.
        self._error: Floats | float = self._excess.margin
        self._accuracy = max(_STEP_ACCURACY, self._excess.margin)

    def best_budgets(self, start: Floats) -> Floats | None:
        """Returns budgets that cannot be raised alone, from several starts, or None."""
        methods: tuple[Callable[[Floats], Floats], ...] = (
            self._matched_budgets,
            # Estimates come first: certified bounds are slow.
            *(
                partial(self._newton_budgets, partial(self._corrected_start, first))
                for first in self._estimated_starts
            ),
            partial(self._newton_budgets, self._normal_start),
            partial(self._newton_budgets, lambda log_budgets: log_budgets),
            partial(self._newton_budgets, self._common_start),
        )
        for method in methods:
            with suppress(CertificationError):
                return method(start)
        return None

    def estimated_budgets(self, start: Floats) -> Floats:
        """Returns about the budgets that cannot be raised alone.

        Raises:
            CertificationError: If nothing is estimated.
        """
        for first_guess in self._estimated_starts:
            with suppress(CertificationError):
                return self.range.ordered(np.exp(first_guess(np.log(start))))
        raise CertificationError("No budgets would do for estimated bounds.")

    @property
    def _estimated_starts(self) -> tuple[Callable[[Floats], Floats], ...]:
        """Searches for budgets by estimates, which leave the slopes there."""
        return (
            partial(self._estimated_start, self._normal_start),
            self._saturated_start,
            partial(self._estimated_start, self._common_estimate),
        )

    def _newton_budgets(
        self, first_guess: Callable[[Floats], Floats], start: Floats
    ) -> Floats:
        """Returns the budgets at which Newton's method leaves no excess.

        Raises:
            CertificationError: If there are none.
        """
        self._search.reset()
        log_budgets = self._search.solve(
            first_guess(np.log(start)),
            self._excess.certified,
            self._accuracy,
            quick_excess_at=self._estimated,
        )
        if log_budgets is None:
            self.nearest = self._search.nearest
            raise CertificationError("Newton's method does not end.")
        return self.range.ordered(np.exp(log_budgets))

    def _matched_budgets(self, start: Floats) -> Floats:
        """Returns budgets at which certified bounds leave no excess, by few of these.

        Raises:
            CertificationError: If there are none, or bounds are quick.
        """
        if not self._excess.margin:
            raise CertificationError("Bounds are quick.")
        self._search.reset()
        log_budgets = self._normal_start(np.log(start))
        stages: tuple[tuple[Callable[[Floats], Floats], float], ...] = (
            (self._estimated, _ROUGH_EXCESS),
            (self._excess.certified, self._accuracy),
        )
        for excess_at, accuracy in stages:
            log_budgets = matched_budgets(
                self._excess, self._search, log_budgets, excess_at, accuracy
            )
        return self.range.ordered(np.exp(log_budgets))

    def _corrected_start(
        self, first_guess: Callable[[Floats], Floats], start: Floats
    ) -> Floats:
        """Returns where about no excess is left, with the slopes there.

        Estimates that are off by nearly the same factor at all budgets are corrected by
        what certified bounds are at one of these.

        Args:
            first_guess: Returns where estimates leave no excess, for `start`.
            start: Logarithms of budgets that are small enough.

        Raises:
            CertificationError: If there is no such place, or no estimate.
        """
        self._error = self._excess.margin
        log_budgets = first_guess(start)
        for _ in range(_MAX_CORRECTIONS):
            certified = self._excess.certified(log_budgets)
            if self._search.largest_excess(log_budgets, certified) < _ROUGH_EXCESS:
                break
            self._error = certified - self._excess.estimated(log_budgets)
            self._search.reset()
            before, log_budgets = log_budgets, first_guess(start)
            # A bound that jumps there: every correction is this one.
            if np.array_equal(before, log_budgets):
                break
        return log_budgets

    def _estimated(self, log_budgets: Floats) -> Floats:
        """Returns about the certified excess, as corrected so far.

        Raises:
            CertificationError: If nothing is estimated.
        """
        return self._excess.estimated(log_budgets) + self._error

    def _saturated_start(self, start: Floats) -> Floats:
        """Returns where the first levels use up their targets, as estimated, if the others
        have the largest budgets, with the slopes there.

        Raises:
            CertificationError: If the others do not keep their targets, or no estimate.
        """
        num_free, log_budgets = saturated_budgets(
            self._estimated, self._search, float(start[0]), self.range
        )
        free = free_levels(self._estimated, num_free)
        self._search.reset()
        self._search.measure_slopes(log_budgets, free(log_budgets), free)
        return log_budgets

    def _normal_start(self, start: Floats) -> Floats:
        """Returns where no excess would be left if losses were normal.

        Raises:
            CertificationError: If there is no such place.
        """
        excess_at = self._excess.normal
        log_budgets = self._search.solve(start, excess_at, _START_ACCURACY)
        # Bounds are not those of normal losses.
        self._search.forget_sensitive_levels()
        if log_budgets is None:
            raise CertificationError("No budgets would do for normal losses.")
        self._search.measure_slopes(log_budgets, excess_at(log_budgets), excess_at)
        self._search.slopes *= self._excess.steepness[:, None]
        return log_budgets

    def _common_start(self, start: Floats) -> Floats:
        """Returns nearly equal budgets, about the largest, with the slopes there.

        With large targets, budgets that are far apart have slopes that lead nowhere.
        """
        return common_budgets(
            start, self._search, self.range, self._excess.normal, self._excess.certified
        )

    def _common_estimate(self, start: Floats) -> Floats:
        """Returns budgets as `_common_start` does, by estimates.

        Raises:
            CertificationError: If nothing is estimated.
        """
        # Slopes may be those of another search.
        self._search.reset()
        return common_budgets(
            start, self._search, self.range, self._estimated, self._estimated
        )

    def _estimated_start(
        self, first_guess: Callable[[Floats], Floats], start: Floats
    ) -> Floats:
        """Returns where about no excess is left, as estimated, with the slopes there.

        Args:
            first_guess: Returns where the search begins, for `start`.
            start: Logarithms of budgets that are small enough.

        Raises:
            CertificationError: If there is no such place, or no estimate.
        """
        excess_at = self._estimated
        log_budgets = self._search.solve(
            first_guess(start), excess_at, _ESTIMATE_ACCURACY
        )
        self._search.forget_sensitive_levels()
        if log_budgets is None:
            raise CertificationError("No budgets would do for estimated bounds.")
        self._search.measure_slopes(log_budgets, excess_at(log_budgets), excess_at)
        return log_budgets
