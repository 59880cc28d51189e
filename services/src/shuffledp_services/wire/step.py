"""Step of an epoch, to which messages are bound.

Where users choose levels, an epoch has one step, in which they answer. Where they choose
targets, it has two: they report their choices, the analyst publishes a plan, they answer.
"""

from dataclasses import dataclass
from functools import cached_property

from shuffledp.identity import Identity
from shuffledp.statistics.stage_runs import (
    AnswerRun,
    ChoiceRun,
    RunWithDummies,
    StageRun,
)
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.wire.task import Task

# Stands for a choice that is not named; indices of choices are below `MAX_CHOICES`.
UNLINKED = 0xFFFF
MAX_EPOCH = 2**32 - 1

_DOMAIN = b"shuffledp message 1"
_NO_PLAN = bytes(32)


@dataclass(frozen=True)
class Step:
    """Step of an epoch of a task.

    Attributes:
        task: The task.
        epoch: From 1.
        stage: The kind of step.
        plan: The protocol of the published plan, checked before; None without a plan.
    """

    task: Task
    epoch: int
    stage: EpochStage = EpochStage.ANSWER
    plan: Identity | None = None

    @cached_property
    def choice_run(self) -> ChoiceRun:
        """The run that collects choices."""
        return self.task.question.survey.choosing(self.task.offer)

    @cached_property
    def answer_run(self) -> AnswerRun:
        """The run that collects answers."""
        return self.task.question.survey.answering(self.task.offer, self.plan)

    @property
    def run(self) -> StageRun:
        """The run of this step."""
        return self.choice_run if self.stage is EpochStage.CHOICE else self.answer_run

    @cached_property
    def dummies(self) -> RunWithDummies | None:
        """The run of this step, if the shuffler adds dummies to its batch."""
        run = self.run
        return run if isinstance(run, RunWithDummies) else None

    @cached_property
    def messages_per_report(self) -> int:
        """The number of messages that every user sends."""
        return self.run.messages_per_report

    @property
    def plan_digest(self) -> bytes:
        """SHA-256 of the plan, 32 bytes; zeros without one."""
        return _NO_PLAN if self.plan is None else bytes.fromhex(self.plan.digest)

    @property
    def linked(self) -> bool:
        """Whether messages stay with their levels."""
        return self.task.question.linked and self.stage is EpochStage.ANSWER

    @property
    def groups(self) -> int:
        """The number of level groups of the batch: one, or one for each level."""
        return len(self.task.choices) if self.linked else 1

    def group_sizes(self, people: tuple[int, ...]) -> tuple[int, ...]:
        """Returns the number of reports in each level group.

        Args:
            people: Reports per choice; one total if choices are not named.
        """
        return people if self.linked else (sum(people),)

    @property
    def message_size(self) -> int:
        """Bytes of one plain message: its kind and its entry; equal for all users."""
        return 1 + self.run.code.entry.itemsize

    @cached_property
    def sealed_size(self) -> int:
        """Bytes of one sealed message."""
        return self.message_size + self.task.suite.overhead

    def info(self, group: int = 0) -> bytes:
        """Returns the HPKE context of a level group's messages."""
        # A message that stays with its level cannot be moved to another one.
        choice = group if self.linked else UNLINKED
        # Fields of fixed size, so that different contexts have different bytes.
        return b"".join(
            (
                _DOMAIN,
                self.task.digest,
                self.epoch.to_bytes(4, "big"),
                bytes([self.stage]),
                choice.to_bytes(2, "big"),
                self.plan_digest,
            )
        )
