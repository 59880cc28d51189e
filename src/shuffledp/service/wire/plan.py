"""What the analyst publishes before answers are sent, and how she acknowledges a batch."""

from dataclasses import dataclass
from typing import Any

from shuffledp.errors import ShuffledpError
from shuffledp.identity import Identity
from shuffledp.service.wire.canonical import from_text, to_text
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.signing import check_signed, signed
from shuffledp.service.wire.task import ID_SIZE, Task

MAX_REPORT_SIZE = 4096

_PURPOSE = "acknowledgement"


def read_plan(value: object, task: Task) -> Identity:
    """Reads a published plan: the record of the protocol that answers follow.

    Raises:
        Refusal: If it is no plan for this task.
    """
    refusal = Refusal(Reason.MALFORMED, "Expected a plan for the choices of the task.")
    try:
        plan = Identity.from_record(value)
        size = task.question.survey.answering(task.offer, plan).messages_per_report
    except ShuffledpError as error:
        raise refusal from error
    if not 1 <= size <= MAX_REPORT_SIZE:
        raise refusal
    return plan


@dataclass(frozen=True)
class Acknowledgement:
    """The analyst has a batch on her disk; the shuffler may forget it.

    Attributes:
        task: SHA-256 of the task, 32 bytes.
        batch_id: 16 bytes.
        plan: After a batch of choices: what comes next. None if nothing does.
    """

    task: bytes
    batch_id: bytes
    plan: Identity | None = None

    def signed(self, signing_key: bytes) -> dict[str, Any]:
        """Returns the document that is sent."""
        value = {
            "task": to_text(self.task),
            "batch_id": to_text(self.batch_id),
            "plan": self.plan and self.plan.record,
        }
        return signed(_PURPOSE, value, signing_key)

    @classmethod
    def read(cls, value: dict[str, Any], task: Task) -> "Acknowledgement":
        """Reads a signed acknowledgement.

        Raises:
            Refusal: If the task's analyst did not sign it.
        """
        rest = check_signed(_PURPOSE, value, task.analyst_signing_key)
        plan = rest.get("plan")
        return cls(
            from_text(rest.get("task"), 32, "a digest"),
            from_text(rest.get("batch_id"), ID_SIZE, "a batch id"),
            None if plan is None else read_plan(plan, task),
        )
