"""The shuffler's side of one task, as a value that changes from step to step.

    OPEN --close--> CLOSED --deliver--> OPEN (answers to items follow levels)
                                   or   DELIVERED --next_epoch--> OPEN
                     --abandon--> OPEN (the same step, and nobody reported yet)
                             or   DELIVERED (this step was delivered before)

A batch is abandoned only once the analyst has refused it: one that she may have is handed
over until she signs for it, or later epochs would begin without her.

Nothing here reads a clock, a socket or a disk; whoever keeps the state writes it down
together with what it allows.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from shuffledp.service.wire.plan import Acknowledgement, PublishedPlan
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.reports import Header
from shuffledp.service.wire.step import MAX_EPOCH, Stage, Step
from shuffledp.service.wire.task import Task


class Phase(StrEnum):
    """What the shuffler is doing."""

    OPEN = "open"
    CLOSED = "closed"
    DELIVERED = "delivered"


@dataclass(frozen=True)
class Shortfall:
    """A level that cannot be released yet.

    Attributes:
        level: The level; None if levels are not named.
        people: How many there are.
        needed: How many there must be.
    """

    level: float | None
    people: int
    needed: int

    def __str__(self) -> str:
        whose = "all levels" if self.level is None else f"level {self.level:g}"
        return f"{whose}: {self.people:,} of {self.needed:,} people"


@dataclass(frozen=True)
class ShufflerState:
    """Where a task stands.

    Attributes:
        task: The task.
        epoch: From 1.
        stage: Which step of the epoch.
        phase: What is done with it.
        plan: What answers to items follow; None before it is published.
        batch_id: Of the batch that is closed, 16 bytes; None while none is.
    """

    task: Task
    epoch: int
    stage: Stage
    phase: Phase = Phase.OPEN
    plan: PublishedPlan | None = None
    batch_id: bytes | None = None

    @classmethod
    def begin(cls, task: Task, epoch: int = 1) -> "ShufflerState":
        """Returns the state in which an epoch begins."""
        return cls(task, epoch, Stage.LEVELS if task.has_items else Stage.ANSWER)

    @property
    def step(self) -> Step:
        """What reports are for now."""
        if self.plan is None:
            return Step(self.task, self.epoch, self.stage)
        return Step(
            self.task, self.epoch, self.stage, self.plan.report_size, self.plan.digest
        )

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
        if self.phase is not Phase.OPEN:
            raise Refusal(Reason.NOT_OPEN, "Expected nothing: this step is closed.")

    def shortfalls(self, people: tuple[int, ...]) -> tuple[Shortfall, ...]:
        """Returns what is missing before the step can be closed.

        Args:
            people: Who reported so far, per level; in all, if levels are not named.
        """
        if not self.step.names_levels:
            found = [Shortfall(None, people[0], self.task.minimum[0])]
        else:
            found = [
                Shortfall(*entry)
                for entry in zip(
                    self.task.levels, people, self.task.minimum, strict=True
                )
            ]
        return tuple(entry for entry in found if entry.people < entry.needed)

    def close(self, people: tuple[int, ...], batch_id: bytes) -> "ShufflerState":
        """Returns the state in which the batch is fixed.

        Raises:
            Refusal: If a level has fewer people than promised.
        """
        if self.phase is not Phase.OPEN:
            raise Refusal(Reason.NOT_OPEN, "Expected an open step.")
        missing = self.shortfalls(people)
        if missing:
            raise Refusal(Reason.TOO_FEW_PEOPLE, "; ".join(map(str, missing)) + ".")
        return replace(self, phase=Phase.CLOSED, batch_id=batch_id)

    def deliver(self, acknowledgement: Acknowledgement) -> "ShufflerState":
        """Returns the state in which the batch is gone.

        Without a plan for the items the epoch ends after its levels.

        Raises:
            Refusal: If another batch is acknowledged.
        """
        stated = (acknowledgement.task_id, acknowledgement.batch_id)
        if self.phase is not Phase.CLOSED or stated != (
            self.task.task_id,
            self.batch_id,
        ):
            raise Refusal(
                Reason.MALFORMED, "Expected the closed batch's acknowledgement."
            )
        if self.stage is Stage.ANSWER or acknowledgement.plan is None:
            return replace(self, phase=Phase.DELIVERED, batch_id=None)
        return ShufflerState(
            self.task, self.epoch, Stage.ANSWER, plan=acknowledgement.plan
        )

    def abandon(self, reason: Reason) -> "ShufflerState":
        """Returns the state in which a batch that the analyst refused is gone for good.

        If she has another batch of this step, the epoch is over; otherwise the same step
        is open again, and the tokens of its epoch are good again.

        Args:
            reason: Why she refused it.

        Raises:
            Refusal: If no batch is closed.
        """
        if self.phase is not Phase.CLOSED:
            raise Refusal(Reason.NOT_OPEN, "Expected a closed batch.")
        over = reason is Reason.ALREADY_DELIVERED
        phase = Phase.DELIVERED if over else Phase.OPEN
        return replace(self, phase=phase, batch_id=None)

    def next_epoch(self) -> "ShufflerState":
        """Returns the state in which the next epoch begins.

        Raises:
            Refusal: If this one is not delivered.
        """
        if self.phase is not Phase.DELIVERED or self.epoch == MAX_EPOCH:
            raise Refusal(Reason.NOT_OPEN, "Expected this epoch to be delivered first.")
        return ShufflerState.begin(self.task, self.epoch + 1)
