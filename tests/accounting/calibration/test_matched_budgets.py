"""Budgets of reports shuffled in parts, found by a counted number of certified bounds."""

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.calibration.budget_range import BudgetRange
from shuffledp.accounting.calibration.calibration import largest_budgets
from shuffledp.accounting.calibration.matched_budgets import matched_budgets
from shuffledp.accounting.calibration.newton_search import NewtonSearch
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.calibration.target_excess import TargetExcess
from shuffledp.types import Floats

COUNTS = np.array([2_000, 2_000])
TARGETS = [0.05, 0.1]


@pytest.fixture
def budget_range() -> BudgetRange:
    return BudgetRange(2, 700.0)


@pytest.fixture
def excess(budget_range: BudgetRange) -> TargetExcess:
    promise = Promise(sdp.UnaryEncoding(8), delta=1e-6)
    return TargetExcess(promise, COUNTS, TARGETS, budget_range)


def test_an_excess_off_by_nearly_the_same_number_is_solved_for(
    excess: TargetExcess, budget_range: BudgetRange
) -> None:
    def bent(log_budgets: Floats) -> Floats:
        normal = excess.steepness * excess.normal(log_budgets)
        return normal + 0.2 - 0.05 * log_budgets

    start = np.log([0.5, 1.0])
    budgets, left = matched_budgets(
        excess, NewtonSearch(budget_range), start, bent, 1e-4
    )

    assert np.abs(bent(budgets)).max() == left < 1e-4


def test_a_search_without_end_returns_the_best_that_it_evaluated(
    excess: TargetExcess, budget_range: BudgetRange
) -> None:
    evaluated: list[tuple[float, Floats]] = []

    def jumping(log_budgets: Floats) -> Floats:
        jump = 0.01 if len(evaluated) % 2 else -0.02
        value = excess.normal(log_budgets) + jump
        evaluated.append((float(np.abs(value).max()), log_budgets))
        return value

    start = np.log([0.5, 1.0])
    budgets, left = matched_budgets(
        excess, NewtonSearch(budget_range), start, jumping, 1e-4
    )

    assert 2 < len(evaluated) <= 10
    least, nearest = min(evaluated, key=lambda pair: pair[0])
    assert left == least
    assert np.array_equal(budgets, nearest)


def test_targets_left_unused_are_stated() -> None:
    promise = Promise(sdp.Frequency(17), delta=1e-6)

    answer = largest_budgets(promise, dict(zip(TARGETS, [2_000, 2_000], strict=True)))

    assert 0.0 <= answer.unused_share < 1e-3
    assert answer.caution is None
    smaller = promise.answer(
        sdp.Population(0.99 * answer.people.epsilons, answer.people.counts), TARGETS
    )
    assert smaller.caution is None
    raised = type(smaller)(
        smaller.people, smaller.targets, smaller.guarantee, is_largest=True
    )
    assert raised.caution is not None
    share, levels = 100.0 * (1.0 - raised.unused_share), raised.guarantee.levels
    unused = [
        1.0 - (level.epsilon_central or 0.0) / target
        for level, target in zip(levels, TARGETS, strict=True)
    ]
    index = int(np.argmax(unused))
    assert (
        f"at level {levels[index].epsilon_local} the target {TARGETS[index]:g} is used up "
        f"to {share:.1f}% only"
    ) in raised.caution
    assert raised.caution in str(raised)


def test_local_budgets_keep_targets_that_are_no_smaller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    promise = Promise(sdp.UnaryEncoding(8), delta=1e-6)
    people = sdp.Population.from_counts({0.1: 10, 0.2: 10})
    monkeypatch.setattr(Promise, "one_by_one", lambda *_, **__: iter([1.0]))

    assert promise.kept(people, [0.1, 0.2])
    assert not promise.kept(people, [0.1, 0.19])
