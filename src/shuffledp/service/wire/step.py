"""One step of one epoch, as messages are bound to it.

A question about one value has one step, in which people answer. A question about items has
two: people report their levels; the analyst publishes a plan; people answer.
"""

from dataclasses import dataclass
from enum import IntEnum

from shuffledp.service.wire.task import Task

UNLINKED = 0xFFFF
MAX_EPOCH = 2**32 - 1

_DOMAIN = b"shuffledp message 1"
_NO_PLAN = bytes(32)


class Stage(IntEnum):
    """Which step."""

    ANSWER = 0
    LEVELS = 1


@dataclass(frozen=True)
class Step:
    """What a report is for.

    Attributes:
        task: The task.
        epoch: From 1.
        stage: Which step of it.
        messages_per_report: How many messages everybody sends, always equally many.
        plan_digest: SHA-256 of the published plan that answers to items follow.
    """

    task: Task
    epoch: int
    stage: Stage = Stage.ANSWER
    messages_per_report: int = 1
    plan_digest: bytes = _NO_PLAN

    @property
    def linked(self) -> bool:
        """Whether messages stay with their levels."""
        return self.task.question.linked and self.stage is Stage.ANSWER

    @property
    def names_levels(self) -> bool:
        """Whether a report names its level to the shuffler; it never does for items."""
        return not self.task.has_items

    @property
    def groups(self) -> int:
        """In how many piles messages are shuffled: one, or one for each level."""
        return len(self.task.levels) if self.linked else 1

    @property
    def sealed_size(self) -> int:
        """Bytes of one sealed message."""
        return MESSAGE_SIZE + self.task.suite.overhead

    def info(self, group: int = 0) -> bytes:
        """Returns what sealed messages of a pile are bound to."""
        level = group if self.linked else UNLINKED
        return b"".join(
            (
                _DOMAIN,
                self.task.digest,
                self.epoch.to_bytes(4, "big"),
                bytes([self.stage]),
                level.to_bytes(2, "big"),
                self.plan_digest,
            )
        )


# A kind, and a number of 64 bits.
MESSAGE_SIZE = 9
