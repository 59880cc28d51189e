"""What the shuffler keeps of a task besides reports, and how it is written down."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from shuffledp.errors import DataError
from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.storage.database import the_kept
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
    attempts: Attempts = Attempts()


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
    """Tells whether the same step goes on: what was collected in it is kept."""
    one, other = ((s.is_collecting, s.epoch, s.stage) for s in (before, after))
    return one == other and one[0]


def write_state(state: ShufflerState) -> str:
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
