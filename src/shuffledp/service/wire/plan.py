"""What the analyst publishes before items are sent, and how she acknowledges a batch."""

from dataclasses import dataclass
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp.service.wire.canonical import (
    canonical,
    from_text,
    sha256,
    to_number,
    to_text,
)
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.signing import check_signed, signed
from shuffledp.service.wire.task import ID_SIZE, Task
from shuffledp.statistics.items import Items

MAX_REPORT_SIZE = 4096

_PURPOSE = "acknowledgement"
_PLAN = frozenset({"rates", "blanket", "report_size"})


@dataclass(frozen=True)
class PublishedPlan:
    """The parameters of a collection of items.

    Attributes:
        rates: Chance to send an item, of each level.
        blanket: Blanket messages per person, in the mean.
        report_size: Messages of everybody, dummies included.
    """

    rates: tuple[float, ...]
    blanket: float
    report_size: int

    @property
    def digest(self) -> bytes:
        """SHA-256, which answers are bound to."""
        return sha256(canonical(self.to_dict()))

    def protocol(self, task: Task) -> Items:
        """Returns what devices run."""
        question = task.question
        return Items(
            len(question.categories),
            question.set_size,
            task.levels,
            self.rates,
            self.blanket,
            self.report_size,
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns all attributes."""
        return {
            "rates": list(self.rates),
            "blanket": self.blanket,
            "report_size": self.report_size,
        }

    @classmethod
    def from_dict(cls, value: object, task: Task) -> "PublishedPlan":
        """Reads what `to_dict` gave.

        Raises:
            Refusal: If it is no plan for this task.
        """
        refusal = Refusal(
            Reason.MALFORMED, "Expected a plan for the levels of the task."
        )
        if not isinstance(value, dict) or set(value) != _PLAN:
            raise refusal
        size, rates = value["report_size"], value["rates"]
        if not isinstance(rates, list) or len(rates) != len(task.levels):
            raise refusal
        if type(size) is not int or not 1 <= size <= MAX_REPORT_SIZE:
            raise refusal
        plan = cls(
            tuple(to_number(rate, "rates") for rate in rates),
            to_number(value["blanket"], "blanket"),
            size,
        )
        try:
            plan.protocol(task)
        except InvalidInputError as error:
            raise refusal from error
        return plan


@dataclass(frozen=True)
class Acknowledgement:
    """The analyst has a batch on her disk; the shuffler may forget it.

    Attributes:
        task_id: 16 bytes.
        batch_id: 16 bytes.
        plan: After a batch of levels: what comes next. None if nothing does.
    """

    task_id: bytes
    batch_id: bytes
    plan: PublishedPlan | None = None

    def signed(self, signing_key: bytes) -> dict[str, Any]:
        """Returns the document that is sent."""
        value = {
            "task_id": to_text(self.task_id),
            "batch_id": to_text(self.batch_id),
            "plan": self.plan and self.plan.to_dict(),
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
            from_text(rest.get("task_id"), ID_SIZE, "a task id"),
            from_text(rest.get("batch_id"), ID_SIZE, "a batch id"),
            None if plan is None else PublishedPlan.from_dict(plan, task),
        )
