"""What the shuffler keeps, and what every store of it promises.

    task       state, number of people at the last close, what is shown,
               what the operator's next command names, hand-over        while it is hosted
    refusals   by reason, of each process                               while it is hosted
    counts     how many people came through each process                     until the close
    marks      keyed digests of tokens and messages of this step             until the close
    messages   sealed messages, per pile, in the order of arrival            until the close
    batch      manifest and shards, as they are handed over  from the close to its delivery

There is no time, address, token or level of a person. What arrives in one transaction is
stored in the order of its marks, which means nothing to whoever has not the shuffler's key;
but transactions follow each other: up to the close, whoever reads the disk and knows when
somebody answered finds the few messages of that moment. The close sorts all messages and
drops the marks, in the same transaction.

Several processes may keep the same tasks in one store, if it can be shared: none of them
knows anything that is not here, but what it has counted since it last wrote that down.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.service.collection.shuffler_state import ShufflerState
from shuffledp.service.monitoring.metrics import STORAGE_ERRORS
from shuffledp.service.shuffler.task_record import HandoverAttempts, TaskRecord
from shuffledp.service.storage.database import Layout
from shuffledp.service.wire.batch import Shard
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.task import Task

STEP_TABLES = ("marks", "messages", "counts", "batch")
"""Tables that hold something of people: dropped when their step ends."""

CHUNK = 1 << 20
"""Bytes of a batch that are stored, read and sent at once."""

MANIFEST = -1
"""In the place of a shard: the manifest."""


@dataclass(frozen=True, eq=False)
class Arrivals:
    """What is stored of reports that come in.

    Attributes:
        people: How many there are, as `TaskRecord.people` counts.
        piles: Their sealed messages, pile by pile, in an order that says nothing.
        marks: Keyed digests of their tokens and messages, shape (m, KEYED_DIGEST_SIZE).
    """

    people: tuple[int, ...]
    piles: Sequence[bytes]
    marks: NDArray[np.uint8]


SelectArrivals: TypeAlias = Callable[[NDArray[np.bool_]], Arrivals]
"""Which marks are known, shape (k,), to what is stored."""

SealBatch: TypeAlias = Callable[
    [tuple[int, ...], int, tuple[Shard, ...]], tuple[ShufflerState, bytes]
]
"""People, bits and shards of the batch, to the closed state and the manifest."""


class ShufflerStore(Protocol):
    """Durable: what a call did is on the disk when it returns, or was not done at all.

    Every change names the state that it starts from, and is refused (NOT_OPEN) if the
    task stands elsewhere. What cannot be stored is refused as STORAGE, and so is what
    names a lease that another process has by now.

    Attributes:
        is_exclusive: Whether only this process can open the store and change it.
    """

    is_exclusive: bool

    async def open(self, tasks: Sequence[Task]) -> None:
        """Connects, and completes what a crash interrupted.

        Args:
            tasks: All that are hosted.

        Raises:
            DataError: If it cannot be opened, or another shuffler has it.
        """

    async def close(self) -> None:
        """Disconnects."""

    async def check(self) -> None:
        """Connects again if that is needed; refused as STORAGE if it cannot be used."""

    async def load(
        self, state: ShufflerState, former: Task | None = None
    ) -> TaskRecord:
        """Returns what is kept of a task; begins with `state` if that is nothing.

        Args:
            state: Of the task, at its beginning.
            former: The task before; a state of it is returned as it is.

        Raises:
            DataError: If another task is kept.
        """

    async def add(
        self, state: ShufflerState, marks: NDArray[np.uint8], keep: SelectArrivals
    ) -> tuple[int, ...]:
        """Stores what comes in, and its marks.

        Args:
            state: The open step.
            marks: Distinct keyed digests in increasing order, shape (k, KEYED_DIGEST_SIZE).
            keep: Decides, before anything is written; called again, and begins anew, if
                another process was first to store some of it.

        Returns:
            How many people there are now.
        """

    async def seal_batch(self, state: ShufflerState, seal: SealBatch) -> ShufflerState:
        """Replaces messages and marks by shards and the manifest that `seal` makes."""

    def read_batch(self, state: ShufflerState, place: int) -> AsyncIterator[bytes]:
        """Yields a shard of the closed batch in pieces of up to `CHUNK` bytes.

        Args:
            state: In which it is closed.
            place: Of the shard; `MANIFEST` for the manifest.
        """

    async def change_state(
        self,
        before: ShufflerState,
        after: ShufflerState,
        people: tuple[int, ...],
        *,
        lease: int | None = None,
    ) -> None:
        """Goes to the next state; forgets batch, messages and marks of a step that ends.

        Args:
            before: Where it stands.
            after: Where it goes.
            people: How many reported, once a step ends: while it goes on the store knows.
            lease: That `handing_over` gave, if it is done inside of that.
        """

    async def add_refusals(self, task: Task, more: dict[str, int]) -> dict[str, int]:
        """Adds numbers of refusals to those that are kept; returns what they are then."""

    async def publish_counts(
        self, state: ShufflerState, shown: tuple[int, ...]
    ) -> None:
        """Keeps what everybody may know of how many people reported."""

    async def replace_challenge(
        self, task: Task, named: bytes, following: bytes
    ) -> bool:
        """Asks for something else from the operator from now on.

        Args:
            task: Which one's operator.
            named: What was asked for so far, as far as the caller knows.
            following: What is asked for now.

        Returns:
            Whether that was asked for; nothing changes if not.
        """

    async def record_attempts(
        self, state: ShufflerState, attempts: HandoverAttempts, *, lease: int
    ) -> None:
        """Keeps how the hand-over of the closed batch goes, under its lease."""

    def handover_lease(self, task: Task) -> AbstractAsyncContextManager[int]:
        """Is entered by one at a time, of all processes.

        Gives the number of the lease. A process that is frozen loses it, and another one
        enters, with a larger number: then nothing is done any more under the smaller one.
        """

    async def try_lead(self) -> bool:
        """Tells whether this is the process that does what one of them has to do.

        Is called once a second: whoever calls it no more is taken for frozen.
        """

    @property
    def clock_ahead(self) -> float:
        """How far its clock is ahead of this machine's, in seconds; 0 if it has none."""

    @property
    def has_leader(self) -> bool:
        """Whether a process that is not frozen tends, as `tends` saw it last."""


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
"""Of both stores; tables of a step are made and dropped with it."""


def table_name(task: Task) -> str:
    """Returns how tables of a task are named: base64url has letters that names lack."""
    return task.task_id.hex()


def state_conflict() -> Refusal:
    """Returns what is raised if a task stands elsewhere than the caller thought."""
    return Refusal(Reason.NOT_OPEN, "Expected this step to be as it was: it went on.")


def lease_conflict() -> Refusal:
    """Returns what is raised if another process has the lease by now."""
    return Refusal(
        Reason.STORAGE, "Expected no other process to hand over: try again later."
    )


def storage_refusal() -> Refusal:
    """Returns what is raised if something cannot be stored, and counts it."""
    STORAGE_ERRORS.inc()
    return Refusal(Reason.STORAGE, "Expected room and a working disk: try again later.")
