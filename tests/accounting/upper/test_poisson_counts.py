import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, poisson

from shuffledp.accounting.upper.poisson_counts import poisson_counts


@given(
    people=st.integers(1, 400),
    gamma=st.floats(1e-4, 0.999),
    failure=st.floats(1e-9, 0.2),
)
def test_numbers_of_messages_are_stochastically_larger(
    people: int, gamma: float, failure: float
) -> None:
    counts = poisson_counts(np.array([gamma]), np.array([float(people)]), failure)

    mean = float(counts.means[0])
    if mean == 0.0:
        return
    # K is the largest number up to which odds allow that mean.
    limit = math.floor(people + 1 - mean * (1 - gamma) / gamma + 1e-6)
    below = np.arange(limit + 1)
    truncated = poisson.cdf(below, mean) / poisson.cdf(limit, mean)
    assert np.all(binom.cdf(below, people, gamma) <= truncated * (1 + 1e-9))


@given(
    people=st.lists(st.integers(1, 2_000), min_size=1, max_size=4),
    gamma=st.floats(1e-3, 0.99),
    failure=st.floats(1e-9, 1e-3),
)
def test_limits_are_reached_as_rarely_as_asked(
    people: list[int], gamma: float, failure: float
) -> None:
    numbers = np.array(people, dtype=np.float64)
    counts = poisson_counts(np.full(numbers.size, gamma), numbers, failure)

    missed, at_limit = 1.0, 0.0
    for size, mean in zip(people, counts.means.tolist(), strict=True):
        if mean > 0.0:
            limit = math.floor(size + 1 - mean * (1 - gamma) / gamma + 1e-6)
            missed *= float(poisson.cdf(limit, mean))
            weight = float(poisson.pmf(limit, mean) / poisson.cdf(limit, mean))
            at_limit = max(at_limit, weight)
    assert at_limit <= counts.at_limit * (1 + 1e-6)
    assert counts.at_limit <= failure / (1.0 - counts.beyond) * (1 + 1e-9)
    assert 1.0 - missed <= counts.beyond * (1 + 1e-6) + 1e-15


@pytest.mark.parametrize(("gamma", "least"), [(0.05, 0.95), (0.3, 0.9), (0.9, 0.8)])
def test_few_messages_are_lost(gamma: float, least: float) -> None:
    counts = poisson_counts(np.array([gamma]), np.array([2_000.0]), 1e-9)

    assert least * 2_000.0 * gamma <= counts.means[0] <= 2_000.0 * gamma


def test_nobody_sends_nothing() -> None:
    counts = poisson_counts(np.array([0.5, 0.0]), np.array([0.0, 10.0]), 1e-9)

    assert counts.means.tolist() == [0.0, 0.0]
    assert counts.at_limit == 0.0
