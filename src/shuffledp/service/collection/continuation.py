"""How the shuffler's side of a task goes on after an interruption.

A database that was lost forgot where the task stood: while OPEN, `resume_after_loss` leads
to OPEN in a later epoch. Keys that were replaced are those of another task: while OPEN
before anybody reported, DELIVERED or SKIPPED, `replace_keys` leads to the same state of it.
"""

from dataclasses import replace

from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.succession import check_succession
from shuffledp.service.wire.task import Task


def resume_after_loss(
    state: ShufflerState, awaited: int, *, known: int
) -> ShufflerState:
    """Returns the state in which an epoch begins after one that was interrupted.

    A database that was lost forgot which tokens were used: no epoch that may have
    been under way is collected again, and the one after them has tokens of its own.
    Every epoch before it is counted, as nobody knows any more which were closed.

    Args:
        state: In which a task begins anew, as nothing is remembered.
        awaited: The epoch that the analyst waits for, who has not heard of those that
            were skipped after it.
        known: The last epoch of which there is a roster; 0 if there is none.

    Raises:
        Refusal: If the analyst is not ahead, or no later epoch is paid for.
    """
    if not state.is_collecting or awaited <= state.epoch:
        raise Refusal(
            Reason.NOT_OPEN,
            f"Expected the analyst to wait for a later epoch than {state.epoch}: "
            "only then was a database lost.",
        )
    epoch = max(awaited, known) + 1
    state.check_paid(epoch - 1)
    return ShufflerState.begin(
        state.task, epoch, after=awaited - 1, closed_epochs=epoch - 1
    )


def replace_keys(
    state: ShufflerState, task: Task, people: tuple[int, ...]
) -> ShufflerState:
    """Returns the state in which a task with other keys goes on where another stands.

    Who was enrolled in an open epoch has to be enrolled again: with other keys
    nobody's token is good any more.

    Args:
        state: Of the former task.
        task: The one that takes its place.
        people: Who reported in this step so far.

    Raises:
        Refusal: If the task does not succeed the former one, or something was collected
            that nobody could open any more.
    """
    check_succession(task, state.task)
    if state.phase in (ShufflerPhase.DELIVERED, ShufflerPhase.SKIPPED):
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
