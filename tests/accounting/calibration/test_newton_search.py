"""Slopes of a quick estimate lead to where a slow excess vanishes."""

import numpy as np
import pytest

from shuffledp.accounting.calibration.budget_range import BudgetRange
from shuffledp.accounting.calibration.newton_search import NewtonSearch
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

ROOT = np.log([0.2, 0.5, 1.1, 2.0, 3.5])


def excess(log_budgets: Floats) -> Floats:
    """Bent, and so steep that slopes of 1, which a search begins with, lead astray."""
    far = log_budgets - ROOT
    result: Floats = 6.0 * far + 2.0 * np.sin(far) + 0.3 * far.sum()
    return result


@pytest.mark.parametrize("fails", [False, True])
def test_slopes_are_measured_by_the_quick_excess(*, fails: bool) -> None:
    calls = {"slow": 0, "quick": 0}

    def slow(log_budgets: Floats) -> Floats:
        calls["slow"] += 1
        return excess(log_budgets)

    def quick(log_budgets: Floats) -> Floats:
        calls["quick"] += 1
        if fails:
            raise CertificationError("Nothing is estimated.")
        return 1.02 * excess(log_budgets) + 0.1

    search = NewtonSearch(BudgetRange(ROOT.size, 20.0))
    result = search.solve(ROOT - 2.0, slow, 1e-6, quick_excess_at=quick)

    assert result is not None
    assert np.abs(result - ROOT).max() < 1e-4
    assert calls["quick"] >= 1
    # Where the estimate fails, slopes cost an evaluation for each level.
    assert (calls["slow"] > 8) == fails


def test_the_search_halves_a_bound_that_jumps_far_from_its_line() -> None:
    # The slope beside the jump is a thousandth of what the jump makes it look.
    looks = []

    def excess_at(log_budgets: Floats) -> Floats:
        looks.append(log_budgets)
        own = log_budgets[0]
        return np.array([own - 1.1 + 0.2 * (own > 1.0)])

    search = NewtonSearch(BudgetRange(1, 20.0))
    found = search.solve(np.array([0.95]), excess_at, 1e-6)

    assert found is not None
    assert 0.998 < found[0] <= 1.0
    assert len(looks) <= 20


def test_a_bound_that_swings_is_given_up_and_the_nearest_budgets_are_known() -> None:
    looks = []

    def excess_at(log_budgets: Floats) -> Floats:
        looks.append(log_budgets)
        own, other = log_budgets
        # As of data that change places with every step.
        swing = 0.01 * np.cos(float(len(looks)))
        return np.array([own - 0.5 + swing, other - 1.0 - swing])

    search = NewtonSearch(BudgetRange(2, 1e6))
    assert search.nearest is None
    found = search.solve(np.array([0.0, 0.8]), excess_at, 1e-6)

    assert found is None
    # Most steps there are, and slopes after every second one, are far more.
    assert len(looks) <= 15
    assert search.nearest is not None
    assert search.nearest[0] == pytest.approx(0.5, abs=0.05)


def test_budgets_are_returned_as_they_were_evaluated_where_little_is_left() -> None:
    evaluated: list[Floats] = []

    def noted(log_budgets: Floats) -> Floats:
        evaluated.append(log_budgets)
        return excess(log_budgets)

    search = NewtonSearch(BudgetRange(ROOT.size, 20.0))
    result = search.solve(ROOT - 0.5, noted, 1e-9, enough=0.01)

    assert result is evaluated[-1]
    left = excess(evaluated[-1])
    assert -0.02 <= left.min() <= left.max() <= 0.01
    # None of those before would have done.
    for log_budgets in evaluated[:-1]:
        before = excess(log_budgets)
        assert before.max() > 0.01 or before.min() < -0.02


def test_a_search_of_few_steps_gives_up_after_these() -> None:
    evaluated: list[Floats] = []

    def noted(log_budgets: Floats) -> Floats:
        evaluated.append(log_budgets)
        return excess(log_budgets)

    search = NewtonSearch(BudgetRange(ROOT.size, 20.0))

    assert search.solve(ROOT - 2.0, noted, 1e-9, most_steps=2) is None
    assert len(evaluated) == 3
    assert search.nearest is not None
