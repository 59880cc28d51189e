"""A round: every order is equally likely, and the result depends on the seed only."""

import itertools
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from shuffledp.errors import InvalidInputError
from shuffledp.federated import round as rounds
from shuffledp.federated.other_vectors import LaplaceVectors, PlainVectors
from shuffledp.federated.round import ShuffledVectors, collect_round, shuffle_vectors
from shuffledp.randomness import Rng, SystemRandom

# Chance of a false alarm of each test of randomness.
ALARM = 1e-6


def assert_uniform(counts: Counter[Any], kinds: int) -> None:
    """A chi-square test, with 40 draws or more expected of each kind."""
    total = sum(counts.values())
    expected = total / kinds
    assert expected >= 40
    seen = sum((count - expected) ** 2 / expected for count in counts.values())
    statistic = seen + (kinds - len(counts)) * expected
    assert statistic < chi2.isf(ALARM, kinds - 1)


class Collection:
    """Plain updates of some people, and who was asked for."""

    def __init__(self, people: int, coordinates: int, *, slow: bool = False) -> None:
        rng = np.random.default_rng(6)
        self.updates = rng.normal(size=(people, coordinates)).astype(np.float32)
        self.levels = np.arange(1.0, people + 1.0) / people
        self.asked: list[int] = []
        self._slow = slow
        self._lock = threading.Lock()

    def __call__(self, people: slice) -> np.ndarray:
        if self._slow and people.start == 0:
            # The first chunk comes last.
            time.sleep(0.05)
        with self._lock:
            self.asked += range(people.start, people.stop)
        return self.updates[people]

    def collect(self, randomizer: Any = None, **settings: Any) -> ShuffledVectors:
        return collect_round(
            self,
            PlainVectors() if randomizer is None else randomizer,
            self.levels,
            num_coordinates=self.updates.shape[1],
            **{"rng": np.random.default_rng(3)} | settings,
        )


@pytest.mark.parametrize(
    "rng", [np.random.default_rng(8), SystemRandom()], ids=["seeded", "system"]
)
def test_every_order_of_a_coordinate_is_equally_likely(rng: Rng) -> None:
    messages = np.tile(np.arange(4, dtype=np.uint16), (3_000, 1))

    shuffled = shuffle_vectors(messages, np.ones(4), rng=rng)

    orders = Counter(map(tuple, shuffled.messages.tolist()))
    assert set(orders) <= set(itertools.permutations(range(4)))
    assert_uniform(orders, kinds=24)


def test_a_round_draws_every_order_equally_often_too() -> None:
    updates = np.tile(np.arange(4, dtype=np.float32)[:, None], (1, 3_000))

    shuffled = collect_round(
        lambda people: updates[people],
        PlainVectors(),
        np.ones(4),
        num_coordinates=3_000,
        rng=np.random.default_rng(9),
    )

    assert_uniform(Counter(map(tuple, shuffled.messages.tolist())), kinds=24)


def test_orders_of_coordinates_and_levels_are_independent() -> None:
    messages = np.tile(np.arange(3, dtype=np.uint8), (2, 1))
    rng = np.random.default_rng(10)
    triples: Counter[Any] = Counter()

    for _ in range(9_000):
        shuffled = shuffle_vectors(messages, np.arange(3.0), rng=rng)
        first, second = map(tuple, shuffled.messages.tolist())
        triples[first, second, tuple(shuffled.levels.tolist())] += 1

    assert_uniform(triples, kinds=6**3)


@pytest.mark.parametrize("in_memory", [0, 2**30])
def test_every_message_stays_in_its_coordinate(
    in_memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "_ENTRIES", 40)
    collection = Collection(people=23, coordinates=7)

    shuffled = collection.collect(in_memory=in_memory)

    assert sorted(collection.asked) == list(range(23))
    np.testing.assert_array_equal(
        np.sort(shuffled.messages, axis=1), np.sort(collection.updates.T, axis=1)
    )
    np.testing.assert_array_equal(np.sort(shuffled.levels), collection.levels)


def test_the_result_depends_on_the_seed_and_not_on_the_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rounds, "_ENTRIES", 40)
    noise = LaplaceVectors(0.5)

    def collected(threads: int, seed: int, *, slow: bool) -> np.ndarray:
        monkeypatch.setattr(rounds, "_THREADS", threads)
        collection = Collection(people=30, coordinates=8, slow=slow)
        rng = np.random.default_rng(seed)
        shuffled = collection.collect(noise, rng=rng)
        return np.vstack([shuffled.messages, shuffled.levels])

    first = collected(threads=2, seed=3, slow=False)

    np.testing.assert_array_equal(first, collected(threads=2, seed=3, slow=True))
    np.testing.assert_array_equal(first, collected(threads=1, seed=3, slow=False))
    assert not np.array_equal(first, collected(threads=2, seed=4, slow=False))


def test_two_rounds_with_one_generator_differ() -> None:
    collection, rng = Collection(people=9, coordinates=5), np.random.default_rng(3)

    first, second = (collection.collect(rng=rng).messages for _ in range(2))

    # They agree by chance with a chance of 9!^-5.
    assert not np.array_equal(first, second)


def test_a_file_holds_what_memory_would_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    noise, collection = LaplaceVectors(0.5), Collection(people=30, coordinates=8)

    within = collection.collect(noise)
    on_disk = collection.collect(noise, in_memory=30 * 8 * 4 - 1)

    assert isinstance(on_disk.messages, np.memmap)
    assert not isinstance(within.messages, np.memmap)
    np.testing.assert_array_equal(within.messages, on_disk.messages)
    np.testing.assert_array_equal(within.levels, on_disk.levels)
    np.testing.assert_array_equal(within.totals(), on_disk.totals())
    assert list(tmp_path.iterdir()) == []


def test_totals_of_whole_numbers_are_exact() -> None:
    messages = np.full((2, 100_003), 2**30 - 1, dtype=np.int32)
    messages[1, ::2] = -5

    totals = ShuffledVectors(messages, np.ones(100_003)).totals()

    assert totals.tolist() == [sum(row) for row in messages.tolist()]


def test_progress_grows_up_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_ENTRIES", 40)
    shares: list[float] = []

    Collection(people=30, coordinates=8).collect(on_share=shares.append)

    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_shuffling_leaves_what_was_passed_as_it_was() -> None:
    messages, levels = np.arange(40).reshape(2, 20), np.arange(20.0)

    shuffle_vectors(messages, levels, rng=np.random.default_rng(1))

    assert messages.ravel().tolist() == list(range(40))
    assert levels.tolist() == list(range(20))


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (np.zeros((5, 3), np.float64), "float32"),
        (np.zeros((5, 2), np.float32), "shape"),
        (np.zeros((4, 3), np.float32), "shape"),
        (np.full((5, 3), np.nan, np.float32), "finite"),
    ],
    ids=["type", "coordinates", "people", "not a number"],
)
def test_updates_of_another_kind_are_refused(
    returned: np.ndarray, expected: str
) -> None:
    with pytest.raises(InvalidInputError, match=expected):
        collect_round(
            lambda people: returned,
            PlainVectors(),
            np.ones(5),
            num_coordinates=3,
            rng=np.random.default_rng(1),
        )


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"rng": SystemRandom()}, "default_rng"),
        ({"levels": np.array([-1.0, 1.0])}, "every privacy budget"),
        ({"levels": np.zeros(0)}, "at least 1 person"),
        ({"num_coordinates": 0}, "at least 1 coordinate"),
    ],
    ids=["system", "negative level", "nobody", "no coordinate"],
)
def test_rounds_that_make_no_sense_are_refused(
    changes: dict[str, Any], expected: str
) -> None:
    settings: dict[str, Any] = {
        "levels": np.ones(2),
        "num_coordinates": 1,
        "rng": np.random.default_rng(1),
    } | changes

    with pytest.raises(InvalidInputError, match=expected):
        collect_round(
            lambda people: np.zeros((2, 1), np.float32),
            PlainVectors(),
            settings.pop("levels"),
            **settings,
        )


def test_messages_and_levels_of_different_people_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="one level per person"):
        shuffle_vectors(np.zeros((2, 3)), np.ones(2), rng=np.random.default_rng(1))
