"""Record of a task at the shuffler, apart from its reports, and its text encoding."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from shuffledp.errors import DataError
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp_services.storage.database import stored_task
from shuffledp_services.wire.canonical import (
    canonical,
    from_text,
    read_object,
    to_text,
)
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import Enrolment
from shuffledp_services.wire.signed_plan import PublishedPlan
from shuffledp_services.wire.task import DIGEST_SIZE, ID_SIZE, Task


@dataclass(frozen=True)
class HandoverAttempts:
    """Progress of the hand-over of a closed batch.

    Attributes:
        failed: The number of failed attempts.
        refused: The reason of the analyst's last refusal, if any.
        unsettled: Whether an attempt after that refusal has no known outcome: the analyst
            may have the batch.
        full: Whether the analyst's disk was full at the last attempt.
    """

    failed: int = 0
    refused: Reason | None = None
    unsettled: bool = False
    full: bool = False


@dataclass(frozen=True)
class TaskRecord:
    """Record of a task, apart from its reports.

    Attributes:
        state: The current state.
        people: Reports in the current step, per choice; one total if choices are not
            named.
        published: The same, rounded, as published last.
        refused: Reports refused since the task began, by reason; may lag behind.
        challenge: Of the operator's next command; empty before the first.
        attempts: The progress of the hand-over.
    """

    state: ShufflerState
    people: tuple[int, ...]
    published: tuple[int, ...]
    refused: dict[str, int] = field(default_factory=dict)
    challenge: bytes = b""
    attempts: HandoverAttempts = HandoverAttempts()


def zero_counts(state: ShufflerState) -> tuple[int, ...]:
    """Returns the report counts at the beginning of a step."""
    return (0,) * len(state.task.counted)


def initial_row(state: ShufflerState) -> tuple[str, ...]:
    """Returns the initial row of a task, without its name."""
    counts = json.dumps(zero_counts(state))
    return encode_state(state), counts, counts, "", encode_attempts(HandoverAttempts())


def decode_row(
    row: Sequence[str],
    tasks: Sequence[Task],
    refused: Iterable[str],
    *,
    known: ShufflerState | None = None,
) -> TaskRecord:
    """Decodes the record of a task.

    Args:
        row: As `initial_row`.
        tasks: As in `decode_state`.
        refused: Refusal counts of each process, as JSON.
        known: The state that was read last; reused if it is the same.
    """
    state, people, published, challenge, attempts = row
    # Decoding a plan again would take long.
    same = known is not None and known.task in tasks and encode_state(known) == state
    return TaskRecord(
        known if same and known is not None else decode_state(state, *tasks),
        tuple(json.loads(people)),
        tuple(json.loads(published)),
        sum_refusals(refused),
        bytes.fromhex(challenge),
        decode_attempts(attempts),
    )


def sum_refusals(refused: Iterable[str]) -> dict[str, int]:
    """Returns the sums by reason of several counts in JSON."""
    sums = Counter[str]()
    for text in refused:
        sums.update(json.loads(text))
    return dict(sums)


def encode_attempts(attempts: HandoverAttempts) -> str:
    """Returns the attempts as JSON."""
    refused = attempts.refused and attempts.refused.value
    return json.dumps([attempts.failed, refused, attempts.unsettled, attempts.full])


def decode_attempts(text: str) -> HandoverAttempts:
    """Decodes the text from `encode_attempts`."""
    failed, refused, unsettled, full = json.loads(text)
    return HandoverAttempts(failed, refused and Reason(refused), unsettled, full)


def is_same_step(before: ShufflerState, after: ShufflerState) -> bool:
    """Tells whether both states are of the same open step, so that its reports stay."""
    first, second = ((s.is_collecting, s.epoch, s.stage) for s in (before, after))
    return first == second and first[0]


def encode_state(state: ShufflerState) -> str:
    """Returns a state as canonical text: equal states have equal texts."""
    value = {
        # The digest tells a former task from its successor of the same identity.
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
    # Stores compare states as text: see `check_state`.
    return canonical(value).decode()


def decode_state(text: str, *tasks: Task) -> ShufflerState:
    """Decodes the text from `encode_state`.

    Args:
        text: A state of one of the tasks.
        tasks: The hosted task, and the task that it succeeds, if any.

    Raises:
        DataError: If the state is of another task, or damaged.
    """
    try:
        value: dict[str, Any] = read_object(text, "a state")
        digest = from_text(value["task"], DIGEST_SIZE, "a digest")
        task = stored_task(digest, tasks)
        plan, batch_id = value["plan"], value["batch_id"]
        enrolment = value["enrolment"]
        return ShufflerState(
            task,
            value["epoch"],
            EpochStage(value["stage"]),
            ShufflerPhase(value["phase"]),
            # Verified again, like a plan from the wire.
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
