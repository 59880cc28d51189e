"""What the shuffler keeps, and what every store of it promises.

    task       state, number of people, refusals by reason              while it is hosted
    marks      of tokens and messages of this step (`shuffler.marks`)        until the close
    messages   sealed messages, per pile, in the order of arrival            until the close
    batch      the closed batch, as it is handed over        from the close to its delivery

There is no time, address, token or level of a person. What arrives in one transaction is
stored in the order of its marks, which means nothing to whoever has not the shuffler's key;
but transactions follow each other: up to the close, whoever reads the disk and knows when
somebody answered finds the few messages of that moment. The close sorts all messages and
drops the marks, in the same transaction.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import DataError
from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.database import Layout, the_kept
from shuffledp.service.metrics import STORAGE_ERRORS
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

STEP_TABLES = ("marks", "messages", "batch")
"""Tables that hold something of people: dropped when their step ends."""

CHUNK = 1 << 20
"""Bytes of a batch that are stored, read and sent at once."""


@dataclass(frozen=True)
class Record:
    """What is kept of a task besides reports.

    Attributes:
        state: Where it stands.
        people: How many reported in this step, per level; in all, if none is named.
        refused: How many reports were refused, by reason; may lag behind.
    """

    state: ShufflerState
    people: tuple[int, ...]
    refused: dict[str, int]


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
    [tuple[int, ...], list[bytearray]], tuple[ShufflerState, bytes]
]
"""People and the messages of every pile, to the closed state and the batch."""


class ShufflerStore(Protocol):
    """Durable: what a call did is on the disk when it returns, or was not done at all.

    Every change names the state that it starts from, and is refused (NOT_OPEN) if the
    task stands elsewhere. What cannot be stored is refused as STORAGE.
    """

    async def open(self) -> None:
        """Connects, and completes what a crash interrupted."""

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
            keep: Decides; called once, before anything is written.

        Returns:
            How many people there are now.
        """

    async def fix(self, state: ShufflerState, seal: Seal) -> ShufflerState:
        """Replaces messages and marks by the batch that `seal` makes of them."""

    def batch(self, state: ShufflerState) -> AsyncIterator[bytes]:
        """Yields the closed batch in pieces of up to `CHUNK` bytes."""

    async def move(
        self, before: ShufflerState, after: ShufflerState, people: tuple[int, ...]
    ) -> None:
        """Goes to the next state; forgets batch, messages and marks of a step that ends."""

    async def count_refused(self, task: Task, refused: dict[str, int]) -> None:
        """Keeps the numbers of refusals."""


LAYOUT = Layout(
    "shuffler",
    version=3,
    tables=(
        "task (name TEXT PRIMARY KEY, state TEXT NOT NULL, people TEXT NOT NULL,"
        " refused TEXT NOT NULL)",
    ),
)
"""Of both stores; tables of a step are made and dropped with it."""


def table_name(task: Task) -> str:
    """Returns how tables of a task are named: base64url has letters that names lack."""
    return task.task_id.hex()


def nobody(state: ShufflerState) -> tuple[int, ...]:
    """Returns the numbers of people at the beginning of a step."""
    return (0,) * len(state.task.counted)


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
