"""Newton's method for budgets that use up the targets of all levels.

Slopes that are once known are corrected by the result of every step (Broyden 1965,
Mathematics of Computation 19). A level that keeps its target with the largest budget there
is gets that, and the others are solved for.
"""

import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.calibration.bound_jumps import BoundJumps
from shuffledp.accounting.calibration.budget_range import BudgetRange
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

# The two-message bound is not continuous; this close to a jump, no step helps.
_JUMP_ACCURACY = 1e-4
_MAX_STEPS = 24
# By how much a budget is changed to measure slopes, well above such jumps.
_SLOPE_STEP = 5e-3
# Longest steps; slopes are measured again after a longer step than _FAR_STEP, or after
# _MAX_STALE steps without progress.
_FIRST_LONGEST_STEP, _LONGEST_STEP, _FAR_STEP, _MAX_STALE = 0.7, 3.0, 1.0, 2
# Newton's method is given up after this many steps that increased the excess.
_MAX_REFUSED = 4
# And after this many in which it has not fallen by this factor.
_MAX_SLOW, _PROGRESS = 7, 0.7
# Slopes below this are flat: at such large budgets a device nearly always sends the value
# itself, and a larger budget changes nothing.
_SMALLEST_SLOPE = 0.1


class NewtonSearch:
    """Search for budgets, which may begin again with another bound and the same slopes.

    Attributes:
        slopes: Of each level's excess in the logarithm of each budget, shape (levels,
            levels).
        nearest: Where the last solution came nearest; None before the first one.
    """

    def __init__(self, budget_range: BudgetRange) -> None:
        """Begins with slopes of 1.

        Args:
            budget_range: The largest budgets, and the order of all.
        """
        self._range = budget_range
        self.nearest: Floats | None = None
        self.reset()

    def reset(self) -> None:
        """Forgets slopes, and which levels were seen to matter."""
        size = self._range.highest.size
        self.slopes: Floats = np.eye(size)
        # Levels that were seen to break their targets with the largest budget.
        self._sensitive = np.zeros(size, dtype=np.bool_)

    def forget_sensitive_levels(self) -> None:
        """Forgets which levels were seen to matter, as another bound is solved next."""
        self._sensitive[:] = False

    @property
    def any_flat(self) -> bool:
        """Whether a level's own budget hardly matters to it."""
        return bool(np.diag(self.slopes).min() < _SMALLEST_SLOPE)

    def solve(
        self,
        log_budgets: Floats,
        excess_at: Callable[[Floats], Floats],
        accuracy: float,
        *,
        quick_excess_at: Callable[[Floats], Floats] | None = None,
        enough: float | None = None,
        most_left: float | None = None,
        most_steps: int | None = None,
        measures_again: bool = True,
    ) -> Floats | None:
        """Returns logarithms of budgets that leave no excess, or None if it finds none.

        Args:
            log_budgets: Where to begin, shape (levels,).
            excess_at: The excess of all levels at logarithms of budgets.
            accuracy: The search ends with a step shorter than this.
            quick_excess_at: About the same excess, to measure slopes; it may raise
                CertificationError. By default `excess_at`.
            enough: With no larger excess, and none below minus what may be left, budgets
                are returned as they were evaluated; by default they are those after the
                last step.
            most_left: What may be left; by default twice what is enough.
            most_steps: Number of steps after which it gives up; by default many.
            measures_again: Whether slopes are measured again where steps lead nowhere.

        Raises:
            CertificationError: If the slopes lead nowhere.
        """
        excess, longest_step, num_stale = excess_at(log_budgets), _FIRST_LONGEST_STEP, 0
        num_refused = 0
        jumps = BoundJumps(excess.size)
        jumps.add(log_budgets, excess)
        least, least_before, num_slow = math.inf, math.inf, 0
        for _ in range(_MAX_STEPS if most_steps is None else most_steps):
            size = self.largest_excess(log_budgets, excess)
            if size < least:
                least, self.nearest = size, log_budgets
            if enough is not None:
                least = -2.0 * enough if most_left is None else -most_left
                left = excess[~self._done_levels(log_budgets, excess)]
                if bool(np.all((least <= left) & (left <= enough))):
                    return log_budgets
            num_slow += 1
            if least < _PROGRESS * least_before:
                least_before, num_slow = least, 0
            elif num_slow > _MAX_SLOW:
                # A bound that jumps, or one that a budget hardly matters to.
                return None
            if num_stale >= _MAX_STALE and measures_again:
                num_stale = 0
                self._measure_again(log_budgets, excess, excess_at, quick_excess_at)
            step = self._step(log_budgets, excess, jumps)
            if np.abs(step).max() < accuracy:
                return self._after_step(log_budgets, step)
            insensitive = self._insensitive_levels(excess)
            limited_step = np.where(
                insensitive, step, np.clip(step, -longest_step, longest_step)
            )
            candidate = self._after_step(log_budgets, limited_step)
            new_excess, change = excess_at(candidate), candidate - log_budgets
            jumps.add(candidate, new_excess)
            if np.any(insensitive & (new_excess > 0.0)):
                # The largest budget breaks a target: it matters after all.
                self._sensitive |= insensitive & (new_excess > 0.0)
                continue
            largest_before, largest_after = (
                self._largest_excess(log_budgets, excess, jumps),
                self._largest_excess(candidate, new_excess, jumps),
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
            slope_error = new_excess - excess - self.slopes @ change
            self.slopes += np.outer(slope_error, change) / max(
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
        if self.largest_excess(log_budgets, excess) < least:
            self.nearest = log_budgets
        remaining_step = np.abs(self._step(log_budgets, excess, jumps)).max()
        return log_budgets if remaining_step < _JUMP_ACCURACY else None

    def largest_excess(self, log_budgets: Floats, excess: Floats) -> float:
        """Returns the largest excess, of either sign, of levels that are not done."""
        left = ~self._done_levels(log_budgets, excess)
        return float(np.abs(excess[left]).max(initial=0.0))

    def measure_slopes(
        self, log_budgets: Floats, excess: Floats, excess_at: Callable[[Floats], Floats]
    ) -> None:
        """Measures the slopes by one-sided differences, downward in each budget."""
        # Those of levels that are done are not used.
        for index in np.flatnonzero(~self._done_levels(log_budgets, excess)).tolist():
            budget_below = log_budgets[index - 1] if index else -np.inf
            decrease = min(_SLOPE_STEP, 0.3 * float(log_budgets[index] - budget_below))
            decreased = log_budgets.copy()
            decreased[index] -= decrease
            self.slopes[:, index] = (excess - excess_at(decreased)) / decrease

    def _measure_again(
        self,
        log_budgets: Floats,
        excess: Floats,
        excess_at: Callable[[Floats], Floats],
        quick_excess_at: Callable[[Floats], Floats] | None,
    ) -> None:
        if quick_excess_at is not None:
            with suppress(CertificationError):
                about = quick_excess_at(log_budgets)
                self.measure_slopes(log_budgets, about, quick_excess_at)
                return
        self.measure_slopes(log_budgets, excess, excess_at)

    def _after_step(self, log_budgets: Floats, step: Floats) -> Floats:
        log_budgets_after: Floats = np.log(
            self._range.ordered(np.exp(log_budgets + step))
        )
        return log_budgets_after

    def _step(self, log_budgets: Floats, excess: Floats, jumps: BoundJumps) -> Floats:
        """Returns the Newton step that leaves no excess under the current slopes.

        Raises:
            CertificationError: If nothing does.
        """
        insensitive = self._insensitive_levels(excess)
        levels_to_solve = ~insensitive & ~self._done_levels(log_budgets, excess)
        step = np.where(insensitive, self._range.log_highest - log_budgets, 0.0)
        jumping = levels_to_solve & jumps.levels(self.slopes)
        step[jumping] = jumps.steps(log_budgets)[jumping]
        levels_to_solve &= ~jumping
        slopes = self.slopes[np.ix_(levels_to_solve, levels_to_solve)]
        excess_left = excess + self.slopes[:, jumping] @ step[jumping]
        try:
            step[levels_to_solve] = np.linalg.solve(
                slopes, -excess_left[levels_to_solve]
            )
        except np.linalg.LinAlgError:
            raise CertificationError("Budgets do not matter.") from None
        enclosed_steps = jumps.enclosed_steps(log_budgets, step)
        step[levels_to_solve] = enclosed_steps[levels_to_solve]
        return step

    def _done_levels(self, log_budgets: Floats, excess: Floats) -> NDArray[np.bool_]:
        """Returns the levels that keep their targets with the largest budget."""
        return self._range.are_largest(log_budgets) & (excess <= 0.0)

    def _largest_excess(
        self, log_budgets: Floats, excess: Floats, jumps: BoundJumps
    ) -> float:
        """Returns the largest excess, of either sign, of levels that do not jump."""
        jumping = jumps.levels(self.slopes)
        return self.largest_excess(log_budgets, np.where(jumping, 0.0, excess))

    def _insensitive_levels(self, excess: Floats) -> NDArray[np.bool_]:
        """Returns the levels that get the largest budget: it hardly changes anything."""
        flat: NDArray[np.bool_] = np.diag(self.slopes) < _SMALLEST_SLOPE
        return flat & (excess < 0.0) & ~self._sensitive
