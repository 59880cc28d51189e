"""Hashed buckets, against all outcomes of hashing, dense least squares, and simulation."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import shuffledp as sdp
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.statistics.counts.hashed_counts import hashed_counts
from shuffledp.statistics.questionnaire.hashed.hashed_choice_estimate import (
    HashedChoiceEstimate,
)
from shuffledp.statistics.questionnaire.hashed.hashed_rows import HashedRows, best_rows
from shuffledp.statistics.questionnaire.question import GroupCounts, QuestionCounts

WISH = sdp.Wish(targets={1.0: 10_000})


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
    runs, rng = 300, np.random.default_rng(11)
    people = np.round(20_000 / np.arange(1.0, 4_001.0) / 8.87)
    watched = [0, 3, 40, 500, 3_999]
    covered, scaled, errors = np.zeros(5), [], []
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
    assert covered.sum() >= 0.95 * 5 * runs - 42
    # Means and variances of 1,500 nearly normal numbers, to five standard deviations.
    assert abs(np.mean(scaled)) < 5.0 / math.sqrt(5 * runs)
    assert abs(np.var(scaled) - 1.0) < 5.0 * math.sqrt(2.5 / (5 * runs))
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


def test_buckets_are_uniform_and_unrelated_between_rows_keys_and_sizes() -> None:
    rows = HashedRows(60_000, num_rows=3, bits=6)
    every = np.arange(60_000)

    places = rows.buckets(every)

    others = [
        places[:, 0],
        places[:, 1],
        replace(rows, key=1).buckets(every)[:, 2],
        replace(rows, num_rows=4).buckets(every)[:, 2],
        replace(rows, num_categories=60_001).buckets(every)[:, 2],
    ]
    for other in others:
        cells = np.bincount(64 * places[:, 2] + other, minlength=4_096)
        mean = 60_000 / 4_096
        # Chi square of 4,095 degrees of freedom, to five standard deviations.
        assert abs(((cells - mean) ** 2 / mean).sum() - 4_095) < 5 * math.sqrt(8_190)
    assert rows.buckets(np.array([60_000])).tolist() == [[64, 64, 64]]


@pytest.mark.slow
def test_the_certificate_is_that_of_counts_of_the_hashed_buckets() -> None:
    rows = HashedRows(5_000, num_rows=3, bits=7)
    question = sdp.HashedChoiceQuestion("page", 5_000, rows=rows)
    noise, people = (
        (sdp.PoissonNoise(140.0),) * 3,
        sdp.Population.from_counts({1.0: 900}),
    )
    asked = sdp.Questionnaire((question,), noise, (1.0,), (1.0,), honest=900)
    plain = sdp.Counts(
        tuple(sdp.CountGroup(128, 1, each) for each in noise),
        (1.0,),
        (1.0,),
        honest=900,
    )

    certified = sdp.account(asked, people, delta=1e-6)
    of_counts = sdp.account(plain, people, delta=1e-6)

    own, other = certified.levels[0], of_counts.levels[0]
    assert own.epsilon_central == other.epsilon_central
    assert own.epsilon_central_lower == other.epsilon_central_lower
    assert sdp.verify(certified.to_dict()).holds
    # The hash functions are part of what is asked: reports under others are refused.
    changed = replace(question, key=1, rows=replace(rows, key=1))
    assert replace(asked, questions=(changed,)).identity != asked.identity


def test_a_collection_counts_those_who_answer() -> None:
    rows = HashedRows(5_000, num_rows=3, bits=7)
    question = sdp.HashedChoiceQuestion("page", 5_000, rows=rows)
    noise, n = (sdp.PoissonNoise(100.0),) * 3, 3_000
    asked = sdp.Questionnaire((question,), noise, (1.0,), (1.0,), honest=n)
    answers = np.repeat([4_321, 77, 5_000], [1_500, 500, 1_000])
    rng = np.random.default_rng(8)

    reports = asked.randomize({"page": answers}, np.full(n, 1.0), rng=rng)
    found = asked.estimate(
        sdp.shuffle(reports, rng=rng), sdp.Population.from_counts({1.0: n})
    )["page"]

    assert isinstance(found, HashedChoiceEstimate)
    assert found.frequent.tolist() == [77, 4_321]
    for category, people in ((4_321, 1_500), (77, 500)):
        error = found.standard_error[category]
        assert abs(found.value[category] - people) < 5.0 * error
        assert error < 8.0
    assert found.labels[77] == "77"
    assert math.isinf(found.manipulation(9)[0])


def test_rows_have_the_smallest_error_of_all_that_are_small_enough() -> None:
    terms: dict[str, Any] = {
        "num_users": 20_000,
        "false_categories": 0.05,
    }
    chosen = best_rows(30_000, variance=36.0, messages=30.0, key=0, **terms)

    assert chosen is not None
    error = chosen.ranked_error(36.0 * chosen.num_rows, **terms)
    for num_rows, bits in itertools.product(range(1, 9), range(6, 15)):
        rows, noise = HashedRows(30_000, num_rows, bits), 36.0 * num_rows
        messages = num_rows + num_rows * rows.row_size * noise / 20_000 / 0.95
        if messages <= 30.0:
            assert rows.ranked_error(noise, **terms) >= error
    assert best_rows(30_000, variance=36.0, messages=1.1, key=0, **terms) is None


@pytest.mark.slow
def test_a_plan_keeps_targets_and_its_limit_of_messages() -> None:
    wish = sdp.Wish(targets={0.5: 2_000, 1.0: 8_000}, absent=1_000)

    design = hashed_counts(wish, buckets=20_000, max_messages=60)

    assert design.hashed is not None
    assert design.messages <= 60.0
    for level in design.guarantee.levels:
        assert level.epsilon_central <= (level.target or 0.0)
    assert design.even_error is not None
    assert design.even_error < design.standard_error
    people = sdp.Population.from_counts(dict(wish.targets or {}))
    again = sdp.account(design.hashed, people, delta=1e-6, absent=1_000)
    assert [level.epsilon_central for level in again.levels] == [
        level.epsilon_central for level in design.guarantee.levels
    ]


def test_what_cannot_be_hashed_is_refused() -> None:
    with pytest.raises(CertificationError, match="not hashed"):
        hashed_counts(WISH, buckets=64, max_messages=16)
    with pytest.raises(CertificationError, match="messages per person"):
        hashed_counts(sdp.Wish(targets={1.0: 100}), buckets=10**6, max_messages=2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: HashedRows(64, 1, 6),
        lambda: HashedRows(2**22 + 1, 1, 6),
        lambda: HashedRows(1_000, 0, 6),
        lambda: HashedRows(1_000, 9, 6),
        lambda: HashedRows(1_000, 2, 5),
        lambda: HashedRows(2**22, 2, 21),
        lambda: HashedRows(1_000, 2, 6, key=-1),
        lambda: HashedRows(1_000, 2, 10),
        lambda: sdp.HashedChoiceQuestion("", 1_000),
        lambda: sdp.HashedChoiceQuestion("page", 64),
        lambda: sdp.HashedChoiceQuestion("page", 1_000, messages=0.0),
        lambda: sdp.HashedChoiceQuestion("page", 1_000, messages=math.nan),
        lambda: sdp.HashedChoiceQuestion("page", 1_000, false_categories=0.0),
        lambda: sdp.HashedChoiceQuestion("page", 1_000, false_categories=1.5),
        lambda: sdp.HashedChoiceQuestion("page", 1_000, key=1.5),  # type: ignore[arg-type]
        lambda: sdp.HashedChoiceQuestion("page", 1_000, rows=7),  # type: ignore[arg-type]
        lambda: sdp.HashedChoiceQuestion("page", 1_000, rows=HashedRows(999, 2, 6)),
        lambda: sdp.HashedChoiceQuestion(
            "page", 1_000, rows=HashedRows(1_000, 2, 6, 1)
        ),
        lambda: sdp.HashedChoiceQuestion("page", 1_000).groups,
        lambda: sdp.HashedChoiceQuestion("page", 1_000).adapted(0, noise=4.0),
        lambda: sdp.HashedChoiceQuestion("page", 1_000).adapted(10, noise=math.inf),
        lambda: sdp.HashedChoiceQuestion("page", 1_000).adapted(10, noise=-1.0),
    ],
)
def test_terms_of_no_sense_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidInputError):
        make()


@pytest.mark.parametrize("answers", [[0.5], [-1], [1_001], [[1, 2]], ["3"], [None]])
def test_answers_that_are_no_categories_are_refused(answers: Any) -> None:
    question = sdp.HashedChoiceQuestion("page", 1_000, rows=HashedRows(1_000, 2, 6))

    with pytest.raises(InvalidInputError):
        question.encode(answers, rng=np.random.default_rng(1))
