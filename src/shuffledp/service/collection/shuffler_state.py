"""The shuffler's side of one task, as a value that changes from step to step.

    OPEN --enroll--> OPEN (reports may come in)
         --until---> OPEN (the step has a deadline)
         --wait----> WAITING (it passed, and people are missing) --until--> OPEN
         --close--> CLOSED --deliver--> OPEN (answers follow choices)
                                   or   DELIVERED --next_epoch--> OPEN
                     --skip----> SKIPPED (the analyst refused the batch)
         --skip----> SKIPPED --next_epoch--> OPEN

`continuation` has what interrupts this: a lost database, and keys that are replaced.

A batch is dropped only once the analyst has refused it: one that the analyst may have is
handed over until it is signed for, or what is said to be dropped would be counted.

A deadline ends the intake of a step, and drops nothing: a clock may be wrong. If people are
missing then, the operator decides: the step gets another deadline, or the epoch is skipped.

An epoch that is skipped ends with everything dropped that was collected in it. Every batch
says after which epoch the analyst signed for all there was: skipped epochs are accepted
there, and no gap in what is remembered of others.

An epoch in which a batch was closed counts against the epochs that the task pays for,
whether the analyst says that the batch was refused or not: it was sent. After as many no
further epoch begins. The analyst's ledger is not asked: it could forget what it holds.

Nothing here reads a clock, a socket or a disk; whoever keeps the state writes it down
together with what it allows.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from shuffledp.service.collection.shortfall import Shortfall, shortfalls
from shuffledp.service.wire.plan import (
    Acknowledgement,
    PublishedPlan,
    check_plan,
)
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.reports import UploadHeader
from shuffledp.service.wire.roster import Enrolment
from shuffledp.service.wire.step import MAX_EPOCH, Step
from shuffledp.service.wire.task import Task
from shuffledp.statistics.survey import EpochStage


class ShufflerPhase(StrEnum):
    """The shuffler's part of an epoch that is under way."""

    OPEN = "open"
    WAITING = "waiting"
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
        deadline: When the intake of this step ends by itself, in seconds since 1970 UTC;
            None for never.
        closed_epochs: In how many epochs a batch was closed, this one included.
    """

    task: Task
    epoch: int
    stage: EpochStage
    phase: ShufflerPhase = ShufflerPhase.OPEN
    plan: PublishedPlan | None = None
    batch_id: bytes | None = None
    enrolment: Enrolment | None = None
    after: int = 0
    deadline: int | None = None
    closed_epochs: int = 0

    @classmethod
    def begin(
        cls, task: Task, epoch: int = 1, *, after: int = 0, closed_epochs: int = 0
    ) -> "ShufflerState":
        """Returns the state in which an epoch begins."""
        return cls(
            task, epoch, task.stages[0], after=after, closed_epochs=closed_epochs
        )

    @cached_property
    def step(self) -> Step:
        """The step that reports are for now."""
        plan = None if self.plan is None else self.plan.protocol
        return Step(self.task, self.epoch, self.stage, plan)

    @property
    def is_collecting(self) -> bool:
        """Whether the reports of a step are kept one by one: it is not closed yet."""
        return self.phase in (ShufflerPhase.OPEN, ShufflerPhase.WAITING)

    def check_upload(self, header: UploadHeader) -> None:
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

    def with_deadline(self, deadline: int) -> "ShufflerState":
        """Returns the state in which the open step has a deadline, instead of another.

        A step that waits since a former one is open again.

        Args:
            deadline: In seconds since 1970 UTC.

        Raises:
            Refusal: If no step is open, or waits.
        """
        if not self.is_collecting:
            raise Refusal(Reason.NOT_OPEN, "Expected an open step.")
        return replace(self, phase=ShufflerPhase.OPEN, deadline=deadline)

    def wait(self) -> "ShufflerState":
        """Returns the state in which nothing more comes in, and nothing is dropped.

        Raises:
            Refusal: If no step is open.
        """
        if self.phase is not ShufflerPhase.OPEN:
            raise Refusal(Reason.NOT_OPEN, "Expected an open step.")
        return replace(self, phase=ShufflerPhase.WAITING)

    def is_overdue(self, now: float) -> bool:
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
        planned = 0 if self.plan is None else self.plan.minimum
        return shortfalls(self.task, people, planned=planned)

    def close(self, people: tuple[int, ...], batch_id: bytes) -> "ShufflerState":
        """Returns the state in which the batch is fixed.

        Raises:
            Refusal: If a level has fewer people than promised.
        """
        if not self.is_collecting:
            raise Refusal(Reason.NOT_OPEN, "Expected an open step.")
        missing = self.shortfalls(people)
        if missing:
            raise Refusal(Reason.TOO_FEW_PEOPLE, "; ".join(map(str, missing)) + ".")
        # An epoch of two steps counts once, with its first batch.
        first = self.stage is self.task.stages[0]
        return replace(
            self,
            phase=ShufflerPhase.CLOSED,
            batch_id=batch_id,
            closed_epochs=self.closed_epochs + first,
        )

    def deliver(self, acknowledgement: Acknowledgement) -> "ShufflerState":
        """Returns the state in which the batch is gone.

        Without a plan the epoch ends after its choices.

        Raises:
            Refusal: If another batch is acknowledged, or the plan breaks the task's rule.
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
        plan = acknowledgement.plan
        if (plan.task, plan.epoch) != (self.task.digest, self.epoch):
            raise Refusal(
                Reason.WRONG_EPOCH, f"Expected the plan of epoch {self.epoch}."
            )
        check_plan(plan.protocol, plan.minimum, self.task)
        return ShufflerState(
            self.task,
            self.epoch,
            EpochStage.ANSWER,
            plan=plan,
            enrolment=self.enrolment,
            after=self.after,
            closed_epochs=self.closed_epochs,
        )

    def skip(self, *, refused: bool = False) -> "ShufflerState":
        """Returns the state in which an epoch is over that could not be finished.

        One in which a batch was closed stays counted.

        Args:
            refused: Whether the analyst refused the batch that is closed, if one is.

        Raises:
            Refusal: If it is over already, or a batch is closed that was not refused.
        """
        if self.phase in (ShufflerPhase.DELIVERED, ShufflerPhase.SKIPPED):
            raise Refusal(Reason.NOT_OPEN, "Expected an epoch that is under way.")
        if self.phase is ShufflerPhase.CLOSED and not refused:
            raise Refusal(
                Reason.NOT_OPEN,
                "Expected no closed batch, or one that the analyst refused.",
            )
        return replace(self, phase=ShufflerPhase.SKIPPED, batch_id=None)

    def next_epoch(self) -> "ShufflerState":
        """Returns the state in which the next epoch begins.

        Raises:
            Refusal: If this one is not over, or no other one is paid for.
        """
        delivered = self.phase is ShufflerPhase.DELIVERED
        over = delivered or self.phase is ShufflerPhase.SKIPPED
        if not over or self.epoch == MAX_EPOCH:
            raise Refusal(
                Reason.NOT_OPEN,
                "Expected this epoch to be delivered or skipped first.",
            )
        self.check_paid(self.closed_epochs)
        after = self.epoch if delivered else self.after
        return ShufflerState.begin(
            self.task, self.epoch + 1, after=after, closed_epochs=self.closed_epochs
        )

    def check_paid(self, closed_epochs: int) -> None:
        """Raises Refusal if the task pays for no epoch after so many with a batch."""
        if closed_epochs >= self.task.epochs:
            raise Refusal(
                Reason.ALLOWANCE_SPENT,
                f"Expected fewer than {self.task.epochs} epochs with a batch, got "
                f"{closed_epochs}: the allowance pays for no more.",
            )
