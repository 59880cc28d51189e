"""Sums over groups of levels, block by block: all levels at once say the same, bitwise."""

import numpy as np
import pytest

from shuffledp.accounting.sums.bernoulli_sum import bernoulli_sum
from shuffledp.accounting.sums.grouping import MAX_GROUPS
from shuffledp.accounting.upper.cover_count import _GROUPS, grouped_downward
from shuffledp.types import Floats, Ints

LEVELS = 100_001


def drawn(low: float, high: float) -> tuple[Floats, Ints]:
    rng = np.random.default_rng(11)
    return rng.uniform(low, high, LEVELS), rng.integers(1, 5, LEVELS)


def cells(probabilities: Floats, number: int = MAX_GROUPS) -> Ints:
    low, high = probabilities.min(), probabilities.max()
    found = ((probabilities - low) * (number / (high - low))).astype(np.int64)
    last: Ints = np.minimum(found, number - 1)
    return last


@pytest.mark.parametrize(("low", "high"), [(1e-5, 0.05), (0.05, 0.9), (0.3, 0.7)])
def test_a_sum_of_coins_is_that_of_all_levels_at_once(low: float, high: float) -> None:
    probabilities, counts = drawn(low, high)

    found = bernoulli_sum(probabilities, counts)

    group, n = cells(probabilities), counts.astype(np.float64)
    people = np.bincount(group, weights=n)
    means = np.bincount(group, weights=n * probabilities) / people
    offset = probabilities - means[group]
    assert found.counts.tolist() == people.tolist()
    assert found.means.tolist() == means.tolist()
    farthest = [np.abs(offset[group == one]).max() for one in range(MAX_GROUPS)]
    assert found.reach.tolist() == farthest
    term = n * offset
    for powers in found.powers:
        term = term * offset
        assert powers.tolist() == np.bincount(group, weights=term).tolist()


def test_cover_is_grouped_as_all_levels_at_once() -> None:
    probabilities, counts = drawn(0.001, 0.9)

    means, members = grouped_downward(probabilities, counts)

    lowered = probabilities * (1.0 - 1e-13)
    # Ratios matter: groups near 0 are narrower.
    group = cells(np.sqrt(lowered), _GROUPS)
    people = np.bincount(group, weights=counts)
    logs = np.bincount(group, weights=counts * np.log(lowered))
    slack = 1e-12 + 2.3e-16 * LEVELS * abs(float(np.log(lowered.min())))
    assert members.tolist() == people.astype(np.int64).tolist()
    assert means.tolist() == (np.exp(logs / people) * (1.0 - slack)).tolist()


def test_few_with_a_tiny_probability_take_little_from_all_others() -> None:
    # As of budgets from 4 to 80: most people hardly ever send a blanket message.
    probabilities = np.exp(-np.linspace(0.5, 76.0, 30_000))
    counts = np.ones(30_000, dtype=np.int64)

    means, members = grouped_downward(probabilities, counts)

    assert members.sum() == 30_000
    expected = float(probabilities.sum())
    assert 0.997 * expected < float(means @ members) <= expected
