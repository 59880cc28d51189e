"""Budgets that are the largest already are found so in two evaluations."""

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.calibration.budget_range import BudgetRange
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.calibration.swept_budgets import swept_budgets
from shuffledp.accounting.calibration.target_excess import TargetExcess
from shuffledp.population import MAX_BUDGET, Population


def test_devices_own_budgets_are_the_largest_and_take_two_evaluations_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[float] = []
    delta_of = Promise.delta_of

    def noted(self: Promise, people: Population, index: int, epsilon: float) -> float:
        looks.append(epsilon)
        return delta_of(self, people, index, epsilon)

    monkeypatch.setattr(Promise, "delta_of", noted)
    # Of so few people nobody hides at such a delta.
    promise, targets = Promise(sdp.Frequency(4), 1e-100), [0.1, 0.3]
    budgets = BudgetRange(2, MAX_BUDGET)

    found = swept_budgets(
        TargetExcess(promise, np.array([3, 3]), targets, budgets),
        np.array(targets),
        accuracy=1e-4,
    )

    assert found.tolist() == targets
    assert len(looks) == 4


def test_one_level_is_raised_to_its_end_and_the_largest_budget_is_not_passed() -> None:
    promise, targets = Promise(sdp.Frequency(4), 1e-6), [0.02, 700.0]
    start, budgets = np.array([0.02, 1.0]), BudgetRange(2, MAX_BUDGET)
    counts = np.array([5_000, 5_000])

    found = swept_budgets(
        TargetExcess(promise, counts, targets, budgets), start, accuracy=1e-5
    )

    assert found[1] == budgets.highest[1]
    people = Population(found, counts)
    assert promise.kept(people, targets)
    more = Population(found * np.array([1.00001, 1.0]), counts)
    assert not promise.kept(more, targets)
