"""Messages of several numbers: rows that stay together, and columns that do not."""

import itertools

import numpy as np
import pytest
from scipy.stats import chi2

from shuffledp import InvalidInputError, Reports, ShuffledReports, SystemRandom, shuffle
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints

GENERATORS = [np.random.default_rng(19), SystemRandom()]
DRAWS = 12_000
# Each of these tests calls a fair shuffler unfair with probability 1e-6.
FALSE_ALARM = 1e-6


def columns_of(n: int, width: int) -> Ints:
    """Every entry says whose it is, and where: person + n * column."""
    entries: Ints = np.arange(n)[:, None] + n * np.arange(width)
    return entries


@pytest.mark.parametrize("rng", GENERATORS, ids=["numpy", "system"])
@pytest.mark.parametrize("linked", [False, True])
def test_rows_move_together(rng: Rng, *, linked: bool) -> None:
    reports = Reports(columns_of(500, 3), np.arange(500.0), linked)

    shuffled = shuffle(reports, rng=rng)

    people = shuffled.messages[:, 0]
    assert np.array_equal(shuffled.messages, people[:, None] + 500 * np.arange(3))
    assert np.array_equal(np.sort(people), np.arange(500))
    assert np.array_equal(shuffled.levels, people) == linked
    assert not shuffled.coordinates_apart


@pytest.mark.parametrize("rng", GENERATORS, ids=["numpy", "system"])
def test_columns_and_levels_have_independent_uniform_orders(rng: Rng) -> None:
    reports = Reports(columns_of(3, 2), np.arange(3.0), False, coordinates_apart=True)
    orders = list(itertools.permutations(range(3)))
    seen = dict.fromkeys(itertools.product(orders, repeat=3), 0)

    for _ in range(DRAWS):
        shuffled = shuffle(reports, rng=rng)
        first, second = (shuffled.messages % 3).T.tolist()
        levels = shuffled.levels.astype(int).tolist()
        seen[tuple(first), tuple(second), tuple(levels)] += 1

    assert len(seen) == 216
    assert shuffled.coordinates_apart
    expected = DRAWS / 216
    statistic = sum((count - expected) ** 2 / expected for count in seen.values())
    assert statistic < chi2.isf(FALSE_ALARM, 215)


@pytest.mark.parametrize("rng", GENERATORS, ids=["numpy", "system"])
def test_linked_columns_have_independent_uniform_orders_within_levels(
    rng: Rng,
) -> None:
    # Two people at each level: 6 orders of the levels, (2! 2!)^2 of the two columns.
    levels = np.array([2.0, 1.0, 2.0, 1.0])
    reports = Reports(columns_of(4, 2), levels, True, coordinates_apart=True)
    seen: dict[object, int] = {}

    for _ in range(DRAWS):
        shuffled = shuffle(reports, rng=rng)
        people = shuffled.messages % 4
        assert np.all(levels[people] == shuffled.levels[:, None])
        key = tuple(people.ravel().tolist())
        seen[key] = seen.get(key, 0) + 1

    assert len(seen) == 96
    expected = DRAWS / 96
    statistic = sum((count - expected) ** 2 / expected for count in seen.values())
    assert statistic < chi2.isf(FALSE_ALARM, 95)


@pytest.mark.parametrize("linked", [False, True])
def test_no_entry_is_lost_among_many_people_and_levels(*, linked: bool) -> None:
    n, rng = 3_000, np.random.default_rng(2)
    levels = rng.integers(0, 400, n) / 100.0
    reports = Reports(columns_of(n, 4), levels, linked, coordinates_apart=True)

    shuffled = shuffle(reports, rng=rng)

    assert np.array_equal(
        np.sort(shuffled.messages, axis=0), np.sort(reports.messages, axis=0)
    )
    assert np.array_equal(np.sort(shuffled.levels), np.sort(levels))
    owners = levels[shuffled.messages % n]
    assert np.all(owners == shuffled.levels[:, None]) == linked


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("n", [0, 1])
def test_short_batches_of_rows_pass_unchanged(
    n: int, *, linked: bool, apart: bool
) -> None:
    bits = np.ones((n, 4), dtype=np.bool_)

    shuffled = shuffle(Reports(bits, np.ones(n), linked, apart), rng=SystemRandom())

    assert shuffled.messages.dtype == np.bool_
    assert shuffled.messages.shape == (n, 4)
    assert shuffled.levels.shape == (n,)


def test_flat_messages_have_one_column() -> None:
    reports = Reports(np.arange(40), np.arange(40.0), True, coordinates_apart=True)

    shuffled = shuffle(reports, rng=np.random.default_rng(1))

    assert np.array_equal(shuffled.messages, shuffled.levels)
    assert not np.array_equal(shuffled.messages, np.arange(40))


@pytest.mark.parametrize("kind", [Reports, ShuffledReports])
@pytest.mark.parametrize(
    ("messages", "levels"),
    [
        (np.zeros((3, 2), dtype=int), np.ones(2)),
        (np.zeros((2, 3), dtype=int), np.ones(3)),
        (np.zeros((2, 0), dtype=int), np.ones(2)),
        (np.zeros((2, 2, 2), dtype=int), np.ones(2)),
        (np.zeros((2, 2)), np.ones(2)),
        (np.array([["a", "b"]]), np.ones(1)),
        (np.array([[None, 1]]), np.ones(1)),
        (np.zeros((2, 2), dtype=int), np.ones((2, 1))),
    ],
)
def test_rows_of_wrong_shapes_and_kinds_are_refused(
    kind: type[Reports] | type[ShuffledReports], messages: Ints, levels: Floats
) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        kind(messages, levels, linked=False)
