"""What the shuffler hands to the analyst: sorted messages, and how many people there are.

    "SDPB", version 3, length of the header 4, header (signed canonical JSON), sealed
    messages of equal size, pile after pile

There is one pile; or one for each level, if messages stay with their levels. Within a pile
they are sorted (`wire.order`). Nothing else leaves: no token, no address, no time.
"""

from dataclasses import dataclass
from typing import Any

from shuffledp.service.wire.canonical import (
    canonical,
    from_text,
    read_object,
    sha256,
    to_text,
)
from shuffledp.service.wire.order import OrderCheck
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.roster import Enrolment
from shuffledp.service.wire.signing import check_signed, signed
from shuffledp.service.wire.step import Step
from shuffledp.service.wire.task import ID_SIZE, Task
from shuffledp.statistics.survey import EpochStage

MAGIC = b"SDPB\x03"
MEDIA_TYPE = "application/vnd.shuffledp.batch"
MAX_HEADER = 1 << 20

BEGIN_SIZE = len(MAGIC) + 4

_PURPOSE = "batch"
_WHOLE = ("epoch", "after", "sealed_size", "messages_per_report")
_NAMES = frozenset(
    {"task", "stage", "batch_id", "people", "sha256", "enrolment", *_WHOLE}
)


@dataclass(frozen=True)
class BatchHeader:
    """What is known of a batch before any message is opened.

    Attributes:
        task: SHA-256 of the task, 32 bytes.
        epoch: From 1.
        after: The last epoch that was delivered before; 0 before the first. All between
            the two were skipped.
        stage: Which step of it.
        batch_id: 16 random bytes, the same each time this batch is handed over.
        people: How many people sent a report, for each choice; in all, if choices are not
            named.
        sealed_size: Bytes of each message.
        sha256: Of all messages, 32 bytes.
        enrolment: How many tokens there were, signed by the enroller.
        messages_per_report: How many messages everybody sent.
    """

    task: bytes
    epoch: int
    after: int
    stage: EpochStage
    batch_id: bytes
    people: tuple[int, ...]
    sealed_size: int
    sha256: bytes
    enrolment: Enrolment
    messages_per_report: int = 1

    def piles(self, task: Task) -> tuple[int, ...]:
        """Returns how many messages each pile has."""
        step = Step(task, self.epoch, self.stage)
        return tuple(n * self.messages_per_report for n in step.piles(self.people))

    def to_dict(self) -> dict[str, Any]:
        """Returns all attributes, bytes as base64url."""
        return {
            "task": to_text(self.task),
            "epoch": self.epoch,
            "after": self.after,
            "stage": int(self.stage),
            "batch_id": to_text(self.batch_id),
            "people": list(self.people),
            "sealed_size": self.sealed_size,
            "sha256": to_text(self.sha256),
            "enrolment": self.enrolment.to_dict(),
            "messages_per_report": self.messages_per_report,
        }


def write_batch(
    step: Step,
    batch_id: bytes,
    people: tuple[int, ...],
    messages: bytes,
    signing_key: bytes,
    *,
    enrolment: Enrolment,
    after: int,
) -> bytes:
    """Returns a signed batch.

    Args:
        step: What was collected.
        batch_id: 16 random bytes.
        people: As in `BatchHeader`.
        messages: All sealed messages, pile after pile, each in its order.
        signing_key: The shuffler's.
        enrolment: Of the epoch.
        after: As in `BatchHeader`.
    """
    header = BatchHeader(
        step.task.digest,
        step.epoch,
        after,
        step.stage,
        batch_id,
        people,
        step.sealed_size,
        sha256(messages),
        enrolment,
        step.messages_per_report,
    )
    text = canonical(signed(_PURPOSE, header.to_dict(), signing_key))
    return b"".join((MAGIC, len(text).to_bytes(4, "big"), text, messages))


def read_batch(content: bytes, task: Task) -> tuple[BatchHeader, memoryview]:
    """Reads a batch of a task.

    Returns:
        The header, and all sealed messages.

    Raises:
        Refusal: If it is none, was not signed by the task's shuffler, changed since, or
            is not in order.
    """
    end = header_end(content[:BEGIN_SIZE])
    header = read_batch_header(content[:end], task)
    messages = memoryview(content)[end:]
    per_person = header.messages_per_report * header.sealed_size
    # Piles are told apart by counting: one message too many would move all others.
    whole = per_person > 0 and len(messages) == sum(header.people) * per_person
    if not whole or sha256(messages) != header.sha256:
        raise Refusal(Reason.WRONG_SIZE, "Expected the messages that were signed.")
    OrderCheck(header.piles(task), header.sealed_size).add(messages)
    return header, messages


def header_end(begin: bytes) -> int:
    """Returns where messages begin, from the first `BEGIN_SIZE` bytes of a batch.

    Raises:
        Refusal: If it is none.
    """
    if len(begin) < BEGIN_SIZE or begin[: len(MAGIC)] != MAGIC:
        raise Refusal(Reason.MALFORMED, "Expected a batch of version 3.")
    length = int.from_bytes(begin[len(MAGIC) :], "big")
    if length > MAX_HEADER:
        raise Refusal(Reason.TOO_LARGE, f"Expected a header of {MAX_HEADER} bytes.")
    return BEGIN_SIZE + length


def read_batch_header(content: bytes, task: Task) -> BatchHeader:
    """Reads what stands before the messages, so that forgeries are refused without them.

    Raises:
        Refusal: If it was not signed by the task's shuffler, for this task.
    """
    value = check_signed(
        _PURPOSE,
        read_object(content[BEGIN_SIZE:], "a batch header"),
        task.shuffler_signing_key,
    )
    header = _header(value, task)
    if header.after >= header.epoch:
        raise Refusal(Reason.WRONG_EPOCH, "Expected an epoch after the last one.")
    if header.enrolment.epoch != header.epoch:
        raise Refusal(Reason.WRONG_EPOCH, "Expected the enrolment of its epoch.")
    if sum(header.people) > header.enrolment.tokens:
        raise Refusal(Reason.WRONG_SIZE, "Expected no more people than tokens.")
    return header


def _header(value: dict[str, Any], task: Task) -> BatchHeader:
    # Signed by a party that is trusted to count, not to write without mistakes.
    if set(value) != _NAMES:
        raise Refusal(Reason.MALFORMED, f"Expected a header of {sorted(_NAMES)}.")
    if from_text(value["task"], 32, "a digest") != task.digest:
        raise Refusal(Reason.UNKNOWN_TASK, "Expected a batch of this task.")
    people, whole = value["people"], [value[name] for name in _WHOLE]
    if not isinstance(people, list) or value["stage"] not in list(EpochStage):
        raise Refusal(Reason.MALFORMED, "Expected numbers of people, and a stage.")
    if any(type(number) is not int or number < 0 for number in (*people, *whole)):
        raise Refusal(Reason.MALFORMED, "Expected whole numbers from 0.")
    return BatchHeader(
        task=task.digest,
        epoch=value["epoch"],
        after=value["after"],
        stage=EpochStage(value["stage"]),
        batch_id=from_text(value["batch_id"], ID_SIZE, "a batch id"),
        people=tuple(people),
        sealed_size=value["sealed_size"],
        sha256=from_text(value["sha256"], 32, "a digest"),
        enrolment=Enrolment.read(value["enrolment"], task),
        messages_per_report=value["messages_per_report"],
    )
