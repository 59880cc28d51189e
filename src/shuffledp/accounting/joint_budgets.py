"""Joint solution for budgets at which every level meets its target exactly.

The excess (`target_excess`) is about by which factor a level's budget is too large. In
the logarithms of all budgets excesses are nearly straight, so that Newton's method finds
where all of them vanish in few steps. It begins where they would if losses were normal,
which takes no bound, and with the slopes found there; every step corrects them by its
result (Broyden 1965, Mathematics of Computation 19). A level that keeps its target with
the largest budget there is gets that, and the others are solved for.

Where a bound is not smooth enough for this, each level in turn is raised as far as its
target allows, until nothing moves.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.promise import Promise
from shuffledp.accounting.swept_budgets import swept_budgets
from shuffledp.accounting.target_excess import TargetExcess
from shuffledp.errors import CertificationError
from shuffledp.population import MAX_BUDGET
from shuffledp.types import Floats, Ints

# A step of Newton's method is much longer than what is left after it.
_STEP_ACCURACY = 2e-6
# The two-message bound is not continuous; this close to a jump, no step helps.
_JUMP_ACCURACY = 1e-4
_MAX_STEPS = 24
# Accuracy of the start, which assumes normal losses.
_START_ACCURACY = 1e-3
# Of the place where estimates of the bounds are used up.
_ESTIMATE_ACCURACY = 1e-4
# By how much a budget is changed to measure slopes, well above such jumps.
_SLOPE_STEP = 5e-3
# Longest steps; slopes are measured again after a longer step than _FAR_STEP, or after
# _MAX_STALE steps without progress.
_FIRST_LONGEST_STEP, _LONGEST_STEP, _FAR_STEP, _MAX_STALE = 0.7, 3.0, 1.0, 2
# Newton's method is given up after this many steps that increased the excess.
_MAX_REFUSED = 4
# Halvings of the range in which a common budget of all levels lies.
_HALVINGS = 12
# Slopes below this are flat: at such large budgets a device nearly always sends the value
# itself, and a larger budget changes nothing.
_SMALLEST_SLOPE = 0.1


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
    budgets = system.newton_budgets(start)
    if budgets is not None:
        return budgets
    return swept_budgets(
        promise, system.counts, targets, start, system.highest, system.ordered
    )


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
    system = _System(promise, counts, targets, MAX_BUDGET)
    return system.estimated_budgets(start)


class _System:
    """System of equations, one per level: excess(budgets) = 0, in logarithms.

    Attributes:
        counts: How many people ask for each target, shape (levels,).
        highest: The largest budget of each level, shape (levels,).
    """

    def __init__(
        self,
        promise: Promise,
        counts: Ints,
        targets: Sequence[float],
        largest_budget: float,
    ) -> None:
        self.counts: NDArray[np.int64] = counts.astype(np.int64)
        # Distinct, and in order, whatever an iteration does.
        self._ranks = 3e-5 * np.arange(counts.size, 0, -1)
        self.highest = np.asarray(
            largest_budget * (1.0 - self._ranks), dtype=np.float64
        )
        self._excess = TargetExcess(promise, self.counts, targets, self.highest)
        self._slopes: Floats = np.eye(counts.size)
        # Levels that were seen to break their targets with the largest budget.
        self._sensitive = np.zeros(counts.size, dtype=np.bool_)

    def newton_budgets(self, start: Floats) -> Floats | None:
        """Returns the budgets at which Newton's method leaves no excess, or None."""
        for first_guess in (
            self._estimated_start,
            self._normal_start,
            lambda log_budgets: log_budgets,
            self._common_start,
        ):
            self._slopes = np.eye(start.size)
            self._sensitive[:] = False
            with suppress(CertificationError):
                log_budgets = self._newton(
                    first_guess(np.log(start)), self._excess.certified, _STEP_ACCURACY
                )
                if log_budgets is not None:
                    return self.ordered(np.exp(log_budgets))
        return None

    def estimated_budgets(self, start: Floats) -> Floats:
        """Returns about the budgets that use up every target; see `_estimated_start`."""
        return self.ordered(np.exp(self._estimated_start(np.log(start))))

    def _normal_start(self, start: Floats) -> Floats:
        """Returns where no excess would be left if losses were normal.

        Raises:
            CertificationError: If there is no such place.
        """
        excess_at = self._excess.normal
        log_budgets = self._newton(start, excess_at, _START_ACCURACY)
        # Bounds are not those of normal losses.
        self._sensitive[:] = False
        if log_budgets is None:
            raise CertificationError("No budgets would do for normal losses.")
        self._measure_slopes(log_budgets, excess_at(log_budgets), excess_at)
        self._slopes *= self._excess.steepness[:, None]
        return log_budgets

    def _common_start(self, start: Floats) -> Floats:
        """Returns nearly equal budgets, about the largest, with the slopes there.

        With large targets, budgets that are far apart have slopes that lead nowhere.
        """
        low, high = float(start.min()), float(np.log(self.highest).min())
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            is_kept = self._excess.normal(self._common(middle)).max() <= 0.0
            low, high = (middle, high) if is_kept else (low, middle)
        log_budgets = self._common(low)
        excess_at = self._excess.certified
        self._measure_slopes(log_budgets, excess_at(log_budgets), excess_at)
        if np.diag(self._slopes).min() < _SMALLEST_SLOPE:
            raise CertificationError("A common budget does not matter.")
        return log_budgets

    def _common(self, log_budget: float) -> Floats:
        budgets = np.full(self.counts.size, math.exp(log_budget))
        log_budgets: Floats = np.log(self.ordered(budgets))
        return log_budgets

    def _estimated_start(self, start: Floats) -> Floats:
        """Returns where about no excess is left, as estimated, with the slopes there.

        Raises:
            CertificationError: If there is no such place, or no estimate.
        """
        excess_at = self._excess.estimated
        log_budgets = self._newton(
            self._normal_start(start), excess_at, _ESTIMATE_ACCURACY
        )
        self._sensitive[:] = False
        if log_budgets is None:
            raise CertificationError("No budgets would do for estimated bounds.")
        self._measure_slopes(log_budgets, excess_at(log_budgets), excess_at)
        return log_budgets

    def _newton(
        self,
        log_budgets: Floats,
        excess_at: Callable[[Floats], Floats],
        accuracy: float,
    ) -> Floats | None:
        excess, longest_step, num_stale = excess_at(log_budgets), _FIRST_LONGEST_STEP, 0
        num_refused = 0
        for _ in range(_MAX_STEPS):
            if num_stale >= _MAX_STALE:
                num_stale = 0
                self._measure_slopes(log_budgets, excess, excess_at)
            step = self._step(log_budgets, excess)
            if np.abs(step).max() < accuracy:
                return self._after_step(log_budgets, step)
            insensitive = self._insensitive_levels(excess)
            limited_step = np.where(
                insensitive, step, np.clip(step, -longest_step, longest_step)
            )
            candidate = self._after_step(log_budgets, limited_step)
            new_excess, change = excess_at(candidate), candidate - log_budgets
            if np.any(insensitive & (new_excess > 0.0)):
                # The largest budget breaks a target: it matters after all.
                self._sensitive |= insensitive & (new_excess > 0.0)
                continue
            largest_before, largest_after = (
                self._largest_excess(log_budgets, excess),
                self._largest_excess(candidate, new_excess),
            )
            if largest_after > 2.0 * largest_before + 0.05:
                longest_step, num_stale, num_refused = (
                    longest_step / 4.0,
                    _MAX_STALE,
                    num_refused + 1,
                )
                if num_refused > _MAX_REFUSED:
                    return None
                continue
            slope_error = new_excess - excess - self._slopes @ change
            self._slopes += np.outer(slope_error, change) / max(
                float(change @ change), 1e-300
            )
            # Slopes at some budgets are not those at budgets far from them.
            num_stale = (
                _MAX_STALE
                if np.abs(change).max() > _FAR_STEP
                else num_stale + (largest_after > largest_before)
            )
            log_budgets, excess, longest_step = (
                candidate,
                new_excess,
                min(2.0 * longest_step, _LONGEST_STEP),
            )
        remaining_step = np.abs(self._step(log_budgets, excess)).max()
        return log_budgets if remaining_step < _JUMP_ACCURACY else None

    def _after_step(self, log_budgets: Floats, step: Floats) -> Floats:
        log_budgets_after: Floats = np.log(self.ordered(np.exp(log_budgets + step)))
        return log_budgets_after

    def _step(self, log_budgets: Floats, excess: Floats) -> Floats:
        """Returns the Newton step that leaves no excess under the current slopes.

        Raises:
            CertificationError: If nothing does.
        """
        insensitive = self._insensitive_levels(excess)
        levels_to_solve = ~insensitive & ~self._done_levels(log_budgets, excess)
        step = np.where(insensitive, np.log(self.highest) - log_budgets, 0.0)
        slopes = self._slopes[np.ix_(levels_to_solve, levels_to_solve)]
        try:
            step[levels_to_solve] = np.linalg.solve(slopes, -excess[levels_to_solve])
        except np.linalg.LinAlgError:
            raise CertificationError("Budgets do not matter.") from None
        return step

    def _done_levels(self, log_budgets: Floats, excess: Floats) -> NDArray[np.bool_]:
        """Returns the levels that keep their targets with the largest budget."""
        return self._excess.are_largest(log_budgets) & (excess <= 0.0)

    def _largest_excess(self, log_budgets: Floats, excess: Floats) -> float:
        """Returns the largest excess, of either sign, of levels that are not done."""
        left = ~self._done_levels(log_budgets, excess)
        return float(np.abs(excess[left]).max(initial=0.0))

    def _insensitive_levels(self, excess: Floats) -> NDArray[np.bool_]:
        """Returns the levels that get the largest budget: it hardly changes anything."""
        flat: NDArray[np.bool_] = np.diag(self._slopes) < _SMALLEST_SLOPE
        return flat & (excess < 0.0) & ~self._sensitive

    def _measure_slopes(
        self, log_budgets: Floats, excess: Floats, excess_at: Callable[[Floats], Floats]
    ) -> None:
        """Measures the slopes by one-sided differences, downward in each budget."""
        # Those of levels that are done are not used.
        for index in np.flatnonzero(~self._done_levels(log_budgets, excess)).tolist():
            budget_below = log_budgets[index - 1] if index else -np.inf
            decrease = min(_SLOPE_STEP, 0.3 * float(log_budgets[index] - budget_below))
            decreased = log_budgets.copy()
            decreased[index] -= decrease
            self._slopes[:, index] = (excess - excess_at(decreased)) / decrease

    def ordered(self, budgets: Floats) -> Floats:
        """Returns budgets that are distinct, in order, and at most the largest."""
        raised = np.maximum.accumulate(budgets / (1.0 - self._ranks))
        ordered: Floats = np.minimum(raised * (1.0 - self._ranks), self.highest)
        return ordered
