"""Contents of the shuffler's store, and the protocol that every store implements.

    task       state, report counts at the last close, published counts,
               challenge of the operator's next command, hand-over      while it is hosted
    refusals   by reason, of each process                               while it is hosted
    counts     reports that came through each process                        until the close
    marks      keyed digests of tokens and messages of the step              until the close
    messages   sealed messages, per level group, in the order of arrival     until the close
    batch      manifest and shards, as they are handed over  from the close to its delivery

No time, address, token or level of a person is stored. The rows of one transaction are
stored in the order of their keyed digests, which is random without the shuffler's key.
But transactions follow each other: until the close, a reader of the disk who knows when
someone answered finds the few messages of that moment. The close sorts all messages and
drops the digests, in the same transaction.

Several processes may share a store of the same tasks. Apart from counts not written yet,
every process keeps all it knows in the store.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp_services.collection.shuffler_state import ShufflerState
from shuffledp_services.monitoring.metrics import STORAGE_ERRORS
from shuffledp_services.shuffler.task_record import HandoverAttempts, TaskRecord
from shuffledp_services.storage.database import Layout
from shuffledp_services.wire.batch import Shard
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.task import Task

STEP_TABLES = ("marks", "messages", "counts", "batch")
"""Tables with data of participants: dropped when their step ends."""

CHUNK = 1 << 20
"""Bytes of a batch that are stored, read and sent as one piece."""

MANIFEST = -1
"""Used as the index of a shard: the manifest."""


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Accepted reports of one transaction, as they are stored.

    Attributes:
        people: The number of reports, counted as in `TaskRecord.people`.
        groups: Their sealed messages, one entry per level group, in random order.
        keyed_digests: Of their tokens and messages, shape (m, KEYED_DIGEST_SIZE).
    """

    people: tuple[int, ...]
    groups: Sequence[bytes]
    keyed_digests: NDArray[np.uint8]


SelectArrivals: TypeAlias = Callable[[NDArray[np.bool_]], Arrivals]
"""Maps whether each keyed digest is stored already, shape (k,), to the arrivals."""

SealBatch: TypeAlias = Callable[
    [tuple[int, ...], int, tuple[Shard, ...]], tuple[ShufflerState, bytes]
]
"""Maps report counts, bits and shards to the closed state and the manifest."""


DrawDummies: TypeAlias = Callable[[int], Iterator[bytes]]
"""Maps the sum of the hashes of people's messages (`batch_dummies`) to sealed dummies."""


class ShufflerStore(Protocol):
    """Durable store: each call is one transaction, on the disk when it returns.

    Every change names the state that it starts from, and is refused (NOT_OPEN) if that
    is not the current state. It is refused as STORAGE if the disk is full or fails, or
    if it names a lease that has passed to another process.

    Attributes:
        is_exclusive: Whether only this process can open the store and change it.
    """

    is_exclusive: bool

    async def open(self, tasks: Sequence[Task]) -> None:
        """Connects, and recovers from a crash.

        Args:
            tasks: All tasks that this service hosts.

        Raises:
            DataError: If the store cannot be opened, or another shuffler has it open.
        """

    async def close(self) -> None:
        """Disconnects."""

    async def check(self) -> None:
        """Reconnects if necessary; raises Refusal (STORAGE) if the store cannot be used."""

    async def load(
        self, state: ShufflerState, former: Task | None = None
    ) -> TaskRecord:
        """Returns the record of a task; creates it if there is none.

        Args:
            state: The initial state of the task.
            former: The task that it succeeds, whose record is returned unchanged.

        Raises:
            DataError: If the store has another task of this name.
        """

    async def add(
        self, state: ShufflerState, digests: NDArray[np.uint8], select: SelectArrivals
    ) -> tuple[int, ...]:
        """Stores accepted reports and their keyed digests.

        Args:
            state: The open step.
            digests: Distinct keyed digests in increasing order, shape
                (k, KEYED_DIGEST_SIZE).
            select: Selects the arrivals before anything is written. Called again from
                the start if another process stored one of the digests first.

        Returns:
            The report counts after this transaction.
        """

    async def seal_batch(
        self, state: ShufflerState, seal: SealBatch, draw: DrawDummies | None = None
    ) -> ShufflerState:
        """Replaces messages and digests by shards and the manifest from `seal`.

        Args:
            state: The open step.
            seal: Makes the manifest, once the shards are known.
            draw: Draws the dummies that the shuffler adds before; None if it adds none.
        """

    def read_batch(self, state: ShufflerState, index: int) -> AsyncIterator[bytes]:
        """Yields a shard of the closed batch in pieces of up to `CHUNK` bytes.

        Args:
            state: The closed state.
            index: Of the shard; `MANIFEST` for the manifest.
        """

    async def change_state(
        self,
        before: ShufflerState,
        after: ShufflerState,
        people: tuple[int, ...],
        *,
        lease: int | None = None,
    ) -> None:
        """Changes the state; deletes batch, messages and digests of a step that ends.

        Args:
            before: The expected current state.
            after: The next state.
            people: Report counts of a step that ends; ignored while the step goes on, as
                the store counts itself.
            lease: From `handover_lease`, if the change is part of a hand-over.
        """

    async def add_refusals(self, task: Task, more: dict[str, int]) -> dict[str, int]:
        """Adds refusal counts to the stored ones, and returns the sums."""

    async def publish_counts(
        self, state: ShufflerState, published: tuple[int, ...]
    ) -> None:
        """Stores the rounded report counts that are public."""

    async def replace_challenge(
        self, task: Task, named: bytes, following: bytes
    ) -> bool:
        """Compares and swaps the challenge of the operator's next command.

        Args:
            task: The task.
            named: The expected current challenge.
            following: The new challenge.

        Returns:
            Whether `named` was current; otherwise nothing changes.
        """

    async def record_attempts(
        self, state: ShufflerState, attempts: HandoverAttempts, *, lease: int
    ) -> None:
        """Stores the progress of the hand-over of the closed batch, under its lease."""

    def handover_lease(self, task: Task) -> AbstractAsyncContextManager[int]:
        """Locks the hand-over of a task among all processes; yields the lease number.

        A process that is frozen loses the lock to another one with a larger number, after
        which changes under the smaller number are refused.
        """

    async def try_lead(self) -> bool:
        """Returns whether this process is the leader, which hands over and keeps deadlines.

        Called once a second: a process that stops calling it is taken for frozen.
        """

    @property
    def clock_ahead(self) -> float:
        """Seconds that the store's clock is ahead of this machine's; 0 without a clock."""

    @property
    def has_leader(self) -> bool:
        """Whether a live process was the leader at the last `try_lead`."""


LAYOUT = Layout(
    "shuffler",
    version=6,
    tables=(
        "task (name TEXT PRIMARY KEY, state TEXT NOT NULL, people TEXT NOT NULL,"
        " shown TEXT NOT NULL, challenge TEXT NOT NULL, attempts TEXT NOT NULL)",
        "refusals (name TEXT NOT NULL, writer INTEGER NOT NULL, refused TEXT NOT NULL,"
        " PRIMARY KEY (name, writer))",
    ),
)
"""Layout of both stores; the tables of a step are created and dropped with it."""


def table_name(task: Task) -> str:
    """Returns the suffix of a task's tables."""
    # Hexadecimal: base64url has characters that table names must not have.
    return task.task_id.hex()


def state_conflict() -> Refusal:
    """Returns the refusal of a change whose expected state is not the current one."""
    return Refusal(Reason.NOT_OPEN, "Expected this step to be as it was: it went on.")


def lease_conflict() -> Refusal:
    """Returns the refusal of a change whose lease has passed to another process."""
    return Refusal(
        Reason.STORAGE, "Expected no other process to hand over: try again later."
    )


def storage_refusal() -> Refusal:
    """Returns the refusal for a full or failing disk, and counts it in the metrics."""
    STORAGE_ERRORS.inc()
    return Refusal(Reason.STORAGE, "Expected room and a working disk: try again later.")
