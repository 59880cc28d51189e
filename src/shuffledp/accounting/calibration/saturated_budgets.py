"""Level after level below the largest budget there is, which all others have.

Where targets are large and close, messages of the first levels alone hide all people: with
any budgets the other levels keep their targets, and no budgets use up all of these. With
unbounded noise, and small and close targets, all levels are below the largest budget in the
end, and each of these systems of equations begins next to the solution of the last.
"""

from collections.abc import Callable

import numpy as np

from shuffledp.accounting.calibration.budget_range import BudgetRange
from shuffledp.accounting.calibration.calibration_search import largest
from shuffledp.accounting.calibration.newton_search import NewtonSearch
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

# How far above the one before it a level begins that is solved for, too.
_FIRST_GAP = 0.2
_ACCURACY = 1e-4


def saturated_budgets(
    excess_at: Callable[[Floats], Floats],
    search: NewtonSearch,
    start: float,
    budget_range: BudgetRange,
) -> tuple[int, Floats]:
    """Returns logarithms of budgets that cannot be raised alone, some of them the largest.

    Args:
        excess_at: The excess of all levels at logarithms of budgets, quickly.
        search: Solves for several levels.
        start: Logarithm of the first level's budget at which its search begins.
        budget_range: The largest budget of each level.

    Returns:
        How many levels are below the largest budget, and the logarithms, shape (levels,).

    Raises:
        CertificationError: If the other levels do not keep their targets.
    """
    logs = budget_range.log_highest.copy()

    def with_first(budget: float) -> Floats:
        return np.append(min(np.log(budget), logs[0]), logs[1:])

    log_budgets = with_first(
        largest(
            lambda budget: float(excess_at(with_first(budget))[0]),
            float(np.exp(start)),
            float(budget_range.highest[0]),
            _ACCURACY,
        )
    )
    if logs.size == 1:
        return 1, log_budgets
    for num_free in range(1, logs.size + 1):
        if num_free > 1:
            log_budgets[num_free - 1] = log_budgets[num_free - 2] + _FIRST_GAP
            search.reset()
            solved = search.solve(
                log_budgets, free_levels(excess_at, num_free), _ACCURACY
            )
            if solved is None:
                break
            log_budgets = solved
        if excess_at(log_budgets)[num_free:].max(initial=0.0) <= 0.0:
            return num_free, log_budgets
    raise CertificationError("The other levels do not keep their targets.")


def free_levels(
    excess_at: Callable[[Floats], Floats], num_free: int
) -> Callable[[Floats], Floats]:
    """Returns the excess of all levels, with that of others taken for negative.

    Args:
        excess_at: The excess of all levels at logarithms of budgets.
        num_free: How many of the first levels have budgets below the largest.
    """

    def excess(log_budgets: Floats) -> Floats:
        values = excess_at(log_budgets)
        values[num_free:] = -1.0
        return values

    return excess
