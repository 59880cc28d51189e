"""Estimates of composed noise are corrected by few certified bounds."""

import numpy as np
import pytest

from shuffledp.accounting.calibration.budget_range import BudgetRange
from shuffledp.accounting.calibration.newton_search import NewtonSearch
from shuffledp.accounting.calibration.noise_corrections import NoiseCorrections
from shuffledp.types import Floats

# By how much each level's excess grows with each budget: levels hide each other.
SLOPES = np.array([[1.0, -0.3, -0.2], [-0.3, 1.1, -0.3], [-0.2, -0.5, 1.2]])
START = np.log([0.5, 1.0, 2.0])


class LinearExcess:
    """Excess that is straight in logarithms, and how often it was certified."""

    margin = 3e-4

    def __init__(self, offsets: list[float], jump: float = 0.0) -> None:
        self.range = BudgetRange(3, 700.0)
        self.offsets, self.jump = np.array(offsets), jump
        self.num_certified = 0

    def estimated_in_steps(self, log_budgets: Floats) -> Floats:
        excess: Floats = SLOPES @ (log_budgets - START)
        return excess

    def certified(self, log_budgets: Floats) -> Floats:
        self.num_certified += 1
        jump = self.jump * (self.num_certified > 1)
        excess: Floats = self.estimated_in_steps(log_budgets) + self.offsets - jump
        return excess + self.margin


def corrected(excess: LinearExcess) -> Floats:
    search = NewtonSearch(excess.range)
    search.slopes = SLOPES.copy()
    corrections = NoiseCorrections(excess, search, lambda _: SLOPES.copy())  # type: ignore[arg-type]
    return corrections.corrected(START.copy())


@pytest.mark.parametrize(
    "offsets", [[0.02, 0.02, 0.02], [-0.03, -0.03, -0.0305], [0.01, 0.03, -0.02]]
)
def test_what_bounds_exceed_estimates_by_is_corrected_at_once(
    offsets: list[float],
) -> None:
    excess = LinearExcess(offsets)

    found = corrected(excess)

    left = excess.certified(found) - excess.margin
    assert np.all(left <= 0.0)
    assert np.all(left > -3e-3)
    # Before the correction, after it, and here.
    assert excess.num_certified <= 4


def test_where_nothing_is_left_nothing_is_corrected() -> None:
    excess = LinearExcess([-1e-4, -2e-4, -1e-4])

    assert np.array_equal(corrected(excess), START)
    assert excess.num_certified == 1


def test_after_a_correction_a_little_more_may_be_left() -> None:
    excess = LinearExcess([0.02, 0.02, 0.02], jump=4e-3)

    found = corrected(excess)

    assert excess.num_certified == 2
    assert np.all(excess.certified(found) < excess.margin)
