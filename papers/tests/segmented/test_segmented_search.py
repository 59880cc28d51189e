"""The best blanket: kinks, smooth minima, and the least error of the published protocol."""

import math

import numpy as np
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp_papers.segmented.best_blanket import best_blanket
from shuffledp_papers.segmented.figures.conditions import Condition
from shuffledp_papers.segmented.figures.simulated_errors import (
    published_at,
    published_at_best,
)


@pytest.mark.parametrize("at", [0.02, 0.37, 2.9, 8.0])
def test_smooth_minima_are_found_to_four_digits(at: float) -> None:
    found = best_blanket(
        lambda m: 1.0 + math.log(m / at) ** 2, [0.2, 1.0, 8.0], below=0.1
    )

    assert found == pytest.approx(at, rel=1e-4)


def test_a_kink_is_found_itself() -> None:
    found = best_blanket(lambda m: max(3.0 / m, m / 3.0), [1.0, 3.0, 20.0])

    assert found == pytest.approx(3.0, rel=1e-12)


def test_nothing_to_search_is_refused() -> None:
    for kinks in ([], [0.0, 1.0], [math.nan]):
        with pytest.raises(InvalidInputError):
            best_blanket(lambda m: m, kinks)
    with pytest.raises(InvalidInputError):
        best_blanket(lambda m: m, [1.0], below=0.0)


@pytest.mark.slow
def test_the_published_protocol_is_shown_at_its_best() -> None:
    condition = Condition("synthetic", 4, "S1", 5_000)
    sets, num_items = condition.sets(np.random.default_rng(1))
    truth = np.bincount(sets.ravel(), minlength=num_items) / condition.num_users

    best = published_at_best(condition, num_items, truth)

    least = best.predicted_mse(condition.people, truth)
    # Where the most liberal third may send everything; beyond a grid that ends at 3.
    assert best.blanket == pytest.approx(4.488, rel=1e-3)
    assert least == pytest.approx(0.002986, rel=5e-3)
    for factor in (0.5, 0.8, 0.97, 1.03, 1.3, 2.0):
        other = published_at(condition, num_items, factor * best.blanket)
        assert other.predicted_mse(condition.people, truth) > least
