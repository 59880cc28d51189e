"""Transitions of the shuffler's state machine after a lost database or a key rotation.

`resume_after_loss` leads from OPEN, in which a new database begins, to OPEN in a later
epoch. `replace_keys` leads to the same state of a task with other keys, from OPEN before
the first report, from DELIVERED and from SKIPPED.
"""

from dataclasses import replace

from shuffledp_services.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.succession import check_succession
from shuffledp_services.wire.task import Task


def resume_after_loss(
    state: ShufflerState, awaited: int, *, known: int
) -> ShufflerState:
    """Returns the state that begins an epoch after one that was interrupted.

    Args:
        state: The initial state, as the database is new.
        awaited: The epoch that the analyst waits for. Later ones may have been skipped.
        known: The last epoch that has a roster; 0 if none has.

    Raises:
        Refusal: If the analyst is not ahead, or no later epoch is paid for.
    """
    if not state.is_collecting or awaited <= state.epoch:
        raise Refusal(
            Reason.NOT_OPEN,
            f"Expected the analyst to wait for a later epoch than {state.epoch}: "
            "only then was a database lost.",
        )
    # The used tokens are lost: no epoch that may have been under way is collected again,
    # and the one after them has new tokens.
    epoch = max(awaited, known) + 1
    # Every earlier epoch counts, as it is unknown which had a batch.
    state.check_paid(epoch - 1)
    return ShufflerState.begin(
        state.task, epoch, after=awaited - 1, closed_epochs=epoch - 1
    )


def replace_keys(
    state: ShufflerState, task: Task, people: tuple[int, ...]
) -> ShufflerState:
    """Returns the state in which a task with other keys continues a former one.

    Args:
        state: Of the former task.
        task: The task that succeeds it.
        people: Report counts of the current step.

    Raises:
        Refusal: If the task does not succeed the former one, or reports were collected
            that could not be opened with the new keys.
    """
    check_succession(task, state.task)
    if state.phase in (ShufflerPhase.DELIVERED, ShufflerPhase.SKIPPED):
        # Tokens are bound to the task's digest: users must be enrolled again.
        return replace(state, task=task, enrolment=None)
    first = state.is_collecting and state.stage is task.stages[0]
    if not first or any(people):
        raise Refusal(
            Reason.NOT_OPEN,
            "Expected keys to be replaced between epochs: go on with the former "
            f"task until epoch {state.epoch} is delivered or skipped.",
        )
    return ShufflerState.begin(
        task, state.epoch, after=state.after, closed_epochs=state.closed_epochs
    )
