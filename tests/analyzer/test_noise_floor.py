"""Counts without noise are found; counts with it hardly ever are."""

import math

import numpy as np
import pytest

from shuffledp.analyzer.noise_floor import noise_p_value
from shuffledp.errors import InvalidInputError


def test_p_values_are_those_of_a_sum() -> None:
    mean, count = 7.5, 2
    tail = sum(math.exp(-mean) * mean**x / math.factorial(x) for x in range(count + 1))

    found = noise_p_value(np.array([50, count, 60]), np.array([7.5, 7.5, 7.5]))

    assert found == pytest.approx(3.0 * tail, rel=1e-12)


@pytest.mark.slow
def test_honest_counts_are_seldom_small_whatever_people_answer() -> None:
    rng = np.random.default_rng(5)
    means = np.array([20.0, 40.0, 80.0, 5.0])
    answers = np.array([0, 0, 1_000, 2])

    values = np.array(
        [noise_p_value(answers + rng.poisson(means), means) for _ in range(20_000)]
    )

    for level in (0.5, 0.1, 0.01):
        # Five standard deviations of 20,000 draws.
        most = level + 5.0 * math.sqrt(level * (1.0 - level) / values.size)
        assert np.mean(values <= level) <= most
    assert values.max() == 1.0


def test_counts_of_no_noise_may_be_anything() -> None:
    assert noise_p_value(np.array([0, 0]), np.zeros(2)) == 1.0


@pytest.mark.parametrize(
    ("counts", "means"),
    [
        ([1, 2], [1.0]),
        ([], []),
        ([[1]], [[1.0]]),
        ([1], [-1.0]),
        ([1], [math.nan]),
        ([1], [math.inf]),
    ],
)
def test_other_means_are_refused(counts: list[int], means: list[float]) -> None:
    with pytest.raises(InvalidInputError):
        noise_p_value(np.array(counts, np.int64), np.array(means))


def test_counts_may_be_of_any_size() -> None:
    huge = np.array([2**70, 100], dtype=object)

    assert noise_p_value(huge, np.array([90.0, 90.0])) > 0.01
