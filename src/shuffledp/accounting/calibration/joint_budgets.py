"""Joint solution for budgets at which every level meets its target exactly.

The excess (`target_excess`) is about by which factor a level's budget is too large. In
the logarithms of all budgets excesses are nearly straight, so that Newton's method finds
where all of them vanish in few steps (`newton_search`). It begins where they would if
losses were normal, or where estimates of the bounds do (`budget_starts`).

Where a bound is not smooth enough for this, each level in turn is raised as far as its
target allows, until nothing moves (`swept_budgets`): by estimates, to begin Newton's method
there, and by certified bounds where it does not end even so.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from shuffledp.accounting.calibration.budget_range import BudgetRange
from shuffledp.accounting.calibration.budget_starts import BudgetStarts
from shuffledp.accounting.calibration.matched_budgets import matched_budgets
from shuffledp.accounting.calibration.newton_search import NewtonSearch
from shuffledp.accounting.calibration.noise_corrections import MOST_LEFT, ROUGH_EXCESS
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.calibration.scaled_budgets import scaled_budgets
from shuffledp.accounting.calibration.swept_budgets import swept_budgets
from shuffledp.accounting.calibration.target_excess import TargetExcess
from shuffledp.errors import CertificationError
from shuffledp.population import MAX_BUDGET
from shuffledp.types import Floats, Ints

# A step of Newton's method is much longer than what is left after it.
_STEP_ACCURACY = 2e-6
# Where bounds are composed, and slow: a step of so many margins leaves less than one.
_STEP_OVER_MARGIN = 5.0
# Where each evaluation takes seconds.
_FEW_STEPS, _SCALE_WIDTH, _SWEPT_LEVELS = 4, 2e-3, 2
# Of budgets that are found level by level: a tenth of what an answer may leave of a target.
_SWEPT_ACCURACY = 1e-4


def joint_budgets(
    promise: Promise,
    counts: Ints,
    targets: Sequence[float],
    start: Floats,
    *,
    largest_budget: float = MAX_BUDGET,
) -> tuple[Floats, bool]:
    """Returns budgets that use up every target, about, in ascending order.

    And whether they need not be lowered before an answer with them is certified.

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
        # Composed bounds but those of noise leave what was asked for after a short step;
        # the answer is certified in any case.
        is_smooth = system.excess.is_composed and not system.excess.is_noise
        return budgets, is_smooth or system.excess.keeps(np.log(budgets))
    if system.nearest is not None:
        start = system.range.ordered(np.exp(system.nearest))
    if system.excess.is_composed_noise and counts.size > _SWEPT_LEVELS:
        # To raise one level after the other would take minutes.
        scaled = scaled_budgets(promise, counts, targets, start, width=_SCALE_WIDTH)
        return scaled, True
    return swept_budgets(system.excess, start, accuracy=_SWEPT_ACCURACY), False


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
        range: The largest budget of each level, and the order of all.
        excess: That of every level.
        nearest: Where the last of Newton's searches that failed came nearest, of those
            for certified bounds, or of any where noise is composed, in logarithms; None if
            there is none.
    """

    def __init__(
        self,
        promise: Promise,
        counts: Ints,
        targets: Sequence[float],
        largest_budget: float,
    ) -> None:
        self.range = BudgetRange(counts.size, largest_budget)
        whole_counts = counts.astype(np.int64)
        self.excess = TargetExcess(promise, whole_counts, targets, self.range)
        self._search = NewtonSearch(self.range)
        self.nearest: Floats | None = None
        self._starts = BudgetStarts(self.excess, self._search)
        self._is_composed = promise.num_reports > 1
        margin = self.excess.margin
        over = _STEP_OVER_MARGIN if self._is_composed else 1.0
        self._accuracy = max(_STEP_ACCURACY, over * margin)
        # Where one more evaluation may take seconds, two more margins may be left.
        is_slow = self._is_composed and margin > 0.0
        self._enough = margin if is_slow else None
        self._most_steps = _FEW_STEPS if self.excess.is_composed_noise else None

    def best_budgets(self, start: Floats) -> Floats | None:
        """Returns budgets that cannot be raised alone, from several starts, or None."""
        starts = self._starts
        first_guesses = starts.estimated, starts.saturated, starts.swept
        methods: list[Callable[[Floats], Floats]]
        # Estimates come first: certified bounds are slow.
        if self.excess.is_composed_noise:
            # Where bounds of noise jump, no other start helps.
            methods = [partial(self._newton_budgets, starts.corrected_in_steps)]
        elif self._is_composed:
            # Composed ones are so slow that one more of them costs more than it saves.
            methods = [partial(self._newton_budgets, guess) for guess in first_guesses]
        else:
            methods = [
                self._matched_budgets,
                *(
                    partial(self._newton_budgets, partial(starts.corrected, guess))
                    for guess in first_guesses[:2]
                ),
                partial(self._newton_budgets, starts.swept),
            ]
        if not self.excess.is_composed_noise:
            methods.append(partial(self._newton_budgets, starts.normal))
            # Of one level, a search of one number does what these would.
            if self.excess.counts.size > 1:
                methods += [
                    partial(self._newton_budgets, lambda log_budgets: log_budgets),
                    partial(self._newton_budgets, starts.common),
                ]
        for method in methods:
            with suppress(CertificationError):
                return method(start)
        return None

    def estimated_budgets(self, start: Floats) -> Floats:
        """Returns about the budgets that cannot be raised alone.

        Raises:
            CertificationError: If nothing is estimated.
        """
        starts = self._starts
        for first_guess in (starts.estimated, starts.swept, starts.saturated):
            with suppress(CertificationError):
                return self.range.ordered(np.exp(first_guess(np.log(start))))
        raise CertificationError("No budgets would do for estimated bounds.")

    def _newton_budgets(
        self, first_guess: Callable[[Floats], Floats], start: Floats
    ) -> Floats:
        """Returns the budgets at which Newton's method leaves no excess.

        Raises:
            CertificationError: If there are none.
        """
        self._search.reset()
        try:
            first = first_guess(np.log(start))
        except CertificationError:
            if self.excess.is_composed_noise:
                self.nearest = self._search.nearest
            raise
        log_budgets = None
        with suppress(CertificationError):
            log_budgets = self._search.solve(
                first,
                self.excess.certified,
                self._accuracy,
                quick_excess_at=self._starts.estimated_excess,
                enough=self._enough,
                most_left=MOST_LEFT if self.excess.is_composed_noise else None,
                most_steps=self._most_steps,
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
        if not self.excess.margin:
            raise CertificationError("Bounds are quick.")
        self._search.reset()
        log_budgets = self._starts.normal(np.log(start))
        stages: tuple[tuple[Callable[[Floats], Floats], float], ...] = (
            (self._starts.estimated_excess, ROUGH_EXCESS),
            (self.excess.certified, self._accuracy),
        )
        for excess_at, accuracy in stages:
            log_budgets, left = matched_budgets(
                self.excess, self._search, log_budgets, excess_at, accuracy
            )
        if self.excess.is_noise and left > self._accuracy:
            # Levels that hide each other come nearer by half only with each of its steps.
            return self._newton_budgets(self._starts.at, np.exp(log_budgets))
        return self.range.ordered(np.exp(log_budgets))
