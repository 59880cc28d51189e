"""Bands of people who send one of two messages, each on the safe side."""

import math

import numpy as np
import pytest
from oracles.bits import Crowd

from shuffledp import Population
from shuffledp.accounting.two_messages import binary_population
from shuffledp.accounting.two_messages.binary_population import (
    MAX_BANDS,
    MAX_BANDS_COMPOSED,
    _distinct,
    narrower,
    nested,
    wider,
)
from shuffledp.accounting.two_messages.branch_and_bound import search
from shuffledp.accounting.two_messages.tilted import TiltedPopulation
from shuffledp.accounting.two_messages.two_message_bound import (
    two_message_attack,
    two_message_bound,
)
from shuffledp.cover import TwoMessages
from shuffledp.randomizers.kary_response import KRandomizedResponse


@pytest.mark.parametrize("seed", range(3))
def test_bands_are_on_the_safe_side(seed: int) -> None:
    # More levels than bands, of few people: all of them can be told apart elsewhere.
    rng = np.random.default_rng(seed)
    flips = np.sort(rng.uniform(0.05, 0.5, 2 * MAX_BANDS))
    ones = np.ones(flips.size, dtype=np.int64)
    crowd = Crowd(flips, 1.0 - flips, ones, 0.7, 0.3)
    epsilon = 0.1

    upper = search(TiltedPopulation(wider(crowd.bits, ones), epsilon)).upper
    lower = search(TiltedPopulation(narrower(crowd.bits, ones), epsilon)).lower

    some = [np.zeros(ones.size), ones, rng.integers(0, 2, ones.size)]
    exact = max(crowd.divergence(data.tolist(), epsilon) for data in some)
    assert exact <= math.exp(upper) <= 1.3 * exact
    assert 0.7 * exact <= math.exp(lower)
    assert lower <= upper


@pytest.mark.parametrize("seed", range(3))
def test_bands_of_many_levels_need_no_comparison_of_all(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    flips = rng.choice(np.append(rng.uniform(0.0, 0.5, 2_000), [1e-200, 1e-180]), 3_000)
    bits = TwoMessages(np.stack([flips, flips]), 0.4, 0.3)
    counts = rng.integers(0, 4, flips.size)

    bands = wider(bits, counts)

    # As if no level had been looked at: equal ones are merged first.
    monkeypatch.setattr(binary_population, "_LOOKED_AT", 0)
    assert wider(bits, counts).key == bands.key
    assert bands.counts.size <= MAX_BANDS


def test_compositions_tell_fewer_bands_apart() -> None:
    people = Population.from_budgets(np.linspace(0.5, 3.0, 1_000))
    pairs = KRandomizedResponse(2).covers([3.0], people, delta=1e-6)[0]

    single, composed = (
        two_message_bound(pairs, people.counts, 999, absent=0, is_composed=is_composed)
        for is_composed in (False, True)
    )

    assert single is not None
    assert composed is not None
    assert MAX_BANDS_COMPOSED < single.num_bands <= MAX_BANDS
    assert composed.num_bands <= MAX_BANDS_COMPOSED
    # Wider bands bound no less.
    assert single.delta(0.02) <= composed.delta(0.02) * (1.0 + 1e-3)


def test_intervals_may_be_nested_or_not() -> None:
    def bits(ones: list[float], zeros: list[float]) -> TwoMessages:
        return TwoMessages(np.array([ones, zeros]), 0.5, 0.2)

    assert nested(bits([0.1, 0.3], [0.1, 0.3]))
    assert nested(bits([0.1, 0.3, 0.3], [0.5, 0.5, 0.6]))
    assert not nested(bits([0.1, 0.3], [0.3, 0.1]))


def test_bands_without_a_common_chance_are_not_attacked() -> None:
    fair = np.linspace(0.49, 0.5, 299)
    least = np.stack([np.append(fair, 0.9), np.append(1.0 - fair, 0.1)])
    bits = TwoMessages(least, 0.4, 0.3)

    assert two_message_attack(bits, np.full(300, 4)) is None


@pytest.mark.parametrize("num_pairs", [1, 2, 1_000])
def test_ranks_of_pairs_are_those_of_numpy(num_pairs: int) -> None:
    pairs = np.random.default_rng(7).integers(12, size=(2, num_pairs)) / 8.0

    ranks = _distinct(pairs)

    _, expected = np.unique(pairs, axis=1, return_inverse=True)
    assert ranks.tolist() == expected.ravel().tolist()
