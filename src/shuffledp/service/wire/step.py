"""One step of one epoch, as messages are bound to it.

Where people choose levels an epoch has one step, in which they answer. Where they choose
targets it has two: they report their choices; the analyst publishes a plan; they answer.
"""

from dataclasses import dataclass
from functools import cached_property

from shuffledp.identity import Identity
from shuffledp.service.wire.task import Task
from shuffledp.statistics.stage_runs import AnswerRun, ChoiceRun, StageRun
from shuffledp.statistics.survey import EpochStage

UNLINKED = 0xFFFF
MAX_EPOCH = 2**32 - 1

_DOMAIN = b"shuffledp message 1"
_NO_PLAN = bytes(32)


@dataclass(frozen=True)
class Step:
    """What a report is for.

    Attributes:
        task: The task.
        epoch: From 1.
        stage: Which step of it.
        plan: What answers follow, judged already; None if nothing was published.
    """

    task: Task
    epoch: int
    stage: EpochStage = EpochStage.ANSWER
    plan: Identity | None = None

    @cached_property
    def choosing(self) -> ChoiceRun:
        """What runs while choices are collected."""
        return self.task.question.survey.choosing(self.task.offer)

    @cached_property
    def answering(self) -> AnswerRun:
        """What runs while people answer."""
        return self.task.question.survey.answering(self.task.offer, self.plan)

    @property
    def run(self) -> StageRun:
        """What runs in this step."""
        return self.choosing if self.stage is EpochStage.CHOICE else self.answering

    @property
    def messages_per_report(self) -> int:
        """How many messages everybody sends, always equally many."""
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
        """In how many piles messages are handed over: one, or one for each level."""
        return len(self.task.choices) if self.linked else 1

    def group_sizes(self, people: tuple[int, ...]) -> tuple[int, ...]:
        """Returns how many people's messages each pile has.

        Args:
            people: With each choice; in all, if choices are not named.
        """
        return people if self.linked else (sum(people),)

    @property
    def message_size(self) -> int:
        """Bytes of one message: a kind, and what it says; the same for everybody."""
        return 1 + self.run.code.entry.itemsize

    @property
    def sealed_size(self) -> int:
        """Bytes of one sealed message."""
        return self.message_size + self.task.suite.overhead

    def info(self, group: int = 0) -> bytes:
        """Returns what sealed messages of a pile are bound to."""
        choice = group if self.linked else UNLINKED
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
