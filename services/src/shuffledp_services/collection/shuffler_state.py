"""State machine of the shuffler for one task.

    OPEN --enroll--> OPEN (reports may come in)
         --with_deadline--> OPEN (the step has a deadline)
         --wait----> WAITING (it passed below the minimum) --with_deadline--> OPEN
         --close--> CLOSED --deliver--> OPEN (answers follow choices)
                                   or   DELIVERED --next_epoch--> OPEN
                     --skip----> SKIPPED (the analyst refused the batch)
         --skip----> SKIPPED --next_epoch--> OPEN

`continuation` has the transitions after a lost database and a key rotation.

A batch is dropped only after the analyst has refused it. One that the analyst may have is
handed over until it is acknowledged, or a batch reported as dropped could be counted.

A deadline ends the intake of a step, and drops nothing, as a clock may be wrong. If a
minimum is not reached, the operator decides: the step gets another deadline, or the epoch
is skipped.

Skipping an epoch drops its reports. Every batch names the last epoch that was acknowledged
before it, so that the analyst accepts skipped epochs, and detects gaps in its own ledger.

An epoch with a closed batch counts against the epochs that the task pays for, even if the
analyst refused the batch: it was sent. When all are used, no further epoch begins. The
analyst's ledger is not consulted: it could have lost entries.

Nothing here reads a clock, a socket or a disk; the owner stores the state in one
transaction with its effects.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from shuffledp.statistics.survey import EpochStage
from shuffledp_services.collection.shortfall import Shortfall, shortfalls
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import Enrolment
from shuffledp_services.wire.signed_plan import (
    Acknowledgement,
    PublishedPlan,
    check_plan,
)
from shuffledp_services.wire.step import MAX_EPOCH, Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.upload_format import UploadHeader


class ShufflerPhase(StrEnum):
    """Phase of the shuffler in a step."""

    OPEN = "open"
    WAITING = "waiting"
    CLOSED = "closed"
    DELIVERED = "delivered"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class ShufflerState:
    """State of a task at the shuffler.

    Attributes:
        task: The task.
        epoch: From 1.
        stage: The step of the epoch.
        phase: The phase of this step.
        plan: The published plan of the answers, if any.
        batch_id: Of the closed batch, 16 bytes; None if no batch is closed.
        enrolment: Commits to the valid tokens; None until there is a roster.
        after: The last epoch that was delivered before this one; 0 if none was.
        deadline: End of the intake, in seconds since 1970 UTC; None for no deadline.
        closed_epochs: The number of epochs with a closed batch, this one included.
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
        """Returns the initial state of an epoch."""
        return cls(
            task, epoch, task.stages[0], after=after, closed_epochs=closed_epochs
        )

    @cached_property
    def step(self) -> Step:
        """The current step."""
        plan = None if self.plan is None else self.plan.protocol
        return Step(self.task, self.epoch, self.stage, plan)

    @property
    def is_collecting(self) -> bool:
        """Whether the step is not closed yet, so that its reports are stored one by one."""
        return self.phase in (ShufflerPhase.OPEN, ShufflerPhase.WAITING)

    def check_upload(self, header: UploadHeader) -> None:
        """Raises Refusal unless an upload with this header is accepted now."""
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
        self.check_open()

    def check_open(self) -> None:
        """Raises Refusal unless uploads to this step are accepted now."""
        if self.phase is not ShufflerPhase.OPEN:
            raise Refusal(Reason.NOT_OPEN, "Expected nothing: this step is closed.")
        if self.enrolment is None:
            raise Refusal(Reason.NOT_OPEN, "Expected nothing yet: nobody is enrolled.")

    def enroll(self, enrolment: Enrolment) -> "ShufflerState":
        """Returns the state with the enrolment of this epoch.

        Raises:
            Refusal: If the epoch has a different enrolment, or this one is of another
                epoch.
        """
        # The roster may be sent again after a lost answer.
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
        """Returns the state in which the step is open until a new deadline.

        Args:
            deadline: In seconds since 1970 UTC.

        Raises:
            Refusal: If the step is neither open nor waiting.
        """
        if not self.is_collecting:
            raise Refusal(Reason.NOT_OPEN, "Expected an open step.")
        # A step that waits below its minimum opens again.
        return replace(self, phase=ShufflerPhase.OPEN, deadline=deadline)

    def wait(self) -> "ShufflerState":
        """Returns the state in which the intake has ended, and reports are kept.

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
        """Returns the choices below their minimum, which keep the step from closing.

        Args:
            people: Reports per choice; one total if choices are not named.
        """
        planned = 0 if self.plan is None else self.plan.minimum
        return shortfalls(self.task, people, planned=planned)

    def close(self, people: tuple[int, ...], batch_id: bytes) -> "ShufflerState":
        """Returns the state with a closed batch.

        Raises:
            Refusal: If the step is closed already, or a minimum is not reached.
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
        """Returns the state after an acknowledged hand-over.

        Raises:
            Refusal: If another batch is acknowledged, or the plan breaks the task's rule.
        """
        acknowledged = (acknowledgement.task, acknowledgement.batch_id)
        if self.phase is not ShufflerPhase.CLOSED or acknowledged != (
            self.task.digest,
            self.batch_id,
        ):
            raise Refusal(
                Reason.MALFORMED, "Expected the closed batch's acknowledgement."
            )
        # Without a plan the epoch ends after its choices.
        if self.stage is EpochStage.ANSWER or acknowledgement.plan is None:
            return replace(self, phase=ShufflerPhase.DELIVERED, batch_id=None)
        plan = acknowledgement.plan
        if (plan.task, plan.epoch) != (self.task.digest, self.epoch):
            raise Refusal(
                Reason.WRONG_EPOCH, f"Expected the plan of epoch {self.epoch}."
            )
        # The signature was verified on reading; the rule is checked again here.
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
        """Returns the state after an epoch that is abandoned.

        Args:
            refused: Whether the analyst refused the closed batch, if there is one.

        Raises:
            Refusal: If the epoch is over, or its closed batch was not refused.
        """
        if self.phase in (ShufflerPhase.DELIVERED, ShufflerPhase.SKIPPED):
            raise Refusal(Reason.NOT_OPEN, "Expected an epoch that is under way.")
        if self.phase is ShufflerPhase.CLOSED and not refused:
            raise Refusal(
                Reason.NOT_OPEN,
                "Expected no closed batch, or one that the analyst refused.",
            )
        # `closed_epochs` is kept: a batch that was sent counts.
        return replace(self, phase=ShufflerPhase.SKIPPED, batch_id=None)

    def next_epoch(self) -> "ShufflerState":
        """Returns the initial state of the next epoch.

        Raises:
            Refusal: If this epoch is not over, or the allowance pays for no other.
        """
        # Skipped epochs have no delivery: `after` stays at the last one that has.
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
        """Raises Refusal if the allowance pays for no epoch after these with a batch."""
        if closed_epochs >= self.task.epochs:
            raise Refusal(
                Reason.ALLOWANCE_SPENT,
                f"Expected fewer than {self.task.epochs} epochs with a batch, got "
                f"{closed_epochs}: the allowance pays for no more.",
            )
