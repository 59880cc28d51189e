import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shuffledp.types import Floats
from shuffledp_papers.bounds.two_counts import (
    CloneCount,
    clone_count,
    divergence,
)

chances = st.floats(0.0, 1.0)


def enumerated(clones: CloneCount, same: float, other: float, epsilon: float) -> float:
    """The divergence, by listing both counts."""
    first: dict[tuple[int, int], float] = {}
    second: dict[tuple[int, int], float] = {}
    for k, weight in enumerate(clones.weights.tolist()):
        c = clones.start + k
        for a in range(c + 1):
            chance = weight * math.comb(c, a) / 2**c
            for seen, here, there in (
                ((a + 1, c - a), same, other),
                ((a, c - a + 1), other, same),
                ((a, c - a), 1 - same - other, 1 - same - other),
            ):
                first[seen] = first.get(seen, 0.0) + chance * here
                second[seen] = second.get(seen, 0.0) + chance * there
    ratio = math.exp(epsilon)
    return sum(max(first[seen] - ratio * second[seen], 0.0) for seen in first)


def by_subsets(probabilities: list[float]) -> Floats:
    weights = np.zeros(len(probabilities) + 1)
    for coins in product((0, 1), repeat=len(probabilities)):
        chance = math.prod(
            p if coin else 1 - p for p, coin in zip(probabilities, coins, strict=True)
        )
        weights[sum(coins)] += chance
    return weights


@pytest.mark.slow
@given(st.lists(chances, max_size=9), chances, chances, st.floats(0.0, 5.0))
@settings(max_examples=150, deadline=None)
def test_the_divergence_is_that_of_listed_counts(
    coins: list[float], share: float, flip: float, epsilon: float
) -> None:
    clones = clone_count(np.array(coins), np.ones(len(coins), dtype=np.int64))
    other, same = sorted([share * flip, share * (1.0 - flip)])
    assume(same - other >= 1e-9)

    found = divergence(clones, same=same, other=other, epsilon=epsilon)

    # Sums of numbers up to e^5, each rounded to 1e-16.
    expected = enumerated(clones, same, other, epsilon)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(st.lists(chances, max_size=8))
@settings(max_examples=60, deadline=None)
def test_a_clone_count_is_the_sum_of_its_coins(coins: list[float]) -> None:
    found = clone_count(np.array(coins), np.ones(len(coins), dtype=np.int64))

    expected = by_subsets(coins)
    weights = np.zeros(expected.size)
    weights[found.start : found.start + found.weights.size] = found.weights
    np.testing.assert_allclose(weights, expected, rtol=1e-9, atol=1e-15)


def test_three_ways_to_add_coins_agree() -> None:
    rng = np.random.default_rng(3)
    levels = rng.uniform(0.1, 0.9, 41)
    counts = np.full(41, 30)

    few = clone_count(levels[:40], counts[:40])
    many = clone_count(levels, counts)
    # The same coins, one of which is too many for the first way.
    spread = clone_count(np.append(levels[:40], 1e-240), np.append(counts[:40], 1))
    padded = np.zeros(spread.weights.size)
    padded[few.start : few.start + few.weights.size] = few.weights

    # Products of up to 1200 rounded factors; what groups leave out is below 1e-240.
    np.testing.assert_allclose(padded, spread.weights, rtol=1e-9, atol=1e-230)
    assert many.weights @ np.arange(many.weights.size) == pytest.approx(
        counts @ levels - many.start
    )


def test_a_crowd_too_large_for_convolution_has_the_same_divergence() -> None:
    levels = np.linspace(0.2, 0.6, 50)
    large = clone_count(levels, np.full(50, 500))
    # 40 groups: neighbors are merged, which changes the variance by 1e-5 of itself.
    merged = clone_count(levels.reshape(25, 2).mean(axis=1), np.full(25, 1000))

    for epsilon in (0.0, 0.02, 0.05):
        one, two = (
            divergence(clones, same=0.7, other=0.3, epsilon=epsilon)
            for clones in (large, merged)
        )
        assert one == pytest.approx(two, rel=1e-4)


@given(st.floats(0.01, 0.99), st.integers(0, 300), st.floats(0.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_more_clones_hide_better_and_epsilon_helps(
    chance: float, count: int, epsilon: float
) -> None:
    fewer = clone_count(np.array([chance]), np.array([count]))
    more = clone_count(np.array([chance]), np.array([count + 10]))

    here = divergence(fewer, same=0.9, other=0.1, epsilon=epsilon)

    slack = 1.0 + 1e-9
    assert divergence(more, same=0.9, other=0.1, epsilon=epsilon) <= here * slack
    assert divergence(fewer, same=0.9, other=0.1, epsilon=epsilon + 0.1) <= here * slack


@pytest.mark.parametrize("epsilon", [50.0, 699.0, 701.0, 1e4])
def test_what_only_one_value_can_cause_shows_at_every_epsilon(epsilon: float) -> None:
    clones = clone_count(np.array([0.5]), np.array([3]))

    always = divergence(clones, same=1.0, other=0.0, epsilon=epsilon)
    rarely = divergence(clones, same=0.25, other=0.0, epsilon=epsilon)

    # All counts for x: never so under x', as the victim herself counts for x'.
    assert always == pytest.approx(sum(math.comb(3, c) / 8 / 2**c for c in range(4)))
    # If she may be silent, only four counts for x betray her.
    assert rarely == pytest.approx(0.25 / 8 / 8)
