"""What the shuffler keeps, and what every store of it promises.

    task       state, number of people at the last close, what is shown,
               what the operator's next command names, hand-over        while it is hosted
    refusals   by reason, of each process                               while it is hosted
    counts     how many people came through each process                     until the close
    marks      of tokens and messages of this step (`shuffler.marks`)        until the close
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

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import DataError
from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.database import Layout, the_kept
from shuffledp.service.metrics import STORAGE_ERRORS
from shuffledp.service.wire.batch import Shard
from shuffledp.service.wire.canonical import (
    canonical,
    from_text,
    read_object,
    to_text,
)
from shuffledp.service.wire.plan import read_plan
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.roster import Enrolment
from shuffledp.service.wire.task import DIGEST_SIZE, ID_SIZE, Task
from shuffledp.statistics.survey import EpochStage

STEP_TABLES = ("marks", "messages", "counts", "batch")
"""Tables that hold something of people: dropped when their step ends."""

CHUNK = 1 << 20
"""Bytes of a batch that are stored, read and sent at once."""

MANIFEST = -1
"""In the place of a shard: the manifest."""


@dataclass(frozen=True)
class Attempts:
    """How the hand-over of the closed batch goes.

    Attributes:
        failed: How often it was sent in vain.
        refused: Why the analyst refused it last; None if she did not.
        unsettled: Whether another attempt was begun since, of which nobody knows yet how
            it ended: she may have the batch.
        full: Whether she could not keep it when it was sent last.
    """

    failed: int = 0
    refused: Reason | None = None
    unsettled: bool = False
    full: bool = False


@dataclass(frozen=True)
class Record:
    """What is kept of a task besides reports.

    Attributes:
        state: Where it stands.
        people: How many reported in this step, per level; in all, if none is named.
        shown: The same as everybody may know it.
        refused: How many reports were refused, by reason; may lag behind.
        challenge: What the operator's next command must name; empty before the first.
        attempts: To hand over.
    """

    state: ShufflerState
    people: tuple[int, ...]
    shown: tuple[int, ...]
    refused: dict[str, int] = field(default_factory=dict)
    challenge: bytes = b""
    attempts: Attempts = Attempts()


@dataclass(frozen=True, eq=False)
class Arrivals:
    """What is stored of reports that come in.

    Attributes:
        people: How many there are, as `Record.people` counts.
        piles: Their sealed messages, pile by pile, in an order that says nothing.
        marks: Of their tokens and messages, shape (m, MARK_SIZE); none if nothing came in.
    """

    people: tuple[int, ...]
    piles: Sequence[bytes]
    marks: NDArray[np.uint8]


Keep: TypeAlias = Callable[[NDArray[np.bool_]], Arrivals]
"""Which marks are known, shape (k,), to what is stored."""

Seal: TypeAlias = Callable[
    [tuple[int, ...], int, tuple[Shard, ...]], tuple[ShufflerState, bytes]
]
"""People, bits and shards of the batch, to the closed state and the manifest."""


class ShufflerStore(Protocol):
    """Durable: what a call did is on the disk when it returns, or was not done at all.

    Every change names the state that it starts from, and is refused (NOT_OPEN) if the
    task stands elsewhere. What cannot be stored is refused as STORAGE.

    Attributes:
        alone: Whether no other process can have it open, so that nothing changes in it but
            by this one.
    """

    alone: bool

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

    async def begin(self, state: ShufflerState, former: Task | None = None) -> Record:
        """Returns what is kept of a task; begins with `state` if that is nothing.

        Args:
            state: Of the task, at its beginning.
            former: The task before; a state of it is returned as it is.

        Raises:
            DataError: If another task is kept.
        """

    async def add(
        self, state: ShufflerState, marks: NDArray[np.uint8], keep: Keep
    ) -> tuple[int, ...]:
        """Stores what comes in, and its marks.

        Args:
            state: The open step.
            marks: All that came, different and in increasing order, shape (k, MARK_SIZE).
            keep: Decides, before anything is written; called again, and begins anew, if
                another process was first to store some of it.

        Returns:
            How many people there are now.
        """

    async def fix(self, state: ShufflerState, seal: Seal) -> ShufflerState:
        """Replaces messages and marks by shards and the manifest that `seal` makes."""

    def batch(self, state: ShufflerState, place: int) -> AsyncIterator[bytes]:
        """Yields a shard of the closed batch in pieces of up to `CHUNK` bytes.

        Args:
            state: In which it is closed.
            place: Of the shard; `MANIFEST` for the manifest.
        """

    async def move(
        self, before: ShufflerState, after: ShufflerState, people: tuple[int, ...]
    ) -> None:
        """Goes to the next state; forgets batch, messages and marks of a step that ends.

        Args:
            before: Where it stands.
            after: Where it goes.
            people: How many reported, once a step ends: while it goes on the store knows.
        """

    async def count_refused(self, task: Task, more: dict[str, int]) -> dict[str, int]:
        """Adds numbers of refusals to those that are kept; returns what they are then."""

    async def show(self, state: ShufflerState, shown: tuple[int, ...]) -> None:
        """Keeps what everybody may know of how many people reported."""

    async def challenge(self, task: Task, named: bytes, following: bytes) -> bool:
        """Asks for something else from the operator from now on.

        Args:
            task: Which one's operator.
            named: What was asked for so far, as far as the caller knows.
            following: What is asked for now.

        Returns:
            Whether that was asked for; nothing changes if not.
        """

    async def note(self, state: ShufflerState, attempts: Attempts) -> None:
        """Keeps how the hand-over of the closed batch goes."""

    def handing_over(self, task: Task) -> AbstractAsyncContextManager[None]:
        """Is entered by one at a time, of all processes."""

    async def tends(self) -> bool:
        """Tells whether this is the process that does what one of them has to do."""


LAYOUT = Layout(
    "shuffler",
    version=5,
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


def nobody(state: ShufflerState) -> tuple[int, ...]:
    """Returns the numbers of people at the beginning of a step."""
    return (0,) * len(state.task.counted)


def first_row(state: ShufflerState) -> tuple[str, ...]:
    """Returns what is in the table of tasks at the beginning, but for the name."""
    none = json.dumps(nobody(state))
    return write_state(state), none, none, "", write_attempts(Attempts())


def read_row(
    row: Sequence[str],
    tasks: Sequence[Task],
    refused: Iterable[str],
    *,
    known: ShufflerState | None = None,
) -> Record:
    """Returns what is kept of a task.

    Args:
        row: As `first_row`.
        tasks: As in `read_state`.
        refused: Numbers of refusals, of each process.
        known: What was read last: a plan takes long to read again.
    """
    state, people, shown, challenge, attempts = row
    same = known is not None and known.task in tasks and write_state(known) == state
    return Record(
        known if same and known is not None else read_state(state, *tasks),
        tuple(json.loads(people)),
        tuple(json.loads(shown)),
        added(refused),
        bytes.fromhex(challenge),
        read_attempts(attempts),
    )


def added(refused: Iterable[str]) -> dict[str, int]:
    """Returns the sums of numbers by name, each in JSON."""
    found = Counter[str]()
    for text in refused:
        found.update(json.loads(text))
    return dict(found)


def write_attempts(attempts: Attempts) -> str:
    """Returns them as text."""
    refused = attempts.refused and attempts.refused.value
    return json.dumps([attempts.failed, refused, attempts.unsettled, attempts.full])


def read_attempts(text: str) -> Attempts:
    """Reads what `write_attempts` gave."""
    failed, refused, unsettled, full = json.loads(text)
    return Attempts(failed, refused and Reason(refused), unsettled, full)


def goes_on(before: ShufflerState, after: ShufflerState) -> bool:
    """Tells whether the same step stays open."""
    one, other = (
        (s.phase is ShufflerPhase.OPEN, s.epoch, s.stage) for s in (before, after)
    )
    return one == other and one[0]


def moved() -> Refusal:
    """Returns what is raised if a task stands elsewhere than the caller thought."""
    return Refusal(Reason.NOT_OPEN, "Expected this step to be as it was: it went on.")


def full() -> Refusal:
    """Returns what is raised if something cannot be stored, and counts it."""
    STORAGE_ERRORS.inc()
    return Refusal(Reason.STORAGE, "Expected room and a working disk: try again later.")


def write_state(state: ShufflerState) -> str:
    """Returns a state as text, the same for the same state."""
    value = {
        "task": to_text(state.task.digest),
        "epoch": state.epoch,
        "stage": int(state.stage),
        "phase": state.phase.value,
        "plan": state.plan and state.plan.record,
        "batch_id": state.batch_id and to_text(state.batch_id),
        "enrolment": state.enrolment and state.enrolment.to_dict(),
        "after": state.after,
        "deadline": state.deadline,
    }
    return canonical(value).decode()


def read_state(text: str, *tasks: Task) -> ShufflerState:
    """Reads what `write_state` gave.

    Args:
        text: A state of one of the tasks.
        tasks: The one that is hosted, and the one before, if there is one.

    Raises:
        DataError: If it is another one's, or damaged.
    """
    try:
        value: dict[str, Any] = read_object(text, "a state")
        kept = from_text(value["task"], DIGEST_SIZE, "a digest")
        task = the_kept(kept, tasks)
        plan, batch_id = value["plan"], value["batch_id"]
        enrolment = value["enrolment"]
        return ShufflerState(
            task,
            value["epoch"],
            EpochStage(value["stage"]),
            ShufflerPhase(value["phase"]),
            plan and read_plan(plan, task),
            batch_id and from_text(batch_id, ID_SIZE, "a batch id"),
            enrolment and Enrolment.read(enrolment, task),
            value["after"],
            value["deadline"],
        )
    except (KeyError, ValueError, Refusal) as error:
        identity = tasks[0].identity
        raise DataError(f"Expected the state of task {identity}.") from error
