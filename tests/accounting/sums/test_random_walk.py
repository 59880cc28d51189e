"""Random walks beyond a threshold: between their ends, also where they share a table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import multiprecision as oracle

from shuffledp.accounting.sums.binomial import relative_error
from shuffledp.accounting.sums.random_walk import RandomWalks


@pytest.mark.parametrize("steps", [1, 2, 3, 16, 100, 10**4, 10**6, 10**8, 10**9])
def test_walk_excess_encloses_the_exact_expectation(steps: int) -> None:
    spread = np.sqrt(steps)
    allowed = float(relative_error(np.array([float(steps)]))[0])
    thresholds = np.array([z * spread for z in (3.0, 5.5, 12.0, 24.0, 36.0)])
    thresholds = np.append(thresholds[thresholds < steps], 0.97 * min(steps, spread))
    if steps > 10**8:
        thresholds = thresholds[:-1]

    lower, upper = RandomWalks(np.full(thresholds.size, float(steps))).excess(
        thresholds
    )

    for low, high, threshold in zip(lower, upper, thresholds, strict=True):
        exact = oracle.walk_excess(steps, float(threshold))
        assert low <= exact <= high
        # Peak minus tail is 1 / z^2 of either: so much accuracy is lost, no more.
        if threshold < steps / 2.0:
            loss = 10.0 * (1.0 + threshold**2 / steps)
            assert high - low <= loss * allowed * exact


@given(steps=st.integers(1, 60), share=st.floats(0.0, 1.2))
def test_walk_excess_of_short_walks_encloses_the_definition(
    steps: int, share: float
) -> None:
    threshold = share * steps

    lower, upper = RandomWalks(np.array([float(steps)])).excess(np.array([threshold]))

    exact = oracle.walk_excess_by_summing(steps, threshold)
    assert lower[0] <= exact <= upper[0]


@pytest.mark.parametrize("steps", [1.0, 2.0, 50.0])
def test_walk_excess_stays_an_upper_bound_just_below_the_longest_walk(
    steps: float,
) -> None:
    threshold = np.nextafter(steps, 0.0)

    lower, upper = RandomWalks(np.array([steps])).excess(np.array([threshold]))

    exact = oracle.walk_excess_by_summing(int(steps), float(threshold))
    assert exact > 0
    assert lower[0] <= exact <= upper[0]


def test_walks_of_few_lengths_are_what_each_is_alone() -> None:
    rng = np.random.default_rng(5)
    steps = rng.integers(1, 40, size=2_000).astype(np.float64)
    # Some beyond the longest walk, some at it, some at 0.
    thresholds = steps * rng.choice([0.0, 0.3, 0.8, 1.0, 1.1], size=steps.size)
    thresholds *= rng.uniform(0.9, 1.0, size=steps.size)

    together = RandomWalks(steps).excess(thresholds)

    alone = [RandomWalks(steps[[i]]).excess(thresholds[[i]]) for i in range(steps.size)]
    np.testing.assert_array_equal(together, np.squeeze(alone).T)
    for low, high, walk, threshold in zip(*together, steps, thresholds, strict=True):
        exact = oracle.walk_excess_by_summing(int(walk), float(threshold))
        assert low <= exact <= high
