"""Messages of several numbers: rows that stay together, and columns that do not."""

import itertools

import numpy as np
import pytest
from oracles.reports import reports as reports_of
from scipy.stats import chi2

from shuffledp import InvalidInputError, ShuffledReports, SystemRandom, shuffle
from shuffledp.randomness import Rng
from shuffledp.reports import Arrangement
from shuffledp.types import Floats, Ints, Mode

MODES: list[Mode] = ["agnostic", "stratified"]

GENERATORS = [np.random.default_rng(19), SystemRandom()]
DRAWS = 12_000
# Each of these tests calls a fair shuffler unfair with probability 1e-6.
FALSE_ALARM = 1e-6


def levels_of(shuffled: ShuffledReports) -> Floats:
    assert shuffled.levels is not None
    return shuffled.levels


def columns_of(n: int, width: int) -> Ints:
    """Every entry says whose it is, and where: person + n * column."""
    entries: Ints = np.arange(n)[:, None] + n * np.arange(width)
    return entries


@pytest.mark.parametrize("rng", GENERATORS, ids=["numpy", "system"])
@pytest.mark.parametrize("mode", MODES)
def test_rows_move_together(rng: Rng, mode: Mode) -> None:
    reports = reports_of(columns_of(500, 3), np.arange(500.0), mode)

    shuffled = shuffle(reports, rng=rng)

    people = shuffled.messages[:, 0]
    assert np.array_equal(shuffled.messages, people[:, None] + 500 * np.arange(3))
    assert np.array_equal(np.sort(people), np.arange(500))
    assert np.array_equal(levels_of(shuffled), people) == (mode == "stratified")
    assert shuffled.arrangement == "rows"


@pytest.mark.slow
@pytest.mark.parametrize("rng", GENERATORS, ids=["numpy", "system"])
def test_columns_and_levels_have_independent_uniform_orders(rng: Rng) -> None:
    reports = reports_of(columns_of(3, 2), np.arange(3.0), arrangement="columns")
    orders = list(itertools.permutations(range(3)))
    seen = dict.fromkeys(itertools.product(orders, repeat=3), 0)

    for _ in range(DRAWS):
        shuffled = shuffle(reports, rng=rng)
        first, second = (shuffled.messages % 3).T.tolist()
        levels = levels_of(shuffled).astype(int).tolist()
        seen[tuple(first), tuple(second), tuple(levels)] += 1

    assert len(seen) == 216
    assert shuffled.arrangement == "columns"
    expected = DRAWS / 216
    statistic = sum((count - expected) ** 2 / expected for count in seen.values())
    assert statistic < chi2.isf(FALSE_ALARM, 215)


@pytest.mark.slow
@pytest.mark.parametrize("rng", GENERATORS, ids=["numpy", "system"])
def test_linked_columns_have_independent_uniform_orders_within_levels(
    rng: Rng,
) -> None:
    # Two people at each level, level after level: (2! 2!)^2 orders of the two columns.
    levels = np.array([2.0, 1.0, 2.0, 1.0])
    reports = reports_of(columns_of(4, 2), levels, "stratified", "columns")
    seen: dict[object, int] = {}

    for _ in range(DRAWS):
        shuffled = shuffle(reports, rng=rng)
        people = shuffled.messages % 4
        assert levels_of(shuffled).tolist() == [1.0, 1.0, 2.0, 2.0]
        assert np.all(levels[people] == levels_of(shuffled)[:, None])
        key = tuple(people.ravel().tolist())
        seen[key] = seen.get(key, 0) + 1

    assert len(seen) == 16
    expected = DRAWS / 16
    statistic = sum((count - expected) ** 2 / expected for count in seen.values())
    assert statistic < chi2.isf(FALSE_ALARM, 15)


@pytest.mark.parametrize("mode", MODES)
def test_no_entry_is_lost_among_many_people_and_levels(mode: Mode) -> None:
    n, rng = 3_000, np.random.default_rng(2)
    levels = rng.integers(0, 400, n) / 100.0
    reports = reports_of(columns_of(n, 4), levels, mode, "columns")

    shuffled = shuffle(reports, rng=rng)

    assert np.array_equal(
        np.sort(shuffled.messages, axis=0), np.sort(reports.messages, axis=0)
    )
    assert np.array_equal(np.sort(levels_of(shuffled)), np.sort(levels))
    owners = levels[shuffled.messages % n]
    kept = bool(np.all(owners == levels_of(shuffled)[:, None]))
    assert kept == (mode == "stratified")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("arrangement", ["rows", "columns"])
@pytest.mark.parametrize("n", [0, 1])
def test_short_batches_of_rows_pass_unchanged(
    n: int, mode: Mode, arrangement: Arrangement
) -> None:
    bits = np.ones((n, 4), dtype=np.bool_)

    shuffled = shuffle(
        reports_of(bits, np.ones(n), mode, arrangement), rng=SystemRandom()
    )

    assert shuffled.messages.dtype == np.bool_
    assert shuffled.messages.shape == (n, 4)
    assert levels_of(shuffled).shape == (n,)


def test_flat_messages_have_one_column() -> None:
    levels = np.repeat([1.0, 2.0], 20)
    reports = reports_of(np.arange(40), levels, "stratified", "columns")

    shuffled = shuffle(reports, rng=np.random.default_rng(1))

    assert shuffled.messages.shape == (40,)
    assert np.array_equal(levels[shuffled.messages], levels_of(shuffled))
    assert np.array_equal(np.sort(shuffled.messages), np.arange(40))
    assert not np.array_equal(shuffled.messages, np.arange(40))


def test_columns_need_levels() -> None:
    with pytest.raises(InvalidInputError, match="Expected levels"):
        shuffle(
            reports_of(np.arange(4), None, arrangement="columns"), rng=SystemRandom()
        )


@pytest.mark.parametrize("rng", GENERATORS, ids=["numpy", "system"])
@pytest.mark.parametrize("mode", MODES)
def test_columns_are_shuffled_within_cohorts_only(rng: Rng, mode: Mode) -> None:
    fixed, n = np.random.default_rng(5), 600
    cohorts = fixed.integers(3, size=n)
    levels = fixed.permutation(np.arange(n) % 2.0)
    messages = columns_of(n, 4)

    shuffled = shuffle(reports_of(messages, levels, mode, "columns", cohorts), rng=rng)

    assert shuffled.cohorts is not None
    assert np.array_equal(shuffled.cohorts, np.sort(cohorts))
    owners = shuffled.messages % n
    assert np.all(cohorts[owners] == shuffled.cohorts[:, None])
    assert np.array_equal(np.sort(shuffled.messages, axis=0), np.sort(messages, axis=0))
    for cohort in range(3):
        before, after = cohorts == cohort, shuffled.cohorts == cohort
        found = levels_of(shuffled)[after]
        assert np.array_equal(np.sort(levels[before]), np.sort(found))
    linked = bool(np.all(levels[owners] == levels_of(shuffled)[:, None]))
    assert linked == (mode == "stratified")
    # Two columns have the same owner in a row with chance 1/100 at the most.
    assert np.mean(owners[:, 0] == owners[:, 1]) < 0.05


@pytest.mark.slow
def test_every_order_of_a_column_is_equally_likely_and_columns_are_independent() -> (
    None
):
    rng = np.random.default_rng(6)
    bits = np.array([[True, True], [False, False], [False, False]])
    cohorts: Ints = np.full(3, 7)
    reports = reports_of(bits, np.ones(3), "agnostic", "columns", cohorts)
    seen = np.zeros((3, 3))

    for _ in range(9_000):
        first, second = shuffle(reports, rng=rng).messages.argmax(axis=0)
        seen[first, second] += 1

    # Chi-square with 8 degrees of freedom: a false alarm in 1e-6 of all seeds.
    assert ((seen - 1000.0) ** 2 / 1000.0).sum() < 42.8
