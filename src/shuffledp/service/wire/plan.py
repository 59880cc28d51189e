"""What the analyst publishes before items are sent, and how she acknowledges a batch."""

import math
from dataclasses import dataclass
from typing import Any

from shuffledp.protocols.items import Items
from shuffledp.service.wire.canonical import canonical, from_text, sha256, to_text
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.signing import check_signed, signed
from shuffledp.service.wire.task import ID_SIZE, Task

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
        if isinstance(value, dict) and set(value) == _PLAN:
            rates, blanket, size = (
                value["rates"],
                value["blanket"],
                value["report_size"],
            )
            numbers: list[Any] = [*rates, blanket] if isinstance(rates, list) else [""]
            known = all(
                type(number) in (int, float) and math.isfinite(number) and number >= 0
                for number in numbers
            )
            fits = type(size) is int and 1 <= size <= MAX_REPORT_SIZE
            if known and fits and len(rates) == len(task.levels) and max(rates) <= 1:
                return cls(tuple(float(r) for r in rates), float(blanket), size)
        raise Refusal(Reason.MALFORMED, "Expected a plan for the levels of the task.")


@dataclass(frozen=True)
class Acknowledgement:
    """The analyst has a batch on her disk; the shuffler may forget it.

    Attributes:
        task_id: 16 bytes.
        batch_id: 16 bytes.
        plan: After a batch of levels: what comes next. None otherwise.
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
