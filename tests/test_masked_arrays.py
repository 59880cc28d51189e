"""Masked arrays: what is below the mask is no answer of a person."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import InvalidInputError, PopulationError

LEVELS = np.ones(4)
PEOPLE = sdp.Population.from_counts({1.0: 4})


def masked(values: Any) -> Any:
    return np.ma.array(values, mask=[True, False, False, False])


CALLS: dict[str, Callable[[Any], object]] = {
    "categories": lambda rng: sdp.Frequency(3).randomize(
        masked([0, 1, 2, 2]), LEVELS, rng=rng
    ),
    "numbers": lambda rng: sdp.Mean(0.0, 1.0).randomize(
        masked([0.5, 0.1, 0.2, 0.3]), LEVELS, rng=rng
    ),
    "levels": lambda rng: sdp.Mean(0.0, 1.0).randomize(
        LEVELS / 2.0, masked(LEVELS), rng=rng
    ),
    "bits": lambda rng: sdp.BinarySum().randomize(
        masked([True, False, True, True]), LEVELS, rng=rng
    ),
    "options": lambda rng: sdp.ChoiceQuestion("way", ("bus", "bike", "walk")).encode(
        masked([0, 1, 2, 2]), rng=rng
    ),
    "holders": lambda rng: sdp.Frequency(4).draw_tally(
        masked([1, 1, 1, 1])[None, :], PEOPLE, rng=rng
    ),
}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_masked_entries_are_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="masked"):
        CALLS[name](np.random.default_rng(1))


def test_masked_budgets_are_no_people() -> None:
    with pytest.raises(PopulationError, match="masked"):
        sdp.Population.from_budgets(masked(LEVELS))


def test_nothing_masked_is_an_array() -> None:
    budgets = np.ma.array(LEVELS, mask=False)

    assert sdp.Population.from_budgets(budgets).num_users == 4
