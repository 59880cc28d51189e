"""Estimates from hashed rows, against all outcomes, dense least squares, simulation."""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import shuffledp as sdp
from shuffledp.statistics.questionnaire.hashed.hashed_choice_estimate import (
    HashedChoiceEstimate,
)
from shuffledp.statistics.questionnaire.hashed.hashed_rows import HashedRows
from shuffledp.statistics.questionnaire.question import GroupCounts, QuestionCounts


@dataclass(frozen=True)
class FixedRows:
    """Rows whose buckets are given, shape (categories, rows)."""

    places: NDArray[np.int64]
    row_size: int

    @property
    def num_categories(self) -> int:
        return len(self.places)

    def buckets(self, categories: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.places[categories]


def counted(
    values: list[NDArray[np.float64]], variance: float, num_users: int
) -> QuestionCounts:
    groups = tuple(GroupCounts(value, variance, 0.0, 1) for value in values)
    return QuestionCounts(groups, num_users, 0.0, 0.0)


def exact_counts(rows: Any, people: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    places = rows.buckets(np.arange(people.size))
    return [
        np.bincount(own, people, rows.row_size).astype(np.float64) for own in places.T
    ]


@pytest.mark.parametrize("num_rows", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_bias_and_variance_are_those_of_all_outcomes_of_hashing(num_rows: int) -> None:
    people, size = np.array([5.0, 2.0, 1.0]), 3

    estimates = []
    for places in itertools.product(range(size), repeat=3 * num_rows):
        rows: Any = FixedRows(np.array(places).reshape(3, num_rows), size)
        counts = counted(exact_counts(rows, people), 0.0, 8)
        estimates.append(HashedChoiceEstimate.of(counts, rows, 0.05).value)

    assert np.allclose(np.mean(estimates, axis=0), people, atol=1e-12)
    others = (people**2).sum() - people**2
    wanted = others / (size - 1) / num_rows
    assert np.allclose(np.var(estimates, axis=0), wanted, rtol=1e-12)


def test_frequent_categories_are_taken_out_as_by_dense_least_squares() -> None:
    rows = HashedRows(1_000, num_rows=4, bits=6, key=2)
    rng = np.random.default_rng(3)
    people = np.zeros(1_000)
    people[[17, 400, 801]] = 4_000.0, 900.0, 300.0
    people += rng.poisson(0.3, 1_000)
    values = [value + rng.normal(0.0, 5.0, 64) for value in exact_counts(rows, people)]

    found = HashedChoiceEstimate.of(counted(values, 25.0, 5_500), rows, 0.05)

    assert found.frequent.tolist() == [17, 400, 801]
    design = np.zeros((1_000, 4 * 64))
    for category, places in enumerate(rows.buckets(np.arange(1_000))):
        design[category, 64 * np.arange(4) + places] = 1.0
    frequent = design[found.frequent]
    used = frequent.any(axis=0).reshape(4, 64)
    means = [value[~own].mean() for value, own in zip(values, used, strict=True)]
    above = np.concatenate(values) - np.repeat(means, 64)
    fitted = np.linalg.lstsq(frequent.T, above, rcond=None)[0]
    # A ridge of 1e-9 keeps the system regular.
    assert np.allclose(found.value[found.frequent], fitted, atol=1e-4)
    left = (np.concatenate(values) - frequent.T @ fitted).reshape(4, 64)
    centered = (left - left.mean(axis=1, keepdims=True)).ravel()
    hidden = np.eye(256) - np.linalg.pinv(frequent) @ frequent
    for category in np.flatnonzero(people < 100.0)[::37]:
        own = design[category]
        share = own @ hidden @ own
        assert found.value[category] == pytest.approx(
            own @ centered / share * 64 / 63, abs=1e-4
        )
    # Some lie with a frequent one, and have larger errors.
    assert found.standard_error.max() > 1.05 * np.median(found.standard_error)


@pytest.mark.parametrize(
    ("hidden", "frequent"),
    [
        # Two with the same buckets.
        ({5: (7, 7, 7, 7), 9: (7, 7, 7, 7)}, {9: 5_000.0}),
        # Buckets of 5 are those of 6 and 7 together, less those of 9: of four counts,
        # three sums are known.
        (
            {9: (0, 0, 0, 0), 6: (1, 0, 1, 0), 7: (0, 1, 0, 1), 5: (1, 1, 1, 1)},
            {9: 8_000.0, 6: 4_000.0, 7: 300.0},
        ),
    ],
)
def test_of_a_category_hidden_by_frequent_ones_nothing_is_known(
    hidden: dict[int, tuple[int, ...]], frequent: dict[int, float]
) -> None:
    rng = np.random.default_rng(1)
    places = rng.integers(8, 64, (200, 4))
    people = np.full(200, 2.0)
    for category, own in hidden.items():
        places[category] = own
    for category, count in frequent.items():
        people[category] = count
    rows: Any = FixedRows(places, 64)
    values = [value + rng.normal(0.0, 3.0, 64) for value in exact_counts(rows, people)]

    found = HashedChoiceEstimate.of(
        counted(values, 9.0, round(people.sum())), rows, 0.05
    )

    unknown = np.flatnonzero(np.isinf(found.standard_error))
    assert unknown.tolist() == sorted(hidden)
    assert np.all(np.isnan(found.value[unknown]))
    known = np.setdiff1d(np.arange(200), unknown)
    off = found.value[known] - people[known]
    # Nearly 200 normal numbers: a false alarm in 9,000.
    assert np.all(np.abs(off) < 5.0 * found.standard_error[known])


@pytest.mark.slow
def test_intervals_cover_and_errors_are_those_stated() -> None:
    runs, rng = 150, np.random.default_rng(11)
    people = np.round(20_000 / np.arange(1.0, 4_001.0) / 8.87)
    watched = [0, 1, 3, 12, 40, 150, 500, 1_200, 2_500, 3_999]
    covered, scaled, errors = np.zeros(10), [], []
    for run in range(runs):
        rows = HashedRows(4_000, num_rows=4, bits=8, key=run)
        values = [
            value + rng.poisson(150.0, 256) - 150.0
            for value in exact_counts(rows, people)
        ]
        found = HashedChoiceEstimate.of(
            counted(values, 150.0, int(people.sum())), rows, 0.05
        )
        ends = found.interval()[watched]
        covered += (ends[:, 0] <= people[watched]) & (people[watched] <= ends[:, 1])
        off = found.value[watched] - people[watched]
        scaled.append(off / found.standard_error[watched])
        errors.append(np.median(found.standard_error))

    # Of 1,500 intervals, five standard deviations are 42: a false alarm in 1.7 million.
    assert covered.sum() >= 0.95 * 10 * runs - 42
    # Means and variances of 1,500 nearly normal numbers, to five standard deviations.
    assert abs(np.mean(scaled)) < 5.0 / math.sqrt(10 * runs)
    assert abs(np.var(scaled) - 1.0) < 5.0 * math.sqrt(2.5 / (10 * runs))
    # Collisions are part of the stated error, which a plan predicts about.
    rows = HashedRows(4_000, num_rows=4, bits=8)
    predicted = rows.ranked_error(150.0, 20_000, false_categories=0.05)
    assert np.mean(errors) == pytest.approx(predicted, rel=0.2)
    assert predicted > 2.0 * math.sqrt(150.0 / 4)


@pytest.mark.slow
def test_the_error_of_even_counts_is_predicted() -> None:
    rng, off = np.random.default_rng(4), []
    for run in range(40):
        rows = HashedRows(3_000, num_rows=2, bits=6, key=run)
        people = rng.multinomial(6_000, np.full(3_000, 1 / 3_000)).astype(float)
        values = [
            value + rng.normal(0.0, 4.0, 64) for value in exact_counts(rows, people)
        ]
        found = HashedChoiceEstimate.of(counted(values, 16.0, 6_000), rows, 0.05)
        off.append(np.mean((found.value - people) ** 2))

    predicted = HashedRows(3_000, 2, 6).even_error(16.0, 6_000)
    # Counts of 128 buckets decide a run's error: 40 runs show it to 2%, in a deviation.
    assert math.sqrt(np.mean(off)) == pytest.approx(predicted, rel=0.1)


@pytest.mark.slow
def test_categories_that_no_person_holds_are_recognized_as_rarely_as_stated() -> None:
    rng, runs, alpha, printed = np.random.default_rng(5), 200, 0.3, 0
    people = np.zeros(3_000)
    people[:20] = 40.0 * np.arange(1.0, 21.0)
    for run in range(runs):
        rows = HashedRows(3_000, num_rows=3, bits=9, key=run)
        values = [
            value + rng.poisson(100.0, 512) - 100.0
            for value in exact_counts(rows, people)
        ]
        found = HashedChoiceEstimate.of(counted(values, 100.0, 8_400), rows, alpha)
        printed += int((found.frequent >= 20).sum())
        assert found.frequent.size >= 5

    # The mean is at most alpha: five standard deviations of a Poisson number above it.
    assert printed <= runs * alpha + 5.0 * math.sqrt(runs * alpha)


def test_a_plan_of_questions_expects_the_collisions_of_even_counts() -> None:
    rows = HashedRows(20_000, num_rows=2, bits=6)
    question = sdp.HashedChoiceQuestion("page", 20_000, rows=rows)

    # As plans do: the same number of people in all buckets.
    found = question.estimate(counted([np.full(64, 500.0)] * 2, 100.0, 32_000))

    # 32,000 people are more than categories: squares add up to n^2 / k at least.
    wanted = math.sqrt((100.0 + 32_000**2 / 20_000 / 64) / 2) * 64 / 63
    assert np.allclose(found.standard_error, wanted, rtol=1e-9)
    assert wanted < 1.02 * rows.even_error(100.0, 32_000)


def test_possible_numbers_are_the_nearest_ones_of_categories_that_are_known() -> None:
    rows = HashedRows(1_000, num_rows=4, bits=6, key=2)
    people = np.zeros(1_000)
    people[[17, 400]] = 4_000.0, 900.0
    rng = np.random.default_rng(3)
    values = [value + rng.normal(0.0, 9.0, 64) for value in exact_counts(rows, people)]
    raw = HashedChoiceEstimate.of(counted(values, 81.0, 5_000), rows, 0.05)

    nearest, complete = raw.consistent(), raw.consistent(complete=True)

    assert nearest.value.min() == 0.0
    assert nearest.value.sum() <= 5_000 + 1e-6
    assert complete.value.sum() == pytest.approx(5_000, rel=1e-12)
    # A projection onto a convex set that holds the truth moves towards it.
    assert np.sum((nearest.value - people) ** 2) < np.sum((raw.value - people) ** 2)
    assert nearest.interval().min() >= 0.0
    # It is one point of the set that no other candidate is nearer than: a level is taken
    # off all numbers that stay above 0.
    above = nearest.value > 0.0
    taken = (raw.value - nearest.value)[above]
    assert np.ptp(taken) < 1e-6
    assert np.all(raw.value[~above] <= taken.max() + 1e-6)


def test_of_unknown_categories_possible_numbers_are_unknown_too() -> None:
    places = np.random.default_rng(1).integers(8, 64, (200, 4))
    places[[5, 9]] = 7
    people = np.full(200, 2.0)
    people[9] = 5_000.0
    rows: Any = FixedRows(places, 64)
    values = [
        value + np.random.default_rng(2).normal(0.0, 3.0, 64)
        for value in exact_counts(rows, people)
    ]
    raw = HashedChoiceEstimate.of(counted(values, 9.0, 5_398), rows, 0.05)

    nearest = raw.consistent(complete=True)

    assert np.flatnonzero(np.isnan(nearest.value)).tolist() == [5, 9]
    # What the unknown ones have is not shared among the others.
    assert np.nansum(nearest.value) < 5_398 - 4_000
