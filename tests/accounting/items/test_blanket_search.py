"""Limits of the search for the blanket of least error."""

import pytest

from shuffledp.accounting.items.blanket_search import BlanketSearch
from shuffledp.accounting.items.items_calibration import smallest_blanket
from shuffledp.accounting.items.optimized_items import optimize_items
from shuffledp.errors import PopulationError
from shuffledp.population import Population


def test_limit_just_below_the_best_blanket_is_kept() -> None:
    search = BlanketSearch(Population.from_counts({0.3: 1000}), 8, 1, 1e-5, 1000)
    # The best blanket without a limit: it lets everybody send all there is.
    best = smallest_blanket(0.3, 1e-5, num_items=8, set_size=1, num_honest=1000)
    limit = 0.9995 * best

    found, limited = search.best(limit)

    assert 0.99 * limit < found <= limit
    assert limited


def test_people_who_are_all_absent_plan_nothing() -> None:
    with pytest.raises(PopulationError, match="at most 9 absent people, got 10"):
        optimize_items({1.0: 10}, num_items=4, set_size=1, delta=1e-3, absent=10)
