"""One round of training: everybody's update is randomized, and every coordinate shuffled.

The messages of each coordinate are put into a uniformly random order of their own, and the
privacy levels into another one, so that nobody can tell which messages came from the same
person, or which level they were made with. Every message of the simulation really moves.

People are gone through in chunks and coordinates in blocks, by two threads. Each chunk and
each block has a random number generator of its own, so that the result depends on the seed
and not on which thread comes first.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Algorithm 1, where the
order of coordinate k is one of the n people (the paper prints one of the d coordinates).
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.arrays import level_array
from shuffledp.errors import InvalidInputError
from shuffledp.population import check_budgets
from shuffledp.randomness import Rng, check_rng
from shuffledp.types import Floats

# Bytes of messages that are kept in memory; more of them go to a temporary file.
IN_MEMORY = 512 * 2**20

_THREADS = 2
# Entries of the updates that a thread looks at together.
_ENTRIES = 2**22

Messages: TypeAlias = NDArray[Any]
OnShare: TypeAlias = Callable[[float], None]
"""Called with the share of a round that is done, in [0, 1]."""


class VectorRandomizer(Protocol):
    """What devices do to a vector, coordinate by coordinate, and what its sums tell."""

    @property
    def name(self) -> str:
        """The name of the randomizer."""
        ...

    @property
    def message_type(self) -> np.dtype[Any]:
        """Of one coordinate's message."""
        ...

    def randomize(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> Messages:
        """Clips and randomizes every coordinate on its own, on the devices.

        Args:
            updates: Finite, shape (k, d).
            levels: Local budgets per coordinate in nats, shape (k,).
            rng: The only source of randomness.

        Returns:
            Shape (k, d), of `message_type`.
        """
        ...

    def estimate(self, totals: Floats, levels: Floats) -> Floats:
        """Returns the estimated mean update, shape (d,).

        Args:
            totals: The sum of the messages of each coordinate, shape (d,).
            levels: Everybody's level, in any order, shape (n,).
        """
        ...


@dataclass(frozen=True, eq=False)
class ShuffledVectors:
    """What the analyst sees of a round.

    Attributes:
        messages: Row k holds the messages of coordinate k, in a random order of its own,
            shape (d, n).
        levels: In a random order of their own, shape (n,).
    """

    messages: Messages
    levels: Floats

    def __post_init__(self) -> None:
        _check_messages(self.messages, self.levels)

    def totals(self) -> Floats:
        """Returns the sum of every coordinate's messages, shape (d,).

        Sums of whole numbers are exact, up to 2^53.
        """
        whole = self.messages.dtype.kind in "iu"
        kind = np.dtype(np.int64 if whole else np.float64)
        totals: Floats = self.messages.sum(axis=1, dtype=kind).astype(np.float64)
        return totals


def shuffle_vectors(
    messages: Messages, levels: ArrayLike, *, rng: Rng
) -> ShuffledVectors:
    """Puts every coordinate's messages, and the levels, into independent random orders.

    Args:
        messages: Column i holds what person i sent, shape (d, n).
        levels: Of the same people in the same order, shape (n,).
        rng: `SystemRandom()` where real people's order is hidden.

    Raises:
        InvalidInputError: If shapes differ or `rng` is no source of randomness.
    """
    check_rng(rng)
    budgets = level_array(levels)
    _check_messages(messages, budgets)
    shuffled = messages.copy()
    _permute_rows(shuffled, rng=rng)
    return ShuffledVectors(shuffled, budgets[rng.permutation(budgets.size)])


def collect_round(
    updates: Callable[[slice], NDArray[np.float32]],
    randomizer: VectorRandomizer,
    levels: ArrayLike,
    *,
    num_coordinates: int,
    rng: np.random.Generator,
    in_memory: int = IN_MEMORY,
    on_share: OnShare | None = None,
) -> ShuffledVectors:
    """Simulates a round: everybody's update, randomized and shuffled.

    Messages that need more than `in_memory` bytes are kept in a temporary file, in the
    folder that Python's `tempfile` chooses. It has no name and goes when the result does.

    Args:
        updates: Returns the updates of a slice of people, float32 of shape (k, d). It is
            called once for each person, by two threads at the same time.
        randomizer: What the devices run.
        levels: Everybody's local budget per coordinate in nats, shape (n,).
        num_coordinates: d, >= 1.
        rng: The only source of randomness; `spawn` is called on it.
        in_memory: See above.
        on_share: Called with the share of the work that is done.

    Raises:
        InvalidInputError: If levels or updates are not what was expected.
    """
    budgets = level_array(levels)
    check_budgets(budgets)
    if not budgets.size:
        raise InvalidInputError("Expected at least 1 person.")
    if num_coordinates < 1:
        raise InvalidInputError(
            f"Expected at least 1 coordinate, got {num_coordinates}."
        )
    if not isinstance(rng, np.random.Generator):
        raise InvalidInputError(
            "Expected rng to be numpy.random.default_rng(seed) in a simulation, "
            f"got {type(rng).__name__}."
        )
    shape = (num_coordinates, budgets.size)
    store = _store(shape, randomizer.message_type, in_memory)
    chunks = list(_slices(budgets.size, width=num_coordinates))
    blocks = list(_slices(num_coordinates, width=budgets.size))
    generators = rng.spawn(len(chunks) + len(blocks))

    def send(people: slice, own: np.random.Generator) -> None:
        computed = updates(people)
        expected = (people.stop - people.start, num_coordinates)
        if computed.shape != expected or computed.dtype != np.float32:
            raise InvalidInputError(
                f"Expected updates as float32 of shape {expected}, "
                f"got {computed.dtype} of shape {computed.shape}."
            )
        store[:, people] = randomizer.randomize(computed, budgets[people], rng=own).T

    def permute(coordinates: slice, own: np.random.Generator) -> None:
        _permute_rows(store[coordinates], rng=own)

    # Two passes over the messages, of which the first takes most of the time.
    shares = np.concatenate(
        [
            np.full(len(chunks), 0.9 / len(chunks)),
            np.full(len(blocks), 0.1 / len(blocks)),
        ]
    ).cumsum()
    tell = on_share if on_share is not None else _nobody
    done = 0
    for work, parts in ((send, chunks), (permute, blocks)):
        own = generators[done : done + len(parts)]
        for _ in _in_threads(work, zip(parts, own, strict=True)):
            tell(min(float(shares[done]), 1.0))
            done += 1
    return ShuffledVectors(store, budgets[rng.permutation(budgets.size)])


def check_updates(updates: NDArray[np.float32], levels: Floats) -> None:
    """Raises InvalidInputError unless these are finite updates, one row per level.

    Args:
        updates: What a randomizer was passed, to be float32 of shape (k, d).
        levels: Local budgets, shape (k,).
    """
    check_budgets(levels)
    if updates.ndim != 2 or updates.shape[:1] != levels.shape or not updates.size:
        raise InvalidInputError(
            "Expected one row of updates per privacy level, "
            f"got shapes {updates.shape} and {levels.shape}."
        )
    if updates.dtype != np.float32:
        raise InvalidInputError(f"Expected updates as float32, got {updates.dtype}.")
    if not np.isfinite(updates).all():
        raise InvalidInputError("Expected every coordinate of an update to be finite.")


def _nobody(share: float) -> None:
    del share


def _check_messages(messages: Messages, levels: Floats) -> None:
    if messages.ndim != 2 or messages.shape[1:] != levels.shape or not messages.size:
        raise InvalidInputError(
            "Expected messages of shape (coordinates, people) and one level per person, "
            f"got shapes {messages.shape} and {levels.shape}."
        )


def _store(shape: tuple[int, int], kind: np.dtype[Any], in_memory: int) -> Messages:
    if shape[0] * shape[1] * kind.itemsize <= in_memory:
        return np.empty(shape, dtype=kind)
    with tempfile.TemporaryFile() as file:
        # The mapping outlives the file object, and the file lives as long as it does.
        return np.memmap(file, dtype=kind, mode="w+", shape=shape)


def _slices(size: int, *, width: int) -> Iterator[slice]:
    step = max(_ENTRIES // width, 1)
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))


def _permute_rows(rows: Messages, *, rng: Rng) -> None:
    """Puts every row into a uniformly random order of its own, in place."""
    for row in rows:
        # Indexing by a permutation takes less time than swapping in place.
        row[:] = row[rng.permutation(row.size)]


def _in_threads(
    work: Callable[[slice, np.random.Generator], None],
    parts: Iterable[tuple[slice, np.random.Generator]],
) -> Iterator[None]:
    with ThreadPoolExecutor(_THREADS) as pool:
        yield from pool.map(lambda part: work(*part), parts)
