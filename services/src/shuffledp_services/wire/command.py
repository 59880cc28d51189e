"""Operator's commands to the shuffler's service, signed with the shuffler's key.

A command names its task, epoch and step, and the current challenge of the service, which is
valid once: a recorded command cannot be replayed.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from shuffledp_services.wire.canonical import from_text, to_text
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.signing import check_signed, signed
from shuffledp_services.wire.task import Task

_PURPOSE = "command"
_NAMES = frozenset({"task", "action", "epoch", "stage", "challenge", "at"})
CHALLENGE_SIZE = 16
# End of the year 9999, the last that dates can represent.
_LAST_SECOND = 253_402_300_799


class Action(StrEnum):
    """Kind of a command."""

    STATUS = "status"
    CLOSE = "close"
    NEXT = "next"
    SKIP = "skip"
    RESUME = "resume"
    DEADLINE = "deadline"


@dataclass(frozen=True)
class Command:
    """Command to the shuffler.

    Attributes:
        action: The kind.
        epoch: The epoch that the operator expects to be under way.
        stage: The name of the expected step.
        challenge: The current challenge of the service, 16 random bytes.
        at: The deadline in seconds since 1970 UTC; None for other actions.
    """

    action: Action
    epoch: int
    stage: str
    challenge: bytes
    at: int | None = None

    def signed(self, task: Task, signing_key: bytes) -> dict[str, Any]:
        """Returns the document that is sent.

        Args:
            task: The task of the command.
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
        """Parses and verifies a signed command.

        Raises:
            Refusal: If the task's shuffler did not sign it, or it is about another task.
        """
        content = check_signed(_PURPOSE, value, task.shuffler_signing_key)
        if set(content) != _NAMES or content["action"] not in list(Action):
            raise Refusal(Reason.MALFORMED, f"Expected a command of {sorted(_NAMES)}.")
        if type(content["epoch"]) is not int or not isinstance(content["stage"], str):
            raise Refusal(Reason.MALFORMED, "Expected an epoch, and a step of it.")
        # A deadline has a time, and no other action has one.
        at, timed = content["at"], content["action"] == Action.DEADLINE
        if timed != (type(at) is int and 0 < at <= _LAST_SECOND) or timed == (
            at is None
        ):
            raise Refusal(Reason.MALFORMED, "Expected a time with a deadline alone.")
        # Parties may use one key for several tasks.
        if from_text(content["task"], 32, "a digest") != task.digest:
            raise Refusal(Reason.UNKNOWN_TASK, "Expected a command for this task.")
        challenge = from_text(content["challenge"], CHALLENGE_SIZE, "a challenge")
        return cls(
            Action(content["action"]), content["epoch"], content["stage"], challenge, at
        )
