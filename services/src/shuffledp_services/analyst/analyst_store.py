"""Interface of the analyst's store: states of tasks, sealed batches, finished epochs.

The store has no opened message, no address and no time: of a message only its count
remains, inside the published result.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from shuffledp.errors import DataError
from shuffledp.statistics.survey import EpochStage
from shuffledp.tally import Tally
from shuffledp_services.analyst.sealed_batch import SealedBatch
from shuffledp_services.collection.analyst_state import AnalystPhase, AnalystState
from shuffledp_services.wire.batch import BatchHeader
from shuffledp_services.wire.canonical import from_text, to_text
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import Enrolment
from shuffledp_services.wire.signed_plan import read_plan
from shuffledp_services.wire.task import ID_SIZE, Task


@dataclass(frozen=True)
class EpochRecord:
    """Epoch that is over.

    Attributes:
        epoch: Number of the epoch, from 1.
        people: Number of accepted reports with each choice; in total, if choices are not
            named.
        spent: Central epsilon that each choice paid for the epoch.
        opened: Whether messages were opened: if not, no epsilon was spent.
        failures: Reasons for withholding the result, for readers; empty if published.
        reason: Reason for withholding it, for programs; None if published.
        result: Published result; None if withheld.
    """

    epoch: int
    people: tuple[int, ...]
    spent: tuple[float, ...]
    opened: bool
    failures: tuple[str, ...] = ()
    reason: Reason | None = None
    result: dict[str, Any] | None = None

    @property
    def published(self) -> bool:
        """Whether there is a result."""
        return self.result is not None

    @property
    def phase(self) -> str:
        """Outcome of the epoch: "published", "withheld" or "skipped"."""
        if self.published:
            return "published"
        return "skipped" if self.reason is Reason.SKIPPED else "withheld"

    @classmethod
    def skipped(
        cls, task: Task, epoch: int, why: str = "The shuffler skipped this epoch"
    ) -> "EpochRecord":
        """Returns the record of an epoch without any counted reports."""
        # No message was opened, and so no epsilon was spent.
        no_reports, none_spent = (0,) * len(task.counted), (0.0,) * len(task.choices)
        failures = (why,)
        return cls(epoch, no_reports, none_spent, False, failures, Reason.SKIPPED)

    @property
    def refusal(self) -> Refusal:
        """Refusal of requests for a withheld result."""
        return Refusal(self.reason or Reason.NOT_FOUND, "; ".join(self.failures) + ".")


@dataclass(frozen=True)
class Former:
    """Task whose keys were replaced.

    Attributes:
        task: Task with the former keys.
        after: Last epoch that was over at the replacement; 0 if none was.
    """

    task: Task
    after: int


class AnalystStore(Protocol):
    """Durable store: data that a method wrote survives a power failure."""

    @property
    def version(self) -> int:
        """Counter that changes whenever a state or an epoch is written.

        A cache reads it before the data, so that it notices any later write.
        """

    def open(self, tasks: Iterable[Task], formers: Iterable[Task] = ()) -> list[Task]:
        """Opens the store, begins new tasks, and deletes files that are not needed.

        Args:
            tasks: All served tasks.
            formers: Predecessors of some of them.

        Returns:
            The tasks that have just replaced their predecessor.
        """

    def close(self) -> None:
        """Closes the store."""

    def check(self) -> None:
        """Raises Refusal unless the store is usable."""

    def check_room(self) -> None:
        """Raises Refusal unless there is room for the missing shards of begun batches."""

    def state(self, task: Task) -> AnalystState:
        """Returns the state of a task."""

    def begin_batch(
        self, task: Task, header: BatchHeader, manifest: bytes
    ) -> SealedBatch | None:
        """Stores a manifest; deletes a begun batch of the same task with another one.

        Returns:
            The batch whose shards may arrive now; None if it was completed meanwhile.

        Raises:
            Refusal: If the task's state does not allow it, or there is no room.
        """

    def begun_batch(self, task: Task) -> SealedBatch | None:
        """Returns the batch whose shards are arriving; None if there is none."""

    def receive(
        self, task: Task, batch: SealedBatch, acknowledged: bytes | None
    ) -> None:
        """Receives a batch with all its shards; a known one changes nothing.

        Epochs that were skipped before it are over from then on.

        Raises:
            Refusal: If the task's state does not allow it, or there is no room.
        """

    def sealed(self, task: Task) -> SealedBatch:
        """Returns the batch that is to be counted."""

    def acknowledgement(self, task: Task, batch_id: bytes) -> bytes | None:
        """Returns a batch's signed acknowledgement; None if there is none (yet)."""

    def list_messages(self, state: AnalystState, listed: Iterable[bytes]) -> bytes:
        """Stores the public list of messages of the epoch that is being counted.

        Returns:
            SHA-256 of the list.
        """

    def messages(self, task: Task, epoch: int) -> Path:
        """Returns the file of this list, which exists if the epoch is published."""

    def planned(self, state: AnalystState, acknowledged: bytes) -> None:
        """Stores a plan and its acknowledgement, and deletes the batch of choices."""

    def finish(self, state: AnalystState, record: EpochRecord) -> None:
        """Stores the record of a finished epoch, and deletes its batch."""

    def epochs(self, task: Task) -> list[EpochRecord]:
        """Returns all epochs that are over, in order."""

    def formers(self, task: Task) -> list[Former]:
        """Returns the tasks before this one, in order."""


def write_state(state: AnalystState) -> str:
    """Returns a state as text, without its task."""
    return json.dumps(
        {
            "epoch": state.epoch,
            "stage": int(state.stage),
            "phase": state.phase.value,
            "spent": list(state.spent),
            "batch_id": state.batch_id and to_text(state.batch_id),
            "plan": state.plan and state.plan.record,
            "chosen": state.chosen and state.chosen.to_dict(),
            "enrolment": state.enrolment and state.enrolment.to_dict(),
        },
        # Python would write NaN, which is no JSON.
        allow_nan=False,
    )


def read_state(text: str, task: Task) -> AnalystState:
    """Reads a state that `write_state` wrote.

    Raises:
        DataError: If it is damaged.
    """
    try:
        value = json.loads(text)
        plan, chosen, batch_id = (value[n] for n in ("plan", "chosen", "batch_id"))
        enrolment = value["enrolment"]
        return AnalystState(
            task,
            value["epoch"],
            EpochStage(value["stage"]),
            AnalystPhase(value["phase"]),
            tuple(value["spent"]),
            None if batch_id is None else from_text(batch_id, ID_SIZE, "a batch id"),
            # Read without its signature: this service proved and signed the plan
            # itself.
            None if plan is None else read_plan(plan, task),
            None if chosen is None else Tally.from_dict(chosen),
            None if enrolment is None else Enrolment.read(enrolment, task),
        )
    # This service wrote the text: any error means a damaged database.
    except (Refusal, ValueError, KeyError, TypeError) as error:
        raise DataError("Expected the state of a task in the database.") from error


def waiting_batch(text: str) -> bytes | None:
    """Returns the id of the batch that waits to be counted in a state of any task."""
    # Without `read_state`, which needs the task: it may not be served any more.
    value = json.loads(text)
    if value["phase"] != AnalystPhase.RECEIVED.value:
        return None
    return from_text(value["batch_id"], ID_SIZE, "a batch id")


def write_record(record: EpochRecord) -> str:
    """Returns an epoch as text, without its number."""
    return json.dumps(
        {
            "people": list(record.people),
            "spent": list(record.spent),
            "opened": record.opened,
            "failures": list(record.failures),
            "reason": record.reason,
            "result": record.result,
        },
        allow_nan=False,
    )


def read_record(epoch: int, text: str) -> EpochRecord:
    """Reads a record that `write_record` wrote."""
    value = json.loads(text)
    reason = value["reason"]
    return EpochRecord(
        epoch,
        tuple(value["people"]),
        tuple(value["spent"]),
        value["opened"],
        tuple(value["failures"]),
        None if reason is None else Reason(reason),
        value["result"],
    )
