"""Nearly equal budgets: slopes of budgets that are far apart may lead nowhere."""

import math
from collections.abc import Callable

import numpy as np

from shuffledp.accounting.calibration.budget_range import BudgetRange
from shuffledp.accounting.calibration.newton_search import NewtonSearch
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

# Halvings of the range in which a common budget of all levels lies.
_HALVINGS = 12


def common_budgets(
    start: Floats,
    search: NewtonSearch,
    budget_range: BudgetRange,
    compared: Callable[[Floats], Floats],
    excess_at: Callable[[Floats], Floats],
) -> Floats:
    """Returns logarithms of nearly equal budgets, and leaves the slopes there.

    Args:
        start: Logarithms of budgets that are small enough.
        search: Measures slopes.
        budget_range: The largest budget of each level, and the order of all.
        compared: The excess by which the largest budgets are found.
        excess_at: The excess whose slopes are measured.

    Raises:
        CertificationError: If such budgets do not matter.
    """

    def common(log_budget: float) -> Floats:
        budgets = np.full(start.size, math.exp(log_budget))
        log_budgets: Floats = np.log(budget_range.ordered(budgets))
        return log_budgets

    low, high = float(start.min()), float(budget_range.log_highest.min())
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        is_kept = compared(common(middle)).max() <= 0.0
        low, high = (middle, high) if is_kept else (low, middle)
    log_budgets = common(low)
    search.measure_slopes(log_budgets, excess_at(log_budgets), excess_at)
    if search.any_flat:
        raise CertificationError("A common budget does not matter.")
    return log_budgets
