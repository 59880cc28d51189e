"""The shuffler's side of one task, as a value that changes from step to step.

    OPEN --enroll--> OPEN (reports may come in)
         --until---> OPEN (the step has a deadline)
         --close--> CLOSED --deliver--> OPEN (answers follow choices)
                                   or   DELIVERED --next_epoch--> OPEN
                     --abandon--> OPEN (the same step, and nobody reported yet)
                             or   SKIPPED (she has another batch of this step)
         --skip----> SKIPPED --next_epoch--> OPEN
         --resume--> OPEN (a later epoch, as this party's database was lost)

    OPEN before anybody reported, DELIVERED, SKIPPED --succeed--> the same, with other keys

A batch is dropped only once the analyst has refused it: one that she may have is handed
over until she signs for it, or she would count what is said to be dropped.

An epoch that is skipped ends with everything dropped that was collected in it. Every batch
says after which epoch the analyst signed for all there was: she accepts skipped epochs, and
no gap in what she remembers of others.

Nothing here reads a clock, a socket or a disk; whoever keeps the state writes it down
together with what it allows.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from shuffledp.identity import Identity
from shuffledp.service.collection.shortfall import Shortfall, shortfalls
from shuffledp.service.wire.plan import Acknowledgement
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.reports import Header
from shuffledp.service.wire.roster import Enrolment
from shuffledp.service.wire.step import MAX_EPOCH, Step
from shuffledp.service.wire.succession import check_succession
from shuffledp.service.wire.task import Task
from shuffledp.statistics.survey import EpochStage


class ShufflerPhase(StrEnum):
    """What the shuffler is doing."""

    OPEN = "open"
    CLOSED = "closed"
    DELIVERED = "delivered"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class ShufflerState:
    """Where a task stands.

    Attributes:
        task: The task.
        epoch: From 1.
        stage: Which step of the epoch.
        phase: What is done with it.
        plan: What answers follow; None if nothing was published.
        batch_id: Of the batch that is closed, 16 bytes; None while none is.
        enrolment: Whose reports may come in; None until it is known.
        after: The last epoch that was delivered before this one; 0 if none was.
        deadline: When this step ends by itself, in seconds since 1970 UTC; None for never.
    """

    task: Task
    epoch: int
    stage: EpochStage
    phase: ShufflerPhase = ShufflerPhase.OPEN
    plan: Identity | None = None
    batch_id: bytes | None = None
    enrolment: Enrolment | None = None
    after: int = 0
    deadline: int | None = None

    @classmethod
    def begin(cls, task: Task, epoch: int = 1, *, after: int = 0) -> "ShufflerState":
        """Returns the state in which an epoch begins."""
        return cls(task, epoch, task.stages[0], after=after)

    @cached_property
    def step(self) -> Step:
        """What reports are for now."""
        return Step(self.task, self.epoch, self.stage, self.plan)

    def check_upload(self, header: Header) -> None:
        """Raises Refusal unless an upload with this header may come in now."""
        if header.task_id != self.task.task_id:
            raise Refusal(Reason.UNKNOWN_TASK, "Expected reports of this task.")
        if header.epoch != self.epoch:
            raise Refusal(
                Reason.WRONG_EPOCH, f"Expected reports of epoch {self.epoch}."
            )
        if header.stage != self.stage:
            raise Refusal(
                Reason.WRONG_STAGE,
                f"Expected reports of step {self.stage.name.lower()}.",
            )
        if self.phase is not ShufflerPhase.OPEN:
            raise Refusal(Reason.NOT_OPEN, "Expected nothing: this step is closed.")
        if self.enrolment is None:
            raise Refusal(Reason.NOT_OPEN, "Expected nothing yet: nobody is enrolled.")

    def enroll(self, enrolment: Enrolment) -> "ShufflerState":
        """Returns the state in which it is settled who may answer in this epoch.

        Raises:
            Refusal: If it was settled before, otherwise, or is about another epoch.
        """
        if enrolment == self.enrolment:
            return self
        if self.enrolment is not None:
            raise Refusal(
                Reason.SIGNATURE_FORGED,
                "Expected the enrolment that this epoch began with.",
            )
        if enrolment.epoch != self.epoch:
            raise Refusal(
                Reason.WRONG_EPOCH, f"Expected the enrolment of epoch {self.epoch}."
            )
        return replace(self, enrolment=enrolment)

    def until(self, deadline: int) -> "ShufflerState":
        """Returns the state in which the open step has a deadline, instead of another.

        Args:
            deadline: In seconds since 1970 UTC.

        Raises:
            Refusal: If no step is open.
        """
        if self.phase is not ShufflerPhase.OPEN:
            raise Refusal(Reason.NOT_OPEN, "Expected an open step.")
        return replace(self, deadline=deadline)

    def overdue(self, now: float) -> bool:
        """Tells whether an open step is past its deadline.

        Args:
            now: In seconds since 1970 UTC.
        """
        is_open = self.phase is ShufflerPhase.OPEN
        return is_open and self.deadline is not None and now >= self.deadline

    def shortfalls(self, people: tuple[int, ...]) -> tuple[Shortfall, ...]:
        """Returns what is missing before the step can be closed.

        Args:
            people: Who reported so far, for each choice; in all, if they are not named.
        """
        return shortfalls(self.task, people)

    def close(self, people: tuple[int, ...], batch_id: bytes) -> "ShufflerState":
        """Returns the state in which the batch is fixed.

        Raises:
            Refusal: If a level has fewer people than promised.
        """
        if self.phase is not ShufflerPhase.OPEN:
            raise Refusal(Reason.NOT_OPEN, "Expected an open step.")
        missing = self.shortfalls(people)
        if missing:
            raise Refusal(Reason.TOO_FEW_PEOPLE, "; ".join(map(str, missing)) + ".")
        return replace(self, phase=ShufflerPhase.CLOSED, batch_id=batch_id)

    def deliver(self, acknowledgement: Acknowledgement) -> "ShufflerState":
        """Returns the state in which the batch is gone.

        Without a plan the epoch ends after its choices.

        Raises:
            Refusal: If another batch is acknowledged.
        """
        stated = (acknowledgement.task, acknowledgement.batch_id)
        if self.phase is not ShufflerPhase.CLOSED or stated != (
            self.task.digest,
            self.batch_id,
        ):
            raise Refusal(
                Reason.MALFORMED, "Expected the closed batch's acknowledgement."
            )
        if self.stage is EpochStage.ANSWER or acknowledgement.plan is None:
            return replace(self, phase=ShufflerPhase.DELIVERED, batch_id=None)
        return ShufflerState(
            self.task,
            self.epoch,
            EpochStage.ANSWER,
            plan=acknowledgement.plan,
            enrolment=self.enrolment,
            after=self.after,
        )

    def abandon(self, reason: Reason) -> "ShufflerState":
        """Returns the state in which a batch that the analyst refused is gone for good.

        If she has another batch of this step, the epoch is skipped; otherwise the same
        step is open again, and the tokens of its epoch are good again.

        Args:
            reason: Why she refused it.

        Raises:
            Refusal: If no batch is closed.
        """
        if self.phase is not ShufflerPhase.CLOSED:
            raise Refusal(Reason.NOT_OPEN, "Expected a closed batch.")
        over = reason is Reason.ALREADY_DELIVERED
        phase = ShufflerPhase.SKIPPED if over else ShufflerPhase.OPEN
        # Who is asked again is given time again: a deadline that passed would skip her.
        return replace(self, phase=phase, batch_id=None, deadline=None)

    def skip(self, *, refused: bool = False) -> "ShufflerState":
        """Returns the state in which an epoch is over that could not be finished.

        Args:
            refused: Whether the analyst refused the batch that is closed, if one is.

        Raises:
            Refusal: If it is over already, or a batch is closed that she may have.
        """
        if self.phase in (ShufflerPhase.DELIVERED, ShufflerPhase.SKIPPED):
            raise Refusal(Reason.NOT_OPEN, "Expected an epoch that is under way.")
        if self.phase is ShufflerPhase.CLOSED and not refused:
            raise Refusal(
                Reason.NOT_OPEN,
                "Expected no closed batch, or one that the analyst refused.",
            )
        return replace(self, phase=ShufflerPhase.SKIPPED, batch_id=None)

    def resume(self, awaited: int, *, known: int) -> "ShufflerState":
        """Returns the state in which an epoch begins after one that was interrupted.

        A database that was lost forgot which tokens were used: no epoch that may have
        been under way is collected again, and the one after them has tokens of its own.

        Args:
            awaited: The epoch that the analyst waits for; she has not heard of those that
                were skipped after it.
            known: The last epoch of which there is a roster; 0 if there is none.

        Raises:
            Refusal: If she is not ahead, or there is no later epoch.
        """
        if self.phase is not ShufflerPhase.OPEN or awaited <= self.epoch:
            raise Refusal(
                Reason.NOT_OPEN,
                f"Expected the analyst to wait for a later epoch than {self.epoch}: "
                "only then was a database lost.",
            )
        epoch = max(awaited, known) + 1
        if epoch > self.task.last_epoch:
            raise Refusal(Reason.NOT_OPEN, "Expected an epoch after this one.")
        return ShufflerState.begin(self.task, epoch, after=awaited - 1)

    def succeed(self, task: Task, people: tuple[int, ...]) -> "ShufflerState":
        """Returns the state in which a task with other keys goes on where this stands.

        Who was enrolled in an open epoch has to be enrolled again: with other keys
        nobody's token is good any more.

        Args:
            task: Which succeeds this one.
            people: Who reported in this step so far.

        Raises:
            Refusal: If it does not succeed this one, or something was collected that
                nobody could open any more.
        """
        check_succession(task, self.task)
        if self.phase in (ShufflerPhase.DELIVERED, ShufflerPhase.SKIPPED):
            return replace(self, task=task, enrolment=None)
        first = self.phase is ShufflerPhase.OPEN and self.stage is task.stages[0]
        if not first or any(people):
            raise Refusal(
                Reason.NOT_OPEN,
                "Expected keys to be replaced between epochs: go on with the former "
                f"task until epoch {self.epoch} is delivered or skipped.",
            )
        return ShufflerState.begin(task, self.epoch, after=self.after)

    def next_epoch(self) -> "ShufflerState":
        """Returns the state in which the next epoch begins.

        Raises:
            Refusal: If this one is not over.
        """
        delivered = self.phase is ShufflerPhase.DELIVERED
        over = delivered or self.phase is ShufflerPhase.SKIPPED
        if not over or self.epoch == MAX_EPOCH:
            raise Refusal(
                Reason.NOT_OPEN,
                "Expected this epoch to be delivered or skipped first.",
            )
        after = self.epoch if delivered else self.after
        return ShufflerState.begin(self.task, self.epoch + 1, after=after)
