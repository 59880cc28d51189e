"""Signed plan that the analyst publishes before answers, and that every party checks.

Devices, the participants' page and the shuffler follow a plan only after
`PublishedPlan.read` has passed. It trusts the analyst only with the counts behind the plan:
the task's rule alone decides whether the plan keeps every target.
"""

from dataclasses import dataclass
from typing import Any

from shuffledp.errors import ShuffledpError
from shuffledp.identity import Identity
from shuffledp_services.wire.canonical import from_text, to_text
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.signing import check_signed, signed
from shuffledp_services.wire.task import DIGEST_SIZE, ID_SIZE, MAX_PEOPLE, Task

MAX_REPORT_SIZE = 4096

# Signed with the document: no signature is valid for a document of another purpose.
_ACKNOWLEDGEMENT, _PLAN = "acknowledgement", "plan"
_NAMES = frozenset({"task", "epoch", "protocol", "minimum", "counts"})


def read_plan(value: object, task: Task) -> Identity:
    """Parses the protocol of a plan, without checking the task's rule.

    Raises:
        Refusal: If it is not a plan for this task.
    """
    refusal = Refusal(Reason.MALFORMED, "Expected a plan for the choices of the task.")
    try:
        plan = Identity.from_record(value)
        # Raises for a protocol that does not answer this question.
        size = task.question.survey.answering(task.offer, plan).messages_per_report
    except ShuffledpError as error:
        raise refusal from error
    # Otherwise a plan could make devices send arbitrarily large reports.
    if not 1 <= size <= MAX_REPORT_SIZE:
        raise refusal
    return plan


@dataclass(frozen=True)
class PublishedPlan:
    """Signed plan for the answers of one epoch.

    Attributes:
        task: SHA-256 of the task, 32 bytes.
        epoch: The epoch of the answers.
        protocol: The protocol of the answers.
        minimum: The minimum number of answers, which the shuffler enforces.
        counts: Users who chose each target, as the analyst counted.
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
        """SHA-256 of the protocol, 32 bytes, to which messages are bound."""
        return bytes.fromhex(self.protocol.digest)

    def to_dict(self) -> dict[str, Any]:
        """Returns the signed document."""
        members = _members(
            self.task, self.epoch, self.protocol, self.minimum, self.counts
        )
        return {**members, "signature": self.signature}

    @classmethod
    def read(cls, value: object, task: Task, epoch: int) -> "PublishedPlan":
        """Parses and verifies a published plan, and checks the task's rule.

        Args:
            value: The signed document.
            task: The task, whose rule passed `prove_plan_rule`.
            epoch: The epoch of the answers.

        Raises:
            Refusal: If the task's analyst did not sign the plan for this epoch, or it
                breaks the rule.
        """
        if not isinstance(value, dict):
            raise Refusal(Reason.MALFORMED, "Expected a signed plan.")
        # The signature first: no other member is used before.
        content = check_signed(_PLAN, value, task.analyst_signing_key)
        if set(content) != _NAMES:
            raise Refusal(Reason.MALFORMED, f"Expected a plan of {sorted(_NAMES)}.")
        if from_text(content["task"], DIGEST_SIZE, "a digest") != task.digest:
            raise Refusal(Reason.UNKNOWN_TASK, "Expected a plan for this very task.")
        # A plan of an earlier epoch has other counts, and must not be replayed.
        if type(content["epoch"]) is not int or content["epoch"] != epoch:
            raise Refusal(Reason.WRONG_EPOCH, f"Expected the plan of epoch {epoch}.")
        minimum, counts = content["minimum"], content["counts"]
        if not isinstance(counts, list) or len(counts) != len(task.choices):
            raise Refusal(Reason.MALFORMED, "Expected one count for each target.")
        if not all(type(n) is int and 0 <= n <= MAX_PEOPLE for n in (minimum, *counts)):
            raise Refusal(Reason.MALFORMED, "Expected whole numbers of people.")
        # Building a protocol is costly, and comes after the cheap checks.
        protocol = read_plan(content["protocol"], task)
        check_plan(protocol, minimum, task)
        return cls(
            task.digest, epoch, protocol, minimum, tuple(counts), value["signature"]
        )


def prove_plan_rule(task: Task) -> None:
    """Certifies that every plan under the task's rule keeps every target; cached by rule.

    Raises:
        Refusal: If the proof fails.
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
    """Checks a plan against the task's rule.

    Raises:
        Refusal: If it breaks the rule.
    """
    if task.plan_rule is None:
        raise Refusal(Reason.PLAN_REFUSED, "Expected a task with a rule for plans.")
    if minimum < task.minimum[0]:
        raise Refusal(
            Reason.PLAN_REFUSED,
            f"Expected a plan for at least {task.minimum[0]:,} people, got {minimum:,}.",
        )
    try:
        # No certificate is computed here: the rule was proven for all its plans.
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
    """Acknowledgement that a batch is on the analyst's disk, so that it may be deleted.

    Attributes:
        task: SHA-256 of the task, 32 bytes.
        batch_id: 16 bytes.
        plan: The published plan after a batch of choices, if any.
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
        """Parses and verifies an acknowledgement.

        Args:
            value: The document.
            task: Of the batch.
            epoch: Of the batch.

        Raises:
            Refusal: If the task's analyst did not sign it, or its plan is refused.
        """
        content = check_signed(_ACKNOWLEDGEMENT, value, task.analyst_signing_key)
        plan = content.get("plan")
        return cls(
            from_text(content.get("task"), 32, "a digest"),
            from_text(content.get("batch_id"), ID_SIZE, "a batch id"),
            None if plan is None else PublishedPlan.read(plan, task, epoch),
        )
