"""Warnings of a rehearsal if levels depend on values."""

import numpy as np
import pytest
from oracles.means import mean_by

from shuffledp.population import Population
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics import level_dependence
from shuffledp.statistics.frequency.frequency_collection import collect_frequency
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.level_dependence import (
    dependence_of_categories,
    dependence_of_numbers,
    dependence_of_sets,
)
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.statistics.mean.rehearsal import collect_mean
from shuffledp.types import Floats, Ints

NUM_USERS = 20_000


def dependent(seed: int) -> tuple[Ints, Floats]:
    """Categories, where holders of number 2 have stricter levels; all levels differ."""
    rng = np.random.default_rng(seed)
    values = rng.choice(3, size=NUM_USERS, p=[0.5, 0.3, 0.2])
    levels = rng.uniform(1.01, 2.0, NUM_USERS) / np.where(values == 2, 2.0, 1.0)
    return values, levels


def bias_by_hand(slopes: Floats, numbers: Floats) -> float:
    away = slopes - slopes.mean()
    return float(np.mean(away * (numbers - numbers.mean())) / slopes.mean())


def test_sums_per_level_are_those_of_single_people() -> None:
    values, levels = dependent(1)
    people = Population.from_budgets(levels)

    found = dependence_of_categories(
        values,
        levels,
        num_categories=3,
        people=people,
        slopes=np.tanh(people.epsilons),
    )

    for category in range(3):
        expected = bias_by_hand(np.tanh(levels), 1.0 * (values == category))
        # Sums of 20,000 rounded numbers.
        assert found.bias[category] == pytest.approx(expected, rel=1e-9)
    assert found.suspected


def test_holders_of_each_level_say_what_single_people_do() -> None:
    rng = np.random.default_rng(4)
    held = rng.random((NUM_USERS, 3)) < 0.3
    levels = np.where(held[:, 1], 0.5, rng.choice([0.5, 2.0], size=NUM_USERS))
    people = Population.from_budgets(levels)
    holders = np.array([held[levels == level].sum(axis=0) for level in (0.5, 2.0)])

    found = dependence_of_sets(holders, people=people, slopes=np.array([0.3, 1.0]))

    for item in range(3):
        slopes = np.where(levels == 0.5, 0.3, 1.0)
        expected = bias_by_hand(slopes, held[:, item].astype(np.float64))
        # Sums of 20,000 rounded numbers.
        assert found.bias[item] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert found.suspected
    assert found.largest_bias == found.bias[1]


def test_a_hundred_groups_say_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    values, levels = dependent(2)
    people = Population.from_budgets(levels)
    slopes = np.tanh(people.epsilons)
    exact, grouped = (
        dependence_of_categories(
            values, levels, num_categories=3, people=people, slopes=slopes
        )
        for cells in (10**7, 10**3)
        if monkeypatch.setattr(level_dependence, "MAX_CELLS", cells) is None
    )

    # Within a group of 1% of the people, slopes hardly differ.
    np.testing.assert_allclose(grouped.bias, exact.bias, rtol=0.02)
    assert grouped.suspected


def test_numbers_far_from_zero_keep_their_digits() -> None:
    values, levels = dependent(3)
    people = Population.from_budgets(levels)
    near, far = (
        dependence_of_numbers(
            values.astype(np.float64) + shift,
            levels,
            people=people,
            slopes=np.tanh(people.epsilons),
        )
        for shift in (0.0, 1e9)
    )

    expected = bias_by_hand(np.tanh(levels), values.astype(np.float64))
    # Adding 1e9 leaves seven digits of the values.
    assert near.largest_bias == pytest.approx(expected, rel=1e-9)
    assert far.largest_bias == pytest.approx(expected, rel=1e-4)


def test_independent_levels_are_rarely_suspected() -> None:
    rng = np.random.default_rng(4)
    suspected = 0
    for _ in range(100):
        levels = rng.choice([0.5, 1.0, 2.0], size=1000)
        people = Population.from_budgets(levels)
        found = dependence_of_categories(
            rng.integers(5, size=1000),
            levels,
            num_categories=5,
            people=people,
            slopes=np.tanh(people.epsilons),
        )
        suspected += found.suspected

    # Each at most one in 1,000: three or more, one time in 6,000.
    assert suspected <= 2


def test_agnostic_estimates_are_off_by_what_is_predicted() -> None:
    values, levels = dependent(5)
    levels, rng = np.round(levels), np.random.default_rng(105)
    protocol = Frequency(3)
    found = collect_frequency(values, levels, protocol=protocol, delta=1e-6, rng=rng)

    off = []
    for _ in range(100):
        seen = shuffle(protocol.randomize(values, levels, rng=rng), rng=rng)
        off.append(protocol.estimate(seen, found.people).value[2] - found.truth[2])

    assert found.dependence is not None
    error = found.estimate.standard_error[2] / np.sqrt(len(off))
    # Five standard errors: one false alarm in two million.
    assert abs(np.mean(off) - found.dependence.bias[2]) < 5 * error


def test_stratified_rehearsals_need_no_warning() -> None:
    values, levels = dependent(7)
    levels, rng = np.round(levels), np.random.default_rng(107)

    shares = collect_frequency(
        values, levels, protocol=Frequency(3, "stratified"), delta=1e-6, rng=rng
    )
    mean = collect_mean(
        values.astype(np.float64),
        levels,
        protocol=Mean(0.0, 2.0, mode="stratified"),
        delta=1e-6,
        rng=rng,
    )

    assert shares.dependence is None
    assert mean.dependence is None


def test_noise_that_follows_every_value_alike_does_not_mind() -> None:
    values, levels = dependent(8)

    found = collect_mean(
        values.astype(np.float64),
        np.round(levels),
        protocol=mean_by("laplace", 0.0, 2.0),
        delta=1e-6,
        rng=np.random.default_rng(108),
    )

    assert found.dependence is not None
    assert found.dependence.largest_bias == pytest.approx(0.0, abs=1e-9)
    assert not found.dependence.suspected
