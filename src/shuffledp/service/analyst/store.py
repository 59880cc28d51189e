"""What the analyst keeps: where a task stands, a sealed batch, what is over.

No opened message is ever kept, no address and no time: the last thing known of a message
is its count, and that is kept only inside what is published.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from shuffledp.errors import DataError
from shuffledp.service.analyst.sealed_batch import SealedBatch
from shuffledp.service.collection.analyst_state import AnalystPhase, AnalystState
from shuffledp.service.wire.batch import BatchHeader
from shuffledp.service.wire.canonical import from_text, to_text
from shuffledp.service.wire.plan import read_plan
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.roster import Enrolment
from shuffledp.service.wire.task import ID_SIZE, Task
from shuffledp.statistics.survey import EpochStage
from shuffledp.tally import Tally


@dataclass(frozen=True)
class EpochRecord:
    """An epoch that is over.

    Attributes:
        epoch: From 1.
        people: Accepted reports with each choice; in all, if choices are not named.
        spent: Central epsilon that each choice paid for it.
        opened: Whether messages were opened: if not, nothing was spent.
        failures: Why it is withheld, for people to read; empty if it is published.
        reason: The same for programs; None if it is published.
        result: What is published; None if it is withheld.
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
        """How it ended: published, withheld or skipped."""
        if self.published:
            return "published"
        return "skipped" if self.reason is Reason.SKIPPED else "withheld"

    @classmethod
    def skipped(
        cls, task: Task, epoch: int, why: str = "The shuffler skipped this epoch"
    ) -> "EpochRecord":
        """Returns that of an epoch of which nothing was counted."""
        nobody, nothing = (0,) * len(task.counted), (0.0,) * len(task.choices)
        said = (why,)
        return cls(epoch, nobody, nothing, False, said, Reason.SKIPPED)

    @property
    def refusal(self) -> Refusal:
        """What is answered to whoever asks for a result that is withheld."""
        return Refusal(self.reason or Reason.NOT_FOUND, "; ".join(self.failures) + ".")


@dataclass(frozen=True)
class Former:
    """A task whose keys were replaced.

    Attributes:
        task: As it was.
        after: The last epoch that was over by then; 0 if none was.
    """

    task: Task
    after: int


class AnalystStore(Protocol):
    """Keeps everything, durably: what a method wrote is there after a power cut."""

    @property
    def version(self) -> int:
        """Another number once a state or an epoch was written: what was read is old then.

        Whoever keeps what is read asks for the number first.
        """

    def open(self, tasks: Iterable[Task], formers: Iterable[Task] = ()) -> list[Task]:
        """Begins tasks that are new, and deletes what nobody needs any more.

        Args:
            tasks: All that are served.
            formers: Those whose place some of them take.

        Returns:
            The tasks that have just taken the place of another one.
        """

    def close(self) -> None:
        """Ends it."""

    def check(self) -> None:
        """Raises Refusal unless it can be used now."""

    def check_room(self) -> None:
        """Raises Refusal unless there is room for what is missing of begun batches."""

    def state(self, task: Task) -> AnalystState:
        """Returns where a task stands."""

    def begin_batch(
        self, task: Task, header: BatchHeader, manifest: bytes
    ) -> SealedBatch | None:
        """Keeps a manifest; what came before of another batch of the task is deleted.

        Returns:
            The batch whose shards may come now; None if all of it came meanwhile.

        Raises:
            Refusal: If the task's state does not allow it, or there is no room.
        """

    def begun_batch(self, task: Task) -> SealedBatch | None:
        """Returns the batch whose shards are coming in; None if there is none."""

    def receive(
        self, task: Task, batch: SealedBatch, acknowledged: bytes | None
    ) -> None:
        """Takes a batch, all shards of which are there; a known one changes nothing.

        Epochs that were skipped before it are over from then on.

        Raises:
            Refusal: If the task's state does not allow it, or there is no room.
        """

    def sealed(self, task: Task) -> SealedBatch:
        """Returns the batch that is to be counted."""

    def acknowledgement(self, task: Task, batch_id: bytes) -> bytes | None:
        """Returns what was signed for a batch; None if it is unknown, or not yet."""

    def list_messages(self, state: AnalystState, listed: Iterable[bytes]) -> bytes:
        """Keeps the public list of the messages of the epoch that is being counted.

        Returns:
            Its SHA-256.
        """

    def messages(self, task: Task, epoch: int) -> Path:
        """Returns the file of this list, which is there if the epoch is published."""

    def planned(self, state: AnalystState, acknowledged: bytes) -> None:
        """Keeps a plan and its acknowledgement, and deletes the batch of choices."""

    def finish(self, state: AnalystState, record: EpochRecord) -> None:
        """Keeps how an epoch ended, and deletes its batch."""

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
        allow_nan=False,
    )


def read_state(text: str, task: Task) -> AnalystState:
    """Reads what `write_state` gave.

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
            None if plan is None else read_plan(plan, task),
            None if chosen is None else Tally.from_dict(chosen),
            None if enrolment is None else Enrolment.read(enrolment, task),
        )
    except (Refusal, ValueError, KeyError, TypeError) as error:
        raise DataError("Expected the state of a task in the database.") from error


def waiting_batch(text: str) -> bytes | None:
    """Returns the batch that a state waits to see counted, whatever its task is."""
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
    """Reads what `write_record` gave."""
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
