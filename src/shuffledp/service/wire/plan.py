"""The plan that the analyst publishes before answers are sent: signed, and judged by all.

Devices, the participants' page and the shuffler follow a plan only after
`PublishedPlan.read` has passed, which takes the analyst's word for nothing but the counts
it was made from: the task's rule alone decides whether a plan keeps every target.
"""

from dataclasses import dataclass
from typing import Any

from shuffledp.errors import ShuffledpError
from shuffledp.identity import Identity
from shuffledp.service.wire.canonical import from_text, to_text
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.signing import check_signed, signed
from shuffledp.service.wire.task import DIGEST_SIZE, ID_SIZE, MAX_PEOPLE, Task

MAX_REPORT_SIZE = 4096

_ACKNOWLEDGEMENT, _PLAN = "acknowledgement", "plan"
_NAMES = frozenset({"task", "epoch", "protocol", "minimum", "counts"})


def read_plan(value: object, task: Task) -> Identity:
    """Reads the record of the protocol that answers follow, without judging it.

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
class PublishedPlan:
    """A plan as it travels.

    Attributes:
        task: SHA-256 of the task, 32 bytes.
        epoch: The only one whose answers follow it.
        protocol: What answers follow.
        minimum: The least number of people who answer: the shuffler hands over no fewer.
        counts: How many people chose each target, as the analyst counted.
        signature: Of the task's analyst, in base64url.
    """

    task: bytes
    epoch: int
    protocol: Identity
    minimum: int
    counts: tuple[int, ...]
    signature: str

    @classmethod
    def sign(
        cls,
        task: Task,
        epoch: int,
        protocol: Identity,
        *,
        minimum: int,
        counts: tuple[int, ...],
        signing_key: bytes,
    ) -> "PublishedPlan":
        """Returns the plan with the analyst's signature."""
        value = _members(task.digest, epoch, protocol, minimum, counts)
        signature = signed(_PLAN, value, signing_key)["signature"]
        return cls(task.digest, epoch, protocol, minimum, counts, signature)

    @property
    def digest(self) -> bytes:
        """SHA-256 of the protocol, 32 bytes: messages are bound to it."""
        return bytes.fromhex(self.protocol.digest)

    def to_dict(self) -> dict[str, Any]:
        """Returns the signed document."""
        stated = _members(
            self.task, self.epoch, self.protocol, self.minimum, self.counts
        )
        return {**stated, "signature": self.signature}

    @classmethod
    def read(cls, value: object, task: Task, epoch: int) -> "PublishedPlan":
        """Reads a published plan, and judges it by the task's rule.

        Args:
            value: The signed document.
            task: Whose rule is proven, by `prove_plan_rule`.
            epoch: In which answers are to follow it.

        Raises:
            Refusal: If the task's analyst did not sign it, for this epoch of this task, or
                it breaks the rule.
        """
        if not isinstance(value, dict):
            raise Refusal(Reason.MALFORMED, "Expected a signed plan.")
        stated = check_signed(_PLAN, value, task.analyst_signing_key)
        if set(stated) != _NAMES:
            raise Refusal(Reason.MALFORMED, f"Expected a plan of {sorted(_NAMES)}.")
        if from_text(stated["task"], DIGEST_SIZE, "a digest") != task.digest:
            raise Refusal(Reason.UNKNOWN_TASK, "Expected a plan for this very task.")
        if type(stated["epoch"]) is not int or stated["epoch"] != epoch:
            raise Refusal(Reason.WRONG_EPOCH, f"Expected the plan of epoch {epoch}.")
        minimum, counts = stated["minimum"], stated["counts"]
        if not isinstance(counts, list) or len(counts) != len(task.choices):
            raise Refusal(Reason.MALFORMED, "Expected one count for each target.")
        if not all(type(n) is int and 0 <= n <= MAX_PEOPLE for n in (minimum, *counts)):
            raise Refusal(Reason.MALFORMED, "Expected whole numbers of people.")
        protocol = read_plan(stated["protocol"], task)
        check_plan(protocol, minimum, task)
        return cls(
            task.digest, epoch, protocol, minimum, tuple(counts), value["signature"]
        )


def prove_plan_rule(task: Task) -> None:
    """Certifies that the task's rule for plans keeps every target; cached by rule.

    Raises:
        Refusal: If that cannot be proven.
    """
    if task.plan_rule is None:
        return
    try:
        task.plan_rule.prove()
    except ShuffledpError as error:
        raise Refusal(
            Reason.PLAN_REFUSED, f"Expected a rule for plans that is proven: {error}"
        ) from error


def check_plan(protocol: Identity, minimum: int, task: Task) -> None:
    """Checks that a plan keeps the task's rule.

    Raises:
        Refusal: If it does not.
    """
    if task.plan_rule is None:
        raise Refusal(Reason.PLAN_REFUSED, "Expected a task with a rule for plans.")
    if minimum < task.minimum[0]:
        raise Refusal(
            Reason.PLAN_REFUSED,
            f"Expected a plan for at least {task.minimum[0]:,} people, got {minimum:,}.",
        )
    try:
        task.plan_rule.check(protocol, minimum)
    except ShuffledpError as error:
        raise Refusal(Reason.PLAN_REFUSED, str(error)) from error


def _members(
    task: bytes, epoch: int, protocol: Identity, minimum: int, counts: tuple[int, ...]
) -> dict[str, Any]:
    return {
        "task": to_text(task),
        "epoch": epoch,
        "protocol": protocol.record,
        "minimum": minimum,
        "counts": list(counts),
    }


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
    plan: PublishedPlan | None = None

    def signed(self, signing_key: bytes) -> dict[str, Any]:
        """Returns the document that is sent."""
        value = {
            "task": to_text(self.task),
            "batch_id": to_text(self.batch_id),
            "plan": self.plan and self.plan.to_dict(),
        }
        return signed(_ACKNOWLEDGEMENT, value, signing_key)

    @classmethod
    def read(cls, value: dict[str, Any], task: Task, epoch: int) -> "Acknowledgement":
        """Reads a signed acknowledgement.

        Args:
            value: The document.
            task: Of the batch.
            epoch: Of the batch.

        Raises:
            Refusal: If the task's analyst did not sign it, or its plan is refused.
        """
        rest = check_signed(_ACKNOWLEDGEMENT, value, task.analyst_signing_key)
        plan = rest.get("plan")
        return cls(
            from_text(rest.get("task"), 32, "a digest"),
            from_text(rest.get("batch_id"), ID_SIZE, "a batch id"),
            None if plan is None else PublishedPlan.read(plan, task, epoch),
        )
