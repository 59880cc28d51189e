import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.enumeration import coin_sum_distribution

from shuffledp.accounting.upper import cover_count as module
from shuffledp.accounting.upper.cover_count import (
    CountDistribution,
    cover_count,
    grouped_downward,
)
from shuffledp.types import Floats

# The arithmetic of the bound allows weights a relative rounding error of 1e-9.
ROUNDING = 1.0 + 1e-9

coins = st.lists(
    st.tuples(st.floats(1e-6, 1.0), st.integers(1, 12)), min_size=1, max_size=12
)


def tails(distribution: Floats) -> Floats:
    """P(X >= 0), P(X >= 1), ..."""
    reversed_tails: Floats = np.cumsum(distribution[::-1])[::-1]
    return reversed_tails


def spread_out(distribution: CountDistribution, size: int) -> Floats:
    """The weights on 0, 1, ..., size - 1."""
    weights = np.zeros(size)
    for value, weight in zip(distribution.values, distribution.weights, strict=True):
        weights[int(value)] += weight
    return weights


def assert_stochastically_smaller(
    coarse: CountDistribution, probabilities: Floats, counts: Floats
) -> None:
    exact = coin_sum_distribution(np.repeat(probabilities, counts.astype(int)))
    found = spread_out(coarse, exact.size)
    assert np.all(tails(found) <= tails(exact) * ROUNDING)
    # And nothing else is missing: what is not in the weights is counted as lost.
    assert abs(found.sum() + coarse.lost - 1.0) <= 2.0 * coarse.lost + 1e-9


@given(drawn=coins, tail=st.floats(1e-30, 1e-3))
def test_count_is_stochastically_smaller_than_the_coins(
    drawn: list[tuple[float, int]], tail: float
) -> None:
    probabilities = np.array([p for p, _ in drawn])
    counts = np.array([n for _, n in drawn])

    found = cover_count(probabilities, counts, tail=tail)

    assert_stochastically_smaller(found, probabilities, counts)


@settings(max_examples=60)
@given(drawn=coins, groups=st.integers(1, 4))
def test_grouping_is_stochastically_smaller_too(
    drawn: list[tuple[float, int]], groups: int
) -> None:
    probabilities, first = np.unique([p for p, _ in drawn], return_index=True)
    counts = np.array([n for _, n in drawn])[first]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_GROUPS", groups)
        patch.setattr(module, "_GROUPS", groups)
        means, members = grouped_downward(probabilities, counts)

    assert means.size <= max(groups, 1)
    assert members.sum() == counts.sum()
    coarse = cover_count(means, members, tail=1e-30)
    assert_stochastically_smaller(coarse, probabilities, counts)


def test_grouping_hardly_lowers_the_mean_of_many_budgets() -> None:
    probabilities = np.linspace(0.3, 0.9, 1000)
    counts = np.ones(1000, dtype=np.int64)

    means, members = grouped_downward(probabilities, counts)

    mean = float(means @ members)
    # A group is 0.01 wide: its means differ by 0.01^2 / 24 / p, 1e-5 of p on average.
    assert probabilities.sum() * (1.0 - 1e-4) <= mean < probabilities.sum()


@given(st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=40))
def test_unequal_coins_dominate_equal_ones_of_their_geometric_mean(
    probabilities: list[float],
) -> None:
    size = len(probabilities)
    geometric = math.exp(math.fsum(map(math.log, probabilities)) / size)

    equal = coin_sum_distribution(np.full(size, geometric))
    unequal = coin_sum_distribution(np.array(probabilities))

    # Forty convolutions of doubles are good to 1e-13.
    assert np.all(tails(equal) <= tails(unequal) * (1.0 + 1e-12) + 1e-300)


@given(
    weights=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40),
    tail=st.floats(1e-6, 0.4),
)
def test_trimming_loses_what_it_drops_and_at_most_two_tails(
    weights: list[float], tail: float
) -> None:
    total = max(math.fsum(weights), 1.0)
    whole = CountDistribution(5, np.array([*weights, 1.0]) / (total + 1.0), 0.0)

    trimmed = whole.trimmed(tail)

    kept = math.fsum(trimmed.weights)
    # Sums of at most 41 numbers below 1.
    assert abs(kept + trimmed.lost - math.fsum(whole.weights)) <= 1e-14
    assert trimmed.lost <= 2.0 * tail
    offset = trimmed.start - whole.start
    same = whole.weights[offset : offset + trimmed.weights.size]
    assert np.array_equal(trimmed.weights, same)


def test_sum_of_two_counts_adds_starts_and_losses() -> None:
    first = CountDistribution(4, np.array([0.25, 0.5]), 0.25)
    second = CountDistribution(6, np.array([0.5, 0.25]), 0.25)

    total = first.plus(second, tail=1e-30)

    assert (total.start, total.lost) == (10, 0.5)
    assert total.weights.tolist() == [0.125, 0.3125, 0.125]


def test_nobody_gives_no_cover_for_certain() -> None:
    empty = cover_count(np.zeros(0), np.zeros(0, dtype=np.int64), tail=1e-9)

    assert (empty.start, empty.lost, empty.weights.tolist()) == (0, 0.0, [1.0])


def test_equal_probabilities_of_many_levels_can_be_grouped() -> None:
    probabilities, counts = np.ones(100), np.ones(100, dtype=np.int64)

    means, members = grouped_downward(probabilities, counts)

    # Rounding the hundred probabilities downward costs 1e-12 each.
    assert 100.0 * (1.0 - 1e-10) <= means @ members <= 100.0
    assert members.tolist() == [100]
