"""What the shuffler keeps of a task besides reports, and how it is written down."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from shuffledp.errors import DataError
from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.storage.database import stored_task
from shuffledp.service.wire.canonical import (
    canonical,
    from_text,
    read_object,
    to_text,
)
from shuffledp.service.wire.plan import PublishedPlan
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.roster import Enrolment
from shuffledp.service.wire.task import DIGEST_SIZE, ID_SIZE, Task
from shuffledp.statistics.survey import EpochStage


@dataclass(frozen=True)
class HandoverAttempts:
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
class TaskRecord:
    """What is kept of a task besides reports.

    Attributes:
        state: Where it stands.
        people: How many reported in this step, per level; in all, if none is named.
        shown: The same as everybody may know it.
        refused: How many reports were refused since the task began, by reason; may lag
            behind.
        challenge: What the operator's next command must name; empty before the first.
        attempts: To hand over.
    """

    state: ShufflerState
    people: tuple[int, ...]
    shown: tuple[int, ...]
    refused: dict[str, int] = field(default_factory=dict)
    challenge: bytes = b""
    attempts: HandoverAttempts = HandoverAttempts()


def zero_counts(state: ShufflerState) -> tuple[int, ...]:
    """Returns the numbers of people at the beginning of a step."""
    return (0,) * len(state.task.counted)


def initial_row(state: ShufflerState) -> tuple[str, ...]:
    """Returns what is in the table of tasks at the beginning, but for the name."""
    none = json.dumps(zero_counts(state))
    return encode_state(state), none, none, "", encode_attempts(HandoverAttempts())


def decode_row(
    row: Sequence[str],
    tasks: Sequence[Task],
    refused: Iterable[str],
    *,
    known: ShufflerState | None = None,
) -> TaskRecord:
    """Returns what is kept of a task.

    Args:
        row: As `initial_row`.
        tasks: As in `decode_state`.
        refused: Numbers of refusals, of each process.
        known: What was read last: a plan takes long to read again.
    """
    state, people, shown, challenge, attempts = row
    same = known is not None and known.task in tasks and encode_state(known) == state
    return TaskRecord(
        known if same and known is not None else decode_state(state, *tasks),
        tuple(json.loads(people)),
        tuple(json.loads(shown)),
        sum_refusals(refused),
        bytes.fromhex(challenge),
        decode_attempts(attempts),
    )


def sum_refusals(refused: Iterable[str]) -> dict[str, int]:
    """Returns the sums of numbers by name, each in JSON."""
    found = Counter[str]()
    for text in refused:
        found.update(json.loads(text))
    return dict(found)


def encode_attempts(attempts: HandoverAttempts) -> str:
    """Returns them as text."""
    refused = attempts.refused and attempts.refused.value
    return json.dumps([attempts.failed, refused, attempts.unsettled, attempts.full])


def decode_attempts(text: str) -> HandoverAttempts:
    """Reads what `encode_attempts` gave."""
    failed, refused, unsettled, full = json.loads(text)
    return HandoverAttempts(failed, refused and Reason(refused), unsettled, full)


def is_same_step(before: ShufflerState, after: ShufflerState) -> bool:
    """Tells whether the same step goes on: what was collected in it is kept."""
    one, other = ((s.is_collecting, s.epoch, s.stage) for s in (before, after))
    return one == other and one[0]


def encode_state(state: ShufflerState) -> str:
    """Returns a state as text, the same for the same state."""
    value = {
        "task": to_text(state.task.digest),
        "epoch": state.epoch,
        "stage": int(state.stage),
        "phase": state.phase.value,
        "plan": state.plan and state.plan.to_dict(),
        "batch_id": state.batch_id and to_text(state.batch_id),
        "enrolment": state.enrolment and state.enrolment.to_dict(),
        "after": state.after,
        "deadline": state.deadline,
        "closed_epochs": state.closed_epochs,
    }
    return canonical(value).decode()


def decode_state(text: str, *tasks: Task) -> ShufflerState:
    """Reads what `encode_state` gave.

    Args:
        text: A state of one of the tasks.
        tasks: The one that is hosted, and the one before, if there is one.

    Raises:
        DataError: If it is another one's, or damaged.
    """
    try:
        value: dict[str, Any] = read_object(text, "a state")
        kept = from_text(value["task"], DIGEST_SIZE, "a digest")
        task = stored_task(kept, tasks)
        plan, batch_id = value["plan"], value["batch_id"]
        enrolment = value["enrolment"]
        return ShufflerState(
            task,
            value["epoch"],
            EpochStage(value["stage"]),
            ShufflerPhase(value["phase"]),
            plan and PublishedPlan.read(plan, task, value["epoch"]),
            batch_id and from_text(batch_id, ID_SIZE, "a batch id"),
            enrolment and Enrolment.read(enrolment, task),
            value["after"],
            value["deadline"],
            value["closed_epochs"],
        )
    except (KeyError, ValueError, Refusal) as error:
        identity = tasks[0].identity
        raise DataError(f"Expected the state of task {identity}.") from error
