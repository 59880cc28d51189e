"""Simulation of one round: all updates are randomized, and every coordinate is shuffled.

The messages of each coordinate are put into a uniformly random order of their own, and the
privacy levels into another one, so that messages are linked neither to each other nor to a
level. Every message of the simulation really moves.

Two threads process people in chunks and coordinates in blocks. Each chunk and each block
has a random number generator of its own, so that the result depends on the seed and not on
the order of the threads.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Algorithm 1, where the
order of coordinate k is one of the n people (the paper prints one of the d coordinates).
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.arrays import level_array
from shuffledp.errors import InvalidInputError
from shuffledp.federated.coordinate_messages import Messages
from shuffledp.population import check_budgets
from shuffledp.statistics.tallying import check_generator
from shuffledp.types import Floats

# Bytes of messages in memory; larger rounds go to a temporary file.
IN_MEMORY = 512 * 2**20

_THREADS = 2
# Entries of the updates that a thread processes at once.
_ENTRIES = 2**22

_Input = TypeVar("_Input")
_Output = TypeVar("_Output")

OnShare: TypeAlias = Callable[[float], None]
"""Called with the share of a round that is done, in [0, 1]."""
Updates: TypeAlias = Callable[[slice], NDArray[np.float32]]
"""Returns the updates of a slice of people, float32 of shape (k, d)."""
Send: TypeAlias = Callable[[NDArray[np.float32], Floats, np.random.Generator], Messages]
"""Draws the messages of k people, shape (k, d), from updates and levels."""


def collect_round(
    updates: Updates,
    send: Send,
    levels: Floats,
    *,
    num_coordinates: int,
    message_type: np.dtype[Any],
    rng: np.random.Generator,
    in_memory: int = IN_MEMORY,
    on_share: OnShare | None = None,
) -> tuple[Messages, Floats]:
    """Simulates a round: randomizes all updates and shuffles every coordinate.

    Messages that need more than `in_memory` bytes are stored in a temporary file, in the
    folder that Python's `tempfile` chooses. It has no name and lives as long as the result.

    Args:
        updates: Called once for each person, by two threads at the same time.
        send: The devices' randomization.
        levels: Each user's local budget per coordinate in nats, shape (n,), n >= 1.
        num_coordinates: d, >= 1.
        message_type: The integer type of messages.
        rng: The only source of randomness; `spawn` is called on it.
        in_memory: See above.
        on_share: Called with the share of the work that is done.

    Returns:
        The messages of each coordinate in a random order of its own, shape (d, n), and the
        levels in another one, shape (n,).

    Raises:
        InvalidInputError: If updates have another shape or type.
    """
    store = _store((num_coordinates, levels.size), message_type, in_memory)
    chunks = list(_slices(levels.size, width=num_coordinates))
    blocks = list(_slices(num_coordinates, width=levels.size))
    # One generator per part: the draws do not depend on how threads are scheduled.
    generators = rng.spawn(len(chunks) + len(blocks))

    def collect(people: slice, part_rng: np.random.Generator) -> None:
        computed = _checked_updates(updates, people, num_coordinates)
        store[:, people] = send(computed, levels[people], part_rng).T

    def permute(coordinates: slice, part_rng: np.random.Generator) -> None:
        for row in store[coordinates]:
            # Indexing by a permutation takes less time than swapping in place.
            row[:] = row[part_rng.permutation(row.size)]

    # Two passes over the messages, of which the first takes most of the time.
    shares = np.concatenate(
        [
            np.full(len(chunks), 0.9 / len(chunks)),
            np.full(len(blocks), 0.1 / len(blocks)),
        ]
    ).cumsum()
    report = on_share if on_share is not None else _ignore_share
    share_done = 0
    for work, parts in ((collect, chunks), (permute, blocks)):
        part_rngs = generators[share_done : share_done + len(parts)]
        for _ in _in_threads(work, zip(parts, part_rngs, strict=True)):
            report(min(float(shares[share_done]), 1.0))
            share_done += 1
    return store, levels[rng.permutation(levels.size)]


def average_updates(
    updates: Updates,
    *,
    num_people: int,
    num_coordinates: int,
    on_share: OnShare | None = None,
) -> Floats:
    """Returns the exact mean of all updates, shape (d,), without any privacy.

    The cost of privacy is measured against it. Arguments and errors are those of
    `collect_round`.
    """

    def add_up(people: slice, _: None) -> Floats:
        computed = _checked_updates(updates, people, num_coordinates)
        if not np.isfinite(computed).all():
            raise InvalidInputError(
                "Expected every coordinate of an update to be finite."
            )
        # Single precision would lose digits over millions of people.
        sums: Floats = computed.sum(axis=0, dtype=np.float64)
        return sums

    parts = [(chunk, None) for chunk in _slices(num_people, width=num_coordinates)]
    total = np.zeros(num_coordinates)
    for sums in _report_shares(_in_threads(add_up, parts), len(parts), on_share):
        total += sums
    return total / num_people


def add_up_messages(
    updates: Updates,
    send: Send,
    levels: Floats,
    *,
    num_coordinates: int,
    rng: np.random.Generator,
    on_share: OnShare | None = None,
) -> NDArray[np.int64]:
    """Returns the sum of each coordinate's messages, shape (d,), and stores no message.

    No shuffle changes a sum. Messages are those of `collect_round` from the same `rng`,
    and so are arguments and errors.
    """
    chunks = list(_slices(levels.size, width=num_coordinates))

    def add_up(people: slice, part_rng: np.random.Generator) -> NDArray[np.int64]:
        computed = _checked_updates(updates, people, num_coordinates)
        messages = send(computed, levels[people], part_rng)
        sums: NDArray[np.int64] = messages.sum(axis=0, dtype=np.int64)
        return sums

    # `collect_round` spawns more generators, of which these are the first: same draws.
    parts = zip(chunks, rng.spawn(len(chunks)), strict=True)
    total = np.zeros(num_coordinates, dtype=np.int64)
    for sums in _report_shares(_in_threads(add_up, parts), len(chunks), on_share):
        total += sums
    return total


def checked_levels(levels: ArrayLike, rng: np.random.Generator) -> Floats:
    """Returns all local budgets for a simulation, shape (n,).

    Raises:
        InvalidInputError: If there are none, one is not a budget, or `rng` is not a
            `numpy.random.Generator`.
    """
    check_generator(rng)
    epsilons = level_array(levels)
    check_budgets(epsilons)
    if not epsilons.size:
        raise InvalidInputError("Expected at least 1 person.")
    return epsilons


def _report_shares(
    results: Iterable[_Output], total: int, on_share: OnShare | None
) -> Iterator[_Output]:
    """Yields the results, and reports the share of them that was consumed."""
    report = on_share if on_share is not None else _ignore_share
    for done, result in enumerate(results, start=1):
        yield result
        report(done / total)


def _checked_updates(
    updates: Updates, people: slice, num_coordinates: int
) -> NDArray[np.float32]:
    """Computes the updates of a slice of people, and checks their shape and type."""
    computed = updates(people)
    expected = (people.stop - people.start, num_coordinates)
    if computed.shape != expected or computed.dtype != np.float32:
        raise InvalidInputError(
            f"Expected updates as float32 of shape {expected}, "
            f"got {computed.dtype} of shape {computed.shape}."
        )
    return computed


def _ignore_share(share: float) -> None:
    del share


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


def _in_threads(
    work: Callable[[slice, _Input], _Output], parts: Iterable[tuple[slice, _Input]]
) -> Iterator[_Output]:
    with ThreadPoolExecutor(_THREADS) as pool:
        # In the order of parts, so that sums are rounded the same way in every run.
        yield from pool.map(lambda part: work(*part), parts)
