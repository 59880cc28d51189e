"""What the shuffler's operator tells her service to do, signed with its own key.

A command names the task, the epoch and step it is meant for, and what the service asked
for at that moment, which it asks for once: a command that was recorded is good for nothing.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from shuffledp.service.wire.canonical import from_text, to_text
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.signing import check_signed, signed
from shuffledp.service.wire.task import Task

_PURPOSE = "command"
_NAMES = frozenset({"task", "action", "epoch", "stage", "challenge", "at"})
CHALLENGE_SIZE = 16
# The year 9999: what dates can be shown of.
_LAST_SECOND = 253_402_300_799


class Action(StrEnum):
    """What can be commanded."""

    STATUS = "status"
    CLOSE = "close"
    NEXT = "next"
    SKIP = "skip"
    RESUME = "resume"
    DEADLINE = "deadline"


@dataclass(frozen=True)
class Command:
    """An order to the shuffler.

    Attributes:
        action: What is to be done.
        epoch: Which epoch is under way, as its operator knows it.
        stage: Which step of it, by name.
        challenge: What the service showed last: 16 random bytes.
        at: When a deadline passes, in seconds since 1970 UTC; None for other actions.
    """

    action: Action
    epoch: int
    stage: str
    challenge: bytes
    at: int | None = None

    def signed(self, task: Task, signing_key: bytes) -> dict[str, Any]:
        """Returns the document that is sent.

        Args:
            task: Which the command is about.
            signing_key: The shuffler's.
        """
        value = {
            "task": to_text(task.digest),
            "action": self.action.value,
            "epoch": self.epoch,
            "stage": self.stage,
            "challenge": to_text(self.challenge),
            "at": self.at,
        }
        return signed(_PURPOSE, value, signing_key)

    @classmethod
    def read(cls, value: dict[str, Any], task: Task) -> "Command":
        """Reads a signed command.

        Raises:
            Refusal: If the task's shuffler did not sign it, or it is about another task.
        """
        rest = check_signed(_PURPOSE, value, task.shuffler_signing_key)
        if set(rest) != _NAMES or rest["action"] not in list(Action):
            raise Refusal(Reason.MALFORMED, f"Expected a command of {sorted(_NAMES)}.")
        if type(rest["epoch"]) is not int or not isinstance(rest["stage"], str):
            raise Refusal(Reason.MALFORMED, "Expected an epoch, and a step of it.")
        at, timed = rest["at"], rest["action"] == Action.DEADLINE
        if timed != (type(at) is int and 0 < at <= _LAST_SECOND) or timed == (
            at is None
        ):
            raise Refusal(Reason.MALFORMED, "Expected a time with a deadline alone.")
        if from_text(rest["task"], 32, "a digest") != task.digest:
            raise Refusal(Reason.UNKNOWN_TASK, "Expected a command for this task.")
        challenge = from_text(rest["challenge"], CHALLENGE_SIZE, "a challenge")
        return cls(Action(rest["action"]), rest["epoch"], rest["stage"], challenge, at)
