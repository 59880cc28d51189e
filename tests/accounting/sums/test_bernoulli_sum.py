import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.enumeration import coin_sum_distribution

from shuffledp.accounting.sums.bernoulli_sum import BernoulliSum, bernoulli_sum
from shuffledp.types import Floats


def full_distribution(total: BernoulliSum, size: int) -> Floats:
    """The weights on 0, 1, ..., size - 1; what lies outside is below 1e-17."""
    start, weights, _ = total.weights()
    padded = np.zeros(max(size, start + weights.size))
    padded[start : start + weights.size] = weights
    assert np.all(padded[size:] <= 1e-14)
    return padded[:size]


@pytest.mark.parametrize(
    ("low", "high"), [(0.01, 0.3), (0.2, 0.9), (0.4, 0.6), (1e-5, 0.05)]
)
def test_grouped_generating_function_agrees_with_the_direct_sum(
    low: float, high: float
) -> None:
    probabilities = np.random.default_rng(7).uniform(low, high, 5000)
    z = 1j * np.linspace(0.0, 0.2, 50)

    found = bernoulli_sum(probabilities, np.ones(5000, dtype=np.int64)).log_generating(
        z
    )

    v = np.expm1(z)
    exact = np.array([np.log1p(probabilities * step).sum() for step in v])
    # Documented: less than 1e-12 where the function is not tiny; 5000 terms round, too.
    visible = exact.real > -40.0
    assert visible.sum() >= 5
    assert np.abs(np.exp(found) - np.exp(exact))[visible].max() <= 5e-12


def test_grouped_weights_agree_with_direct_convolution() -> None:
    probabilities = np.random.default_rng(8).uniform(0.05, 0.6, 1000)

    total = bernoulli_sum(probabilities, np.ones(1000, dtype=np.int64))
    found = full_distribution(total, 1001)

    exact = coin_sum_distribution(probabilities)
    # Documented: 1e-15 of the largest; series and convolution add some rounding.
    assert np.abs(found - exact).max() <= 2e-13 * exact.max()
    assert total.mean == pytest.approx(probabilities.sum(), rel=1e-13)


@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(1, 30)), min_size=1, max_size=9)
)
def test_weights_agree_with_direct_convolution(drawn: list[tuple[float, int]]) -> None:
    probabilities = np.array([p for p, _ in drawn])
    counts = np.array([n for _, n in drawn])

    found = full_distribution(
        bernoulli_sum(probabilities, counts), int(counts.sum()) + 1
    )

    exact = coin_sum_distribution(np.repeat(probabilities, counts))
    # Documented: 1e-15 of the largest; up to 270 convolutions round, too.
    assert np.abs(found - exact).max() <= 1e-13


@pytest.mark.parametrize("levels", [3, 200])
def test_without_leaves_out_one_coin(levels: int) -> None:
    probabilities = np.linspace(0.1, 0.6, levels)
    counts = np.full(levels, 600 // levels)

    for victim in (0, levels // 2, levels - 1):
        rest = bernoulli_sum(probabilities, counts).without(
            float(probabilities[victim])
        )

        others = counts.copy()
        others[victim] -= 1
        exact = coin_sum_distribution(np.repeat(probabilities, others))
        # Removing a coin divides two characteristic functions: some digits are lost.
        found = full_distribution(rest, exact.size)
        assert np.abs(found - exact).max() <= 1e-12
        variance = float(others @ (probabilities * (1.0 - probabilities)))
        assert rest.variance == pytest.approx(variance, rel=1e-12)


def test_without_leaves_out_one_coin_of_a_group() -> None:
    # Far from 1/2, so that several of them share a group.
    probabilities = np.random.default_rng(9).uniform(0.01, 0.19, 400)

    total = bernoulli_sum(probabilities, np.ones(400, dtype=np.int64))
    found = full_distribution(total.without(float(probabilities[7])), 400)

    assert total.powers.any()
    exact = coin_sum_distribution(np.delete(probabilities, 7))
    # Removing a coin divides two characteristic functions: some digits are lost.
    assert np.abs(found - exact).max() <= 1e-12


def test_without_the_only_coin_nothing_is_left() -> None:
    total = bernoulli_sum(np.array([0.3]), np.array([1])).without(0.3)

    start, weights, _ = total.weights()

    assert start == 0
    # One transform of ones.
    assert weights[0] == pytest.approx(1.0, abs=1e-14)
    assert weights[1:].max() <= 1e-14


def test_two_coins_around_one_half_do_not_break_the_grouping() -> None:
    # Around 1/2 a group's generating function has a zero, where the series diverges.
    probabilities = np.concatenate([[0.497, 0.503], np.linspace(0.002, 0.013, 64)])

    total = bernoulli_sum(probabilities, np.ones(66, dtype=np.int64))
    found = full_distribution(total, 67)

    exact = coin_sum_distribution(probabilities)
    assert np.abs(found - exact).max() <= 1e-12


@pytest.mark.parametrize("num_coins", [10**4, 10**6, 10**8, 10**10])
def test_weights_of_many_coins_are_as_accurate_as_they_say(num_coins: int) -> None:
    coins = bernoulli_sum(np.array([0.1]), np.array([num_coins]))
    start, weights, error = coins.weights()

    n, p = mp.mpf(num_coins), mp.mpf(0.1)
    center = int(num_coins * 0.1) - start
    spread = int(math.sqrt(num_coins * 0.09))
    for place in (center - 5 * spread, center - spread, center, center + 2 * spread):
        x = mp.mpf(start + place)
        with mp.workdps(60):
            log_weight = (
                mp.loggamma(n + 1) - mp.loggamma(x + 1) - mp.loggamma(n - x + 1)
            )
            exact = mp.exp(log_weight + x * mp.log(p) + (n - x) * mp.log(1 - p))
        assert abs(weights[place] - exact) <= error
    assert error <= 1e-8 * weights.max()
