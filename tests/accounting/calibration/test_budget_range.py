"""The levels whose targets decide whether those of all are kept."""

import numpy as np
import pytest

from shuffledp.accounting.calibration.budget_range import BudgetRange


@pytest.mark.parametrize(
    ("num_below", "num_distinct"), [(0, 1), (1, 2), (2, 3), (3, 3)]
)
def test_the_first_level_with_the_largest_budget_stands_for_the_others(
    num_below: int, num_distinct: int
) -> None:
    budget_range = BudgetRange(3, 700.0)
    log_budgets = budget_range.log_highest.copy()

    log_budgets[:num_below] = np.log(0.1 * np.arange(1.0, num_below + 1.0))

    assert budget_range.num_distinct(log_budgets) == num_distinct


def test_budgets_are_ordered_from_above_by_lowering_alone() -> None:
    budget_range = BudgetRange(4, 700.0)
    budgets = np.array([1.0, 2.0, 1.5, 3.0])

    ordered = budget_range.ordered_from_above(budgets)

    assert np.all(ordered <= budgets)
    assert np.all(np.diff(ordered) > 0.0)
    # Only the one above a smaller one is lowered, to next to it.
    assert ordered[[0, 2, 3]] == pytest.approx(budgets[[0, 2, 3]], rel=1e-12)
    assert ordered[1] == pytest.approx(1.5, rel=1e-4)
    assert budget_range.ordered_from_above(ordered) == pytest.approx(ordered, rel=1e-12)
