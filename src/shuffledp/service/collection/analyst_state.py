"""The analyst's side of one task, as a value that changes from step to step.

    WAITING --receive--> RECEIVED --plan--> WAITING (for the items)
                                  --publish--> PUBLISHED --receive the next epoch--> ...
                                  --withhold--> WITHHELD --receive the next epoch--> ...

A batch is accepted once per step. What it costs is spent whether or not anything is
published: the analyst has seen it.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from shuffledp.analyzer.level_counts import LevelCounts
from shuffledp.service.wire.batch import BatchHeader
from shuffledp.service.wire.plan import PublishedPlan
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.step import Stage, Step
from shuffledp.service.wire.task import Task


class Phase(StrEnum):
    """What the analyst is doing."""

    WAITING = "waiting"
    RECEIVED = "received"
    PUBLISHED = "published"
    WITHHELD = "withheld"


@dataclass(frozen=True, eq=False)
class AnalystState:
    """Where a task stands.

    Attributes:
        task: The task.
        epoch: From 1.
        stage: The step that is waited for, or was received last.
        phase: What is done with it.
        spent: Central epsilon that each level spent so far.
        batch_id: Of the batch received last; None before the first.
        plan: Published for the items of this epoch; None before.
        levels: What was learned about levels in this epoch; None before.
    """

    task: Task
    epoch: int
    stage: Stage
    phase: Phase
    spent: tuple[float, ...]
    batch_id: bytes | None = None
    plan: PublishedPlan | None = None
    levels: LevelCounts | None = None

    @classmethod
    def begin(cls, task: Task) -> "AnalystState":
        """Returns the state before anything was received."""
        stage = Stage.LEVELS if task.has_items else Stage.ANSWER
        return cls(task, 1, stage, Phase.WAITING, (0.0,) * len(task.levels))

    @property
    def step(self) -> Step:
        """What the batch is for."""
        if self.plan is None or self.stage is Stage.LEVELS:
            return Step(self.task, self.epoch, self.stage)
        return Step(
            self.task, self.epoch, self.stage, self.plan.report_size, self.plan.digest
        )

    @property
    def exhausted(self) -> tuple[float, ...]:
        """Levels that could not pay for another epoch as promised."""
        return tuple(
            level
            for level, spent, promise, budget in zip(
                self.task.levels,
                self.spent,
                self.task.promise,
                self.task.budget,
                strict=True,
            )
            if spent + promise > budget
        )

    def receive(self, header: BatchHeader) -> "AnalystState":
        """Returns the state in which a batch is on the disk, still sealed.

        The same batch again changes nothing: the shuffler may not have heard of it.

        Raises:
            Refusal: If it is another one, of another step, or nobody could pay for it.
        """
        if self.batch_id == header.batch_id:
            return self
        ready = self
        if self.phase in (Phase.PUBLISHED, Phase.WITHHELD):
            if header.epoch <= self.epoch:
                raise Refusal(
                    Reason.ALREADY_DELIVERED,
                    f"Expected no other batch of epoch {header.epoch}.",
                )
            begun = AnalystState.begin(self.task)
            ready = replace(begun, epoch=self.epoch + 1, spent=self.spent)
        if header.epoch != ready.epoch:
            raise Refusal(Reason.WRONG_EPOCH, f"Expected epoch {ready.epoch}.")
        if ready.phase is Phase.RECEIVED:
            raise Refusal(
                Reason.ALREADY_DELIVERED, "Expected no other batch of this step."
            )
        if header.stage is not ready.stage:
            raise Refusal(Reason.WRONG_STAGE, "Expected a batch of another step.")
        step = ready.step
        piles = 1 if not step.names_levels else len(self.task.levels)
        sizes = (len(header.people), header.sealed_size, header.messages_per_report)
        if sizes != (piles, step.sealed_size, step.messages_per_report):
            raise Refusal(Reason.WRONG_SIZE, "Expected the task's levels and sizes.")
        if ready.exhausted:
            who = ", ".join(f"{level:g}" for level in ready.exhausted)
            raise Refusal(Reason.BUDGET_SPENT, f"Expected budget left at level {who}.")
        return replace(ready, phase=Phase.RECEIVED, batch_id=header.batch_id)

    def plan_items(self, plan: PublishedPlan, levels: LevelCounts) -> "AnalystState":
        """Returns the state in which items are waited for."""
        self._expect(Stage.LEVELS)
        return replace(
            self, stage=Stage.ANSWER, phase=Phase.WAITING, plan=plan, levels=levels
        )

    def finish(self, spent: tuple[float, ...], *, published: bool) -> "AnalystState":
        """Returns the state after a batch was judged; one of levels is only withheld.

        Args:
            spent: What each level pays for this epoch; nothing for a batch that was
                never opened.
            published: Whether every promise was kept.
        """
        self._expect(Stage.ANSWER if published else self.stage)
        total = tuple(a + b for a, b in zip(self.spent, spent, strict=True))
        phase = Phase.PUBLISHED if published else Phase.WITHHELD
        return replace(self, phase=phase, spent=total)

    def _expect(self, stage: Stage) -> None:
        if self.phase is not Phase.RECEIVED or self.stage is not stage:
            raise Refusal(
                Reason.WRONG_STAGE, "Expected a batch of this step, received."
            )
