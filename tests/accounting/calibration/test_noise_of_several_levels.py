"""Budgets of noise at several levels are found with few blankets in steps."""

from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting import upper_profiles
from shuffledp.accounting.calibration.budget_range import BudgetRange
from shuffledp.accounting.calibration.budget_starts import BudgetStarts
from shuffledp.accounting.calibration.calibration import largest_budgets
from shuffledp.accounting.calibration.newton_search import NewtonSearch
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.calibration.target_excess import TargetExcess
from shuffledp.accounting.upper.blanket import UpperBound
from shuffledp.accounting.upper.noise_blanket import NoiseBlanketBound, noise_blanket
from shuffledp.cover import NoiseDensities
from shuffledp.errors import CertificationError
from shuffledp.population import MAX_BUDGET, Population

LAPLACE = sdp.Mean(0, 1, randomizer=sdp.Laplace())


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The levels for which a blanket in steps is searched, from now on."""
    levels: list[int] = []

    def counted(
        noise: NoiseDensities,
        population: Population,
        target_user: int,
        usual: UpperBound,
        **options: Any,
    ) -> NoiseBlanketBound | None:
        levels.append(target_user)
        return noise_blanket(noise, population, target_user, usual, **options)

    monkeypatch.setattr(upper_profiles, "noise_blanket", counted)
    return levels


def test_few_blankets_are_searched_and_hardly_anything_is_left_unused(
    searched: list[int],
) -> None:
    targets = {0.02: 20_000, 0.06: 20_000, 0.2: 20_000}

    answer = largest_budgets(Promise(LAPLACE, 1e-6), targets)

    # With blankets in estimates, and all digits, 147.
    assert len(searched) <= 40
    for level, target in zip(answer.guarantee.levels, targets, strict=True):
        assert 0.999 * target < level.epsilon_central <= target


def test_estimates_take_no_blanket_in_steps(searched: list[int]) -> None:
    people = Population.from_counts({1.0: 1_000, 2.0: 1_000})

    Promise(LAPLACE, 1e-6).estimates_of(people, [0.1, 0.2])

    assert searched == []


def test_normal_losses_far_from_the_start_are_swept() -> None:
    targets = [0.00032, 0.00034, 0.00064, 0.00512, 0.01026, 0.12716, 0.248]
    promise, counts = Promise(sdp.Gaussian(), 1e-6), np.full(7, 14_285_714)
    budgets = BudgetRange(7, MAX_BUDGET)
    excess = TargetExcess(promise, counts, targets, budgets)
    search = NewtonSearch(budgets)
    # A budget of 0.0003 would have to become 2, and another one 300.
    assert search.solve(np.log(targets), excess.normal, 1e-3) is None

    log_budgets = BudgetStarts(excess, search).normal(np.log(targets))

    assert search.largest_excess(log_budgets, excess.normal(log_budgets)) < 2e-3


def test_budgets_are_found_at_deltas_far_below_their_own() -> None:
    # Normal noise whose devices keep 1e-6 shows a few people more than their budgets.
    targets = {0.0502: 3, 0.259: 399}
    promise = Promise(sdp.Gaussian(), 1e-50)
    assert not promise.kept(Population.from_counts(targets), list(targets))

    answer = largest_budgets(promise, targets)

    for level, target in zip(answer.guarantee.levels, targets, strict=True):
        assert level.epsilon_central is not None
        # Bounds at such deltas jump by half a percent from one budget to the next.
        assert 0.995 * target < level.epsilon_central <= target


def test_targets_that_no_budgets_are_known_to_keep_are_refused() -> None:
    promise = Promise(sdp.Gaussian(), 1e-290)

    with pytest.raises(CertificationError, match="ask for a larger delta"):
        largest_budgets(promise, {1e-6: 1, 2e-6: 1})
