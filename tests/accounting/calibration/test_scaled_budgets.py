"""Budgets times the largest factor that keeps all targets."""

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.calibration.budget_starts import BudgetStarts
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.calibration.scaled_budgets import scaled_budgets
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

COUNTS = np.array([1_000, 1_000])


def test_the_factor_is_the_largest_that_keeps_all_targets() -> None:
    promise, targets = Promise(sdp.Frequency(4), 1e-6), [0.1, 0.2]

    budgets = scaled_budgets(promise, COUNTS, targets, np.array([0.5, 1.5]), width=1e-3)

    assert budgets[1] == pytest.approx(3.0 * budgets[0])
    assert promise.kept(sdp.Population(budgets, COUNTS), targets)
    assert not promise.kept(sdp.Population(1.002 * budgets, COUNTS), targets)


def test_a_factor_beyond_use_is_not_looked_for() -> None:
    promise = Promise(sdp.Frequency(4), 1e-6)
    start = np.array([0.5, 1.5])

    budgets = scaled_budgets(
        promise, COUNTS, [5.0, 9.0], start, width=1e-3, most_factor=2.0
    )

    assert np.array_equal(budgets, 2.0 * start)


def test_noise_of_several_rounds_is_scaled_where_nothing_is_estimated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(self: BudgetStarts, start: Floats) -> Floats:
        raise CertificationError("No estimates here.")

    monkeypatch.setattr(BudgetStarts, "estimated", refused)
    promise = Promise(sdp.Laplace(), 1e-6, rounds=2)
    targets = {0.2: 300, 0.4: 300}

    answer = sdp.largest_budgets(promise, targets)

    central = [level.epsilon_central for level in answer.guarantee.levels]
    shares = np.divide(central, list(targets))
    # One of them decides, and the caution says what the other leaves.
    assert 0.99 < shares.max() <= 1.00001
    assert shares.min() > 0.7
    assert (answer.caution is not None) == bool(shares.min() < 0.999)
