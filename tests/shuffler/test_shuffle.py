import itertools

import numpy as np
import pytest
from scipy.stats import chi2

from shuffledp import InvalidInputError, Reports, SystemRandom, shuffle
from shuffledp.randomness import Rng

GENERATORS = [np.random.default_rng(17), SystemRandom()]
DRAWS = 24_000
# Each of these tests calls a fair shuffler unfair with probability 1e-6.
FALSE_ALARM = 1e-6


def chi_square(observed: list[int], expected: float) -> float:
    return sum((count - expected) ** 2 / expected for count in observed)


@pytest.mark.parametrize("rng", GENERATORS, ids=["numpy", "system"])
@pytest.mark.parametrize("linked", [False, True])
def test_every_order_of_four_messages_is_equally_likely(
    rng: Rng, *, linked: bool
) -> None:
    reports = Reports(np.arange(4), np.ones(4), linked)
    seen = dict.fromkeys(itertools.permutations(range(4)), 0)

    for _ in range(DRAWS):
        seen[tuple(shuffle(reports, rng=rng).messages.tolist())] += 1

    assert len(seen) == 24
    statistic = chi_square(list(seen.values()), DRAWS / 24)
    assert statistic < chi2.isf(FALSE_ALARM, 23)


@pytest.mark.parametrize("rng", GENERATORS, ids=["numpy", "system"])
def test_orders_of_messages_and_levels_are_independent_when_unlinked(rng: Rng) -> None:
    reports = Reports(np.arange(3), np.array([0.0, 1.0, 2.0]), linked=False)
    orders = list(itertools.permutations(range(3)))
    seen = dict.fromkeys(itertools.product(orders, orders), 0)

    for _ in range(DRAWS):
        shuffled = shuffle(reports, rng=rng)
        levels = shuffled.levels.astype(int)
        seen[tuple(shuffled.messages.tolist()), tuple(levels.tolist())] += 1

    assert len(seen) == 36
    statistic = chi_square(list(seen.values()), DRAWS / 36)
    assert statistic < chi2.isf(FALSE_ALARM, 35)


@pytest.mark.parametrize("rng", GENERATORS, ids=["numpy", "system"])
def test_linked_messages_keep_their_levels(rng: Rng) -> None:
    messages = np.arange(1000)
    reports = Reports(messages, messages / 4.0, linked=True)

    shuffled = shuffle(reports, rng=rng)

    assert shuffled.linked
    assert np.array_equal(shuffled.levels, shuffled.messages / 4.0)
    assert np.array_equal(np.sort(shuffled.messages), messages)
    assert not np.array_equal(shuffled.messages, messages)


def test_unlinked_shuffle_keeps_all_messages_and_levels() -> None:
    rng = np.random.default_rng(3)
    reports = Reports(rng.integers(0, 7, 500), rng.random(500), linked=False)

    shuffled = shuffle(reports, rng=rng)

    assert not shuffled.linked
    assert np.array_equal(np.sort(shuffled.messages), np.sort(reports.messages))
    assert np.array_equal(np.sort(shuffled.levels), np.sort(reports.levels))


def test_seeded_shuffle_can_be_repeated() -> None:
    reports = Reports(np.arange(50), np.arange(50.0), linked=False)

    first = shuffle(reports, rng=np.random.default_rng(4))
    second = shuffle(reports, rng=np.random.default_rng(4))

    assert np.array_equal(first.messages, second.messages)
    assert np.array_equal(first.levels, second.levels)


@pytest.mark.parametrize("size", [0, 1])
def test_short_batches_pass_unchanged(size: int) -> None:
    reports = Reports(np.arange(size), np.ones(size), linked=False)

    shuffled = shuffle(reports, rng=SystemRandom())

    assert shuffled.messages.tolist() == list(range(size))
    assert shuffled.levels.shape == (size,)


@pytest.mark.parametrize(
    ("messages", "levels"),
    [
        (np.arange(3), np.ones(2)),
        (np.arange(4).reshape(2, 2), np.ones((2, 2))),
        (np.array(1), np.array(1.0)),
    ],
)
def test_reports_of_wrong_shapes_are_refused(
    messages: np.typing.NDArray[np.int64], levels: np.typing.NDArray[np.float64]
) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        Reports(messages, levels, linked=False)
