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
from shuffledp.federated import simulated_round as rounds
from shuffledp.federated.baseline_vectors import LaplaceVectors
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.simulated_round import average_updates, collect_round
from shuffledp.population import Population
from shuffledp.randomness import SystemRandom
from shuffledp.reports import ShuffledReports

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


def as_they_are(
    updates: np.ndarray, levels: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Devices that send updates which are whole numbers."""
    del levels, rng
    return updates.astype(np.uint8)


class Collection:
    """Updates of some people, and who was asked for."""

    def __init__(self, people: int, coordinates: int, *, slow: bool = False) -> None:
        rng = np.random.default_rng(6)
        whole = rng.integers(0, 200, size=(people, coordinates))
        self.updates = whole.astype(np.float32)
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

    def plain(self, **settings: Any) -> tuple[np.ndarray, np.ndarray]:
        return collect_round(
            self,
            as_they_are,
            self.levels,
            num_coordinates=self.updates.shape[1],
            message_type=np.dtype(np.uint8),
            **{"rng": np.random.default_rng(3)} | settings,
        )

    def noisy(self, **settings: Any) -> ShuffledReports:
        protocol = TrainingRound(LaplaceVectors(100.0), self.updates.shape[1])
        settings = {"rng": np.random.default_rng(3)} | settings
        return protocol.collect(self, self.levels, **settings)


def test_every_order_of_a_coordinate_is_equally_likely() -> None:
    updates = np.tile(np.arange(4, dtype=np.float32)[:, None], (1, 3_000))

    rows, _ = collect_round(
        lambda people: updates[people],
        as_they_are,
        np.ones(4),
        num_coordinates=3_000,
        message_type=np.dtype(np.uint8),
        rng=np.random.default_rng(9),
    )

    orders = Counter(map(tuple, rows.tolist()))
    assert set(orders) <= set(itertools.permutations(range(4)))
    assert_uniform(orders, kinds=24)


@pytest.mark.few_cases(0)
@pytest.mark.slow
def test_orders_of_coordinates_and_levels_are_independent() -> None:
    updates = np.tile(np.arange(3, dtype=np.float32)[:, None], (1, 2))
    rng = np.random.default_rng(10)
    triples: Counter[Any] = Counter()

    for _ in range(9_000):
        rows, levels = collect_round(
            lambda people: updates[people],
            as_they_are,
            np.arange(3.0),
            num_coordinates=2,
            message_type=np.dtype(np.uint8),
            rng=rng,
        )
        first, second = map(tuple, rows.tolist())
        triples[first, second, tuple(levels.tolist())] += 1

    assert_uniform(triples, kinds=6**3)


@pytest.mark.parametrize("in_memory", [0, 2**30])
def test_every_message_stays_in_its_coordinate(
    in_memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "_ENTRIES", 40)
    collection = Collection(people=23, coordinates=7)

    rows, levels = collection.plain(in_memory=in_memory)

    assert sorted(collection.asked) == list(range(23))
    np.testing.assert_array_equal(
        np.sort(rows, axis=1), np.sort(collection.updates.T, axis=1)
    )
    np.testing.assert_array_equal(np.sort(levels), collection.levels)


def test_the_result_depends_on_the_seed_and_not_on_the_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rounds, "_ENTRIES", 40)

    def collected(threads: int, seed: int, *, slow: bool) -> np.ndarray:
        monkeypatch.setattr(rounds, "_THREADS", threads)
        collection = Collection(people=30, coordinates=8, slow=slow)
        shuffled = collection.noisy(rng=np.random.default_rng(seed))
        assert shuffled.levels is not None
        return np.column_stack([shuffled.messages, shuffled.levels])

    first = collected(threads=2, seed=3, slow=False)

    np.testing.assert_array_equal(first, collected(threads=2, seed=3, slow=True))
    np.testing.assert_array_equal(first, collected(threads=1, seed=3, slow=False))
    assert not np.array_equal(first, collected(threads=2, seed=4, slow=False))


def test_two_rounds_with_one_generator_differ() -> None:
    collection, rng = Collection(people=9, coordinates=5), np.random.default_rng(3)

    first, second = (collection.plain(rng=rng)[0] for _ in range(2))

    # They agree by chance with a chance of 9!^-5.
    assert not np.array_equal(first, second)


def test_a_file_holds_what_memory_would_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    collection = Collection(people=30, coordinates=8)
    protocol = TrainingRound(LaplaceVectors(100.0), 8)

    within = collection.noisy()
    on_disk = collection.noisy(in_memory=30 * 8 * 4 - 1)

    assert isinstance(on_disk.messages, np.memmap)
    assert not isinstance(within.messages, np.memmap)
    np.testing.assert_array_equal(within.messages, on_disk.messages)
    assert within.levels is not None
    np.testing.assert_array_equal(within.levels, on_disk.levels)
    assert protocol.tally(within) == protocol.tally(on_disk)
    assert list(tmp_path.iterdir()) == []


def test_progress_grows_up_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_ENTRIES", 40)
    collection = Collection(people=30, coordinates=8)
    shares: list[float] = []

    collection.plain(on_share=shares.append)

    assert len(shares) > 2
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_updates_as_they_are_have_their_average(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rounds, "_ENTRIES", 40)
    collection = Collection(people=23, coordinates=7)
    shares: list[float] = []

    average = average_updates(
        collection, num_people=23, num_coordinates=7, on_share=shares.append
    )

    assert sorted(collection.asked) == list(range(23))
    np.testing.assert_allclose(average, collection.updates.mean(axis=0), rtol=1e-6)
    assert shares[-1] == 1.0


def test_a_drawn_tally_is_that_of_the_messages_of_the_same_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rounds, "_ENTRIES", 40)
    collection = Collection(people=23, coordinates=7)
    protocol = TrainingRound(LaplaceVectors(100.0), 7)
    shares: list[float] = []

    drawn = protocol.draw_tally(
        collection,
        collection.levels,
        rng=np.random.default_rng(3),
        on_share=shares.append,
    )

    assert sorted(collection.asked) == list(range(23))
    assert drawn == protocol.tally(collection.noisy())
    assert shares[-1] == 1.0


BAD: dict[str, tuple[Any, str]] = {
    "type": (np.zeros((5, 3), np.float64), "float32"),
    "coordinates": (np.zeros((5, 2), np.float32), "shape"),
    "people": (np.zeros((4, 3), np.float32), "shape"),
    "not a number": (np.full((5, 3), np.nan, np.float32), "finite"),
}


@pytest.mark.parametrize("name", BAD)
def test_updates_of_another_kind_are_refused(name: str) -> None:
    returned, expected = BAD[name]
    protocol = TrainingRound(LaplaceVectors(1.0), 3)

    for simulate in (protocol.collect, protocol.draw_tally):
        with pytest.raises(InvalidInputError, match=expected):
            simulate(lambda people: returned, np.ones(5), rng=np.random.default_rng(1))
    with pytest.raises(InvalidInputError, match=expected):
        average_updates(lambda people: returned, num_people=5, num_coordinates=3)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"rng": SystemRandom()}, "default_rng"),
        ({"levels": np.array([-1.0, 1.0])}, "every privacy budget"),
        ({"levels": np.zeros(0)}, "at least 1 person"),
    ],
    ids=["system", "negative level", "nobody"],
)
def test_rounds_that_make_no_sense_are_refused(
    changes: dict[str, Any], expected: str
) -> None:
    settings: dict[str, Any] = {
        "levels": np.ones(2),
        "rng": np.random.default_rng(1),
    } | changes

    protocol = TrainingRound(LaplaceVectors(1.0), 1)
    for simulate in (protocol.collect, protocol.draw_tally):
        with pytest.raises(InvalidInputError, match=expected):
            simulate(lambda people: np.zeros((2, 1), np.float32), **settings)


def test_a_round_collected_at_once_is_estimated_like_any_reports() -> None:
    collection = Collection(people=400, coordinates=5)
    protocol = TrainingRound(LaplaceVectors(100.0), 5)
    people = Population.from_budgets(collection.levels + 20.0)

    seen = protocol.collect(
        collection, collection.levels + 20.0, rng=np.random.default_rng(3)
    )
    found = protocol.estimate(seen, people)

    assert found.identity == protocol.identity
    # Clipped at 100; noise of scale 200 / 20 at most, and 400 people: deviations of 0.7.
    clipped = np.minimum(collection.updates, 100.0).mean(axis=0)
    np.testing.assert_allclose(found.value, clipped, rtol=0, atol=3.6)
