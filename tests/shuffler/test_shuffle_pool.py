"""Messages in random order: nothing is lost, and every order is equally likely."""

import itertools

import numpy as np
import pytest
from oracles.reports import reports

from shuffledp import InvalidInputError, SystemRandom, shuffle
from shuffledp.randomness import Rng
from shuffledp.reports import Reports
from shuffledp.shuffler import pool as module
from shuffledp.types import Ints


def pool_of(messages: Ints) -> Reports:
    return reports(messages, None, arrangement="pool")


@pytest.mark.parametrize("rng", [np.random.default_rng(1), SystemRandom()])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8])
def test_messages_are_the_same_in_another_order(rng: Rng, kind: type) -> None:
    messages: Ints = np.arange(120).astype(kind).reshape(40, 3)

    shuffled = shuffle(pool_of(messages), rng=rng)

    assert shuffled.messages.dtype == kind
    assert (shuffled.num_users, shuffled.messages.shape) == (40, (40, 3))
    assert shuffled.arrangement == "pool"
    found = shuffled.messages.ravel()
    assert np.array_equal(np.sort(found), messages.ravel())
    assert not np.array_equal(found, messages.ravel())
    assert np.array_equal(messages.ravel(), np.arange(120))


def test_messages_of_one_person_are_spread_over_all_rows() -> None:
    messages: Ints = np.repeat(np.arange(1000, dtype=np.int32)[:, None], 4, axis=1)

    shuffled = shuffle(pool_of(messages), rng=SystemRandom()).messages

    # Two neighbors are one person's with chance 0.003: fewer than 30 of 1,000 rows are
    # such, but for one in 10^30 of all orders.
    assert np.sum(shuffled[:, 0] == shuffled[:, 1]) < 30


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("bits", [32, 2, 0])
def test_every_order_is_equally_likely_also_among_equal_keys(
    bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_KEYS", 2**bits)
    orders = list(itertools.permutations(range(4)))
    runs = 6_000
    sent = pool_of(np.arange(4, dtype=np.int32)[None, :])

    seen = dict.fromkeys(orders, 0)
    for _ in range(runs):
        found = shuffle(sent, rng=SystemRandom()).messages.ravel()
        seen[tuple(found.tolist())] += 1

    # Five standard errors of 24 orders in three tests: one false alarm in 25,000.
    share = 1.0 / len(orders)
    allowed = 5.0 * np.sqrt(runs * share * (1.0 - share))
    assert all(abs(count - runs * share) < allowed for count in seen.values())


@pytest.mark.parametrize("levels", [None, np.ones(3)])
@pytest.mark.parametrize("cohorts", [None, np.zeros(3, dtype=np.int64)])
def test_messages_of_a_pool_travel_alone(
    levels: np.typing.NDArray[np.float64] | None, cohorts: Ints | None
) -> None:
    sent = reports(np.arange(3), levels, arrangement="pool", cohorts=cohorts)

    if levels is None and cohorts is None:
        assert shuffle(sent, rng=SystemRandom()).levels is None
        return
    with pytest.raises(InvalidInputError, match="travel alone"):
        shuffle(sent, rng=SystemRandom())
