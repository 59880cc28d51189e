"""Order of the budgets of all levels: ascending, distinct, at most the largest of use."""

import numpy as np
from numpy.typing import NDArray

from shuffledp.types import Floats


class BudgetRange:
    """The largest budget of each level, and the order of all.

    Attributes:
        highest: The largest budget of each level, ascending, shape (levels,).
        log_highest: Their logarithms.
    """

    def __init__(self, num_levels: int, largest_budget: float) -> None:
        """Puts the largest budgets of all levels just below one number.

        Args:
            num_levels: How many levels there are.
            largest_budget: The largest budget that is of use.
        """
        # Distinct, and in order, whatever an iteration does.
        self._ranks = 3e-5 * np.arange(num_levels, 0, -1)
        self.highest = np.asarray(
            largest_budget * (1.0 - self._ranks), dtype=np.float64
        )
        self.log_highest: Floats = np.log(self.highest)

    def ordered(self, budgets: Floats) -> Floats:
        """Returns budgets that are distinct, in order, and at most the largest."""
        raised: Floats = np.maximum.accumulate(budgets / (1.0 - self._ranks))
        ordered: Floats = np.minimum(raised * (1.0 - self._ranks), self.highest)
        return ordered

    def ordered_from_above(self, budgets: Floats) -> Floats:
        """Returns budgets that are distinct and in order, none larger than before."""
        raised = budgets / (1.0 - self._ranks)
        lowered: Floats = np.minimum.accumulate(raised[::-1])[::-1]
        return np.minimum(lowered * (1.0 - self._ranks), budgets)

    def are_largest(self, log_budgets: Floats) -> NDArray[np.bool_]:
        """Returns the levels with the largest budget; all above them have it, too."""
        at_most: NDArray[np.bool_] = log_budgets >= self.log_highest - 1e-12
        return at_most

    def num_distinct(self, log_budgets: Floats) -> int:
        """Returns how many of the first levels must keep their targets, that all do.

        Levels with the largest budget differ in their targets alone: those that keep the
        least of these targets keep the others.
        """
        num_below = int(np.argmax(np.append(self.are_largest(log_budgets), True)))
        return min(num_below + 1, log_budgets.size)
