"""State machine of the analyst for one task.

    WAITING --receive--> RECEIVED --plan--> WAITING (for the answers)
                                  --publish--> PUBLISHED --receive the next epoch--> ...
                                  --withhold--> WITHHELD --receive the next epoch--> ...
    WAITING --receive a later epoch--> RECEIVED (epochs between are skipped)
    all but RECEIVED --succeed--> the same, with other keys

Epochs never go backwards. An epoch may be skipped only if the shuffler signed that it was:
if a batch was delivered and is unknown here, its cost would be lost, too.

A batch is accepted once per step. Its cost is spent even if nothing is published: the
analyst has seen it.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from shuffledp.identity import Identity
from shuffledp.statistics.survey import EpochStage
from shuffledp.tally import Tally
from shuffledp_services.wire.batch import BatchHeader
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import Enrolment
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.succession import check_succession
from shuffledp_services.wire.task import Task


class AnalystPhase(StrEnum):
    """Phase of the analyst in a step."""

    WAITING = "waiting"
    RECEIVED = "received"
    PUBLISHED = "published"
    WITHHELD = "withheld"


@dataclass(frozen=True, eq=False)
class AnalystState:
    """State of a task at the analyst.

    Attributes:
        task: The task.
        epoch: From 1.
        stage: The awaited step, or the one received last.
        phase: The phase of this step.
        spent: Central epsilon that each choice spent so far.
        batch_id: Of the batch received last; None before the first.
        plan: Published for the answers of this epoch; None before.
        chosen: Counts of the choices of this epoch; None before.
        enrolment: Of this epoch; None before its first batch.
    """

    task: Task
    epoch: int
    stage: EpochStage
    phase: AnalystPhase
    spent: tuple[float, ...]
    batch_id: bytes | None = None
    plan: Identity | None = None
    chosen: Tally | None = None
    enrolment: Enrolment | None = None

    @classmethod
    def begin(cls, task: Task) -> "AnalystState":
        """Returns the initial state of a task."""
        spent = (0.0,) * len(task.choices)
        return cls(task, 1, task.stages[0], AnalystPhase.WAITING, spent)

    @property
    def step(self) -> Step:
        """The step of the current batch."""
        return Step(self.task, self.epoch, self.stage, self.plan)

    @property
    def over(self) -> int:
        """The last epoch that is over; 0 before the first."""
        done = self.phase in (AnalystPhase.PUBLISHED, AnalystPhase.WITHHELD)
        return self.epoch if done else self.epoch - 1

    @property
    def awaited(self) -> int:
        """The first epoch whose batch may still come."""
        # A received batch of answers ends its epoch, even before it is counted.
        last = self.phase is AnalystPhase.RECEIVED and self.stage is EpochStage.ANSWER
        return self.epoch + 1 if last else self.over + 1

    def skipped_before(self, epoch: int) -> range:
        """Returns the epochs that a batch of this epoch would skip."""
        return range(self.over + 1, epoch)

    @property
    def exhausted(self) -> tuple[float, ...]:
        """Choices whose remaining allowance is below the promise for one epoch."""
        return tuple(
            choice
            for choice, spent, promise, allowance in zip(
                self.task.choices,
                self.spent,
                self.task.promise,
                self.task.allowance,
                strict=True,
            )
            if spent + promise > allowance
        )

    def receive(self, header: BatchHeader) -> "AnalystState":
        """Returns the state with a batch received, still sealed.

        Raises:
            Refusal: If another batch of this step was received, it is of another step, or
                a choice has too little allowance left.
        """
        # The same batch again changes nothing: the acknowledgement may have been lost.
        if self.batch_id == header.batch_id:
            return self
        ready = self._ready_for(header)
        if ready.phase is AnalystPhase.RECEIVED:
            raise Refusal(
                Reason.ALREADY_DELIVERED, "Expected no other batch of this step."
            )
        if header.stage is not ready.stage:
            # Choices are counted once, even if the shuffler missed the published plan.
            over = ready.plan is not None
            raise Refusal(
                Reason.ALREADY_DELIVERED if over else Reason.WRONG_STAGE,
                "Expected a batch of another step.",
            )
        step = ready.step
        counted = len(self.task.counted)
        sizes = (len(header.people), header.sealed_size, header.messages_per_report)
        # The signed header must match the task, or messages could not be told apart.
        if sizes != (counted, step.sealed_size, step.messages_per_report):
            raise Refusal(Reason.WRONG_SIZE, "Expected the task's choices and sizes.")
        if step.dummies is not None:
            messages = sum(shard.messages for shard in header.shards)
            dummies = messages - sum(header.people) * step.messages_per_report
            if not 0 < dummies <= step.dummies.most_dummies:
                raise Refusal(
                    Reason.WRONG_SIZE, "Expected as many dummies as the plan allows."
                )
        # Both steps of an epoch have the same roster.
        if ready.enrolment not in (None, header.enrolment):
            raise Refusal(
                Reason.ALREADY_DELIVERED, "Expected the enrolment of this epoch."
            )
        if ready.exhausted:
            choices = ", ".join(f"{choice:g}" for choice in ready.exhausted)
            word = self.task.choice_word
            raise Refusal(
                Reason.ALLOWANCE_SPENT, f"Expected enough left at {word} {choices}."
            )
        return replace(
            ready,
            phase=AnalystPhase.RECEIVED,
            batch_id=header.batch_id,
            enrolment=header.enrolment,
        )

    def _ready_for(self, header: BatchHeader) -> "AnalystState":
        """Returns the state that awaits a batch of the header's epoch."""
        if 1 <= header.epoch <= self.over:
            raise Refusal(
                Reason.ALREADY_DELIVERED,
                f"Expected no other batch of epoch {header.epoch}.",
            )
        if not self.epoch <= header.epoch <= self.task.last_epoch:
            raise Refusal(
                Reason.WRONG_EPOCH,
                f"Expected an epoch from {self.over + 1} to {self.task.last_epoch}.",
            )
        if header.after > self.over:
            # The shuffler delivered an epoch that this ledger does not have: it may have
            # lost entries, and with them some of the spent budget.
            raise Refusal(
                Reason.WRONG_EPOCH,
                f"Expected no epoch to be delivered after {self.over}.",
            )
        if header.epoch == self.epoch:
            return self
        if self.phase is AnalystPhase.RECEIVED:
            raise Refusal(
                Reason.WRONG_EPOCH, f"Expected epoch {self.epoch} to be counted first."
            )
        begun = AnalystState.begin(self.task)
        return replace(begun, epoch=header.epoch, spent=self.spent)

    def publish_plan(self, plan: Identity, chosen: Tally) -> "AnalystState":
        """Returns the state that awaits answers to a published plan."""
        self._expect(EpochStage.CHOICE)
        return replace(
            self,
            stage=EpochStage.ANSWER,
            phase=AnalystPhase.WAITING,
            plan=plan,
            chosen=chosen,
        )

    def finish(self, spent: tuple[float, ...], *, published: bool) -> "AnalystState":
        """Returns the state after a result was published or withheld.

        Args:
            spent: Central epsilon of each choice in this epoch; 0 if the batch was never
                opened.
            published: Whether every promise was kept.
        """
        # A batch of choices has no result: it can only be withheld.
        self._expect(EpochStage.ANSWER if published else self.stage)
        total = tuple(a + b for a, b in zip(self.spent, spent, strict=True))
        phase = AnalystPhase.PUBLISHED if published else AnalystPhase.WITHHELD
        return replace(self, phase=phase, spent=total)

    def succeed(self, task: Task) -> "AnalystState":
        """Returns the state in which a task with other keys continues this one.

        The spent budget is kept.

        Args:
            task: The task that succeeds this one.

        Raises:
            Refusal: If it does not succeed this one, or a batch waits to be counted.
        """
        check_succession(task, self.task)
        if self.phase is AnalystPhase.RECEIVED:
            raise Refusal(
                Reason.NOT_OPEN,
                "Expected keys to be replaced between epochs: go on with the former "
                f"task until epoch {self.epoch} is counted.",
            )
        begun = AnalystState.begin(task)
        # A finished epoch stays finished under the new keys.
        if self.phase is not AnalystPhase.WAITING:
            return replace(
                begun,
                epoch=self.epoch,
                stage=self.stage,
                phase=self.phase,
                spent=self.spent,
            )
        # Answers to a plan of the former task cannot come any more: skip their epoch.
        epoch = self.epoch + (self.plan is not None)
        return replace(begun, epoch=epoch, spent=self.spent)

    def _expect(self, stage: EpochStage) -> None:
        if self.phase is not AnalystPhase.RECEIVED or self.stage is not stage:
            raise Refusal(
                Reason.WRONG_STAGE, "Expected a batch of this step, received."
            )
