"""The largest budgets there are for all levels but the first.

Where targets are large and close, messages of the first level alone hide all people: with
any budgets the other levels keep their targets, and no budgets use up all of these.
"""

import math
from collections.abc import Callable

import numpy as np

from shuffledp.accounting.budget_range import BudgetRange
from shuffledp.accounting.calibration_search import largest
from shuffledp.errors import CertificationError
from shuffledp.types import Floats


def saturated_budgets(
    first_excess: Callable[[Floats], float],
    excess_at: Callable[[Floats], Floats],
    budget_range: BudgetRange,
    start: float,
) -> Floats:
    """Returns the largest budget of the first level among others with the largest budgets.

    No level alone can be raised: the first uses up its target, the others have the largest.

    Args:
        first_excess: By which factor the first level's budget is too large, as a
            logarithm, at the logarithms of all budgets, shape (levels,).
        excess_at: The same of every level, shape (levels,).
        budget_range: The largest budget of each level.
        start: Where the search begins.

    Raises:
        CertificationError: If the others do not keep their targets.
    """

    def log_budgets(budget: float) -> Floats:
        logs = budget_range.log_highest.copy()
        logs[0] = min(math.log(budget), logs[0])
        return logs

    highest = budget_range.highest
    budget = largest(
        lambda budget: first_excess(log_budgets(budget)), start, float(highest[0])
    )
    if excess_at(log_budgets(budget))[1:].max(initial=0.0) > 0.0:
        raise CertificationError("The other levels do not keep their targets.")
    return np.append(budget, highest[1:])
