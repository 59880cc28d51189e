"""Batch that the shuffler hands to the analyst: sorted messages and report counts.

    manifest    "SDPB", version 4, length of the header 4, header (signed canonical JSON)
    shards      sealed messages of equal size, one after the other, and nothing else

Messages form one group, or one level group per level if messages stay with their levels.
A group is sorted (`wire.message_order`) and cut where the leading bits of the hash change:
a shard has the messages of one group and one value of these bits. So each shard can be
sent, checked and opened by itself, and the shard of a message is a public function of the
message alone. Nothing else leaves the shuffler: no token, no address, no time.

Where the shuffler adds the noise, its dummies are among the messages of answers: as many as
there are more messages than people send.
"""

from dataclasses import dataclass
from typing import Any

from shuffledp.statistics.survey import EpochStage
from shuffledp_services.wire.canonical import (
    canonical,
    from_text,
    read_object,
    to_text,
)
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import Enrolment
from shuffledp_services.wire.signing import check_signed, signed
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import DIGEST_SIZE, ID_SIZE, Task

MAGIC = b"SDPB\x04"
MEDIA_TYPE = "application/vnd.shuffledp.batch"

MAX_BITS = 17
"""Largest number of prefix bits: 10^10 messages of one group are in shards of 76,000."""

# Room for 2^MAX_BITS shards: each has a count and a digest in base64url.
MAX_HEADER = 1 << 23

PREFIX_SIZE = len(MAGIC) + 4

_PURPOSE = "batch"
_WHOLE = ("epoch", "after", "sealed_size", "messages_per_report", "bits")
_NAMES = frozenset(
    {"task", "stage", "batch_id", "people", "shards", "enrolment", *_WHOLE}
)


@dataclass(frozen=True)
class Shard:
    """Part of a level group.

    Attributes:
        group: Index of the level group, from 0.
        prefix: The leading bits of the SHA-256 of each of its messages, as a number.
        messages: The number of messages.
        sha256: Of the concatenated messages, 32 bytes.
    """

    group: int
    prefix: int
    messages: int
    sha256: bytes


@dataclass(frozen=True)
class BatchHeader:
    """Header of a batch, known before any message is opened.

    Attributes:
        task: SHA-256 of the task, 32 bytes.
        epoch: From 1.
        after: The last epoch that was delivered before; 0 before the first. All between
            the two were skipped.
        stage: The step of the epoch.
        batch_id: 16 random bytes, the same each time this batch is handed over.
        people: Reports per choice; one total if choices are not named.
        sealed_size: Bytes of each message.
        bits: The number of leading hash bits that select a shard of a level group.
        shards: Group by group, by increasing prefix, empty ones included. The index of a
            shard is its position here.
        enrolment: Commits to the number of tokens, signed by the enroller.
        messages_per_report: Messages that each user sent.
    """

    task: bytes
    epoch: int
    after: int
    stage: EpochStage
    batch_id: bytes
    people: tuple[int, ...]
    sealed_size: int
    bits: int
    shards: tuple[Shard, ...]
    enrolment: Enrolment
    messages_per_report: int = 1

    def group_sizes(self, task: Task) -> tuple[int, ...]:
        """Returns the number of messages of each level group."""
        step = Step(task, self.epoch, self.stage)
        return tuple(
            n * self.messages_per_report for n in step.group_sizes(self.people)
        )

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
            "bits": self.bits,
            "shards": [
                [shard.messages, to_text(shard.sha256)] for shard in self.shards
            ],
            "enrolment": self.enrolment.to_dict(),
            "messages_per_report": self.messages_per_report,
        }


def write_manifest(header: BatchHeader, signing_key: bytes) -> bytes:
    """Returns the manifest of a batch, signed by the shuffler."""
    text = canonical(signed(_PURPOSE, header.to_dict(), signing_key))
    return b"".join((MAGIC, len(text).to_bytes(4, "big"), text))


def manifest_size(prefix: bytes) -> int:
    """Returns the size of a manifest, from its first `PREFIX_SIZE` bytes.

    Raises:
        Refusal: If they are not the start of a manifest.
    """
    if len(prefix) < PREFIX_SIZE or prefix[: len(MAGIC)] != MAGIC:
        raise Refusal(Reason.MALFORMED, "Expected a batch of version 4.")
    length = int.from_bytes(prefix[len(MAGIC) : PREFIX_SIZE], "big")
    if length > MAX_HEADER:
        raise Refusal(Reason.TOO_LARGE, f"Expected a header of {MAX_HEADER} bytes.")
    return PREFIX_SIZE + length


def read_manifest(content: bytes, task: Task) -> BatchHeader:
    """Parses and verifies the manifest of a batch, before its messages are received.

    Raises:
        Refusal: If it is malformed, or not signed by the task's shuffler for this task.
    """
    if len(content) != manifest_size(content[:PREFIX_SIZE]):
        raise Refusal(Reason.WRONG_SIZE, "Expected a whole manifest, and nothing more.")
    # The signature first: no other member is used before.
    value = check_signed(
        _PURPOSE,
        read_object(content[PREFIX_SIZE:], "a batch header"),
        task.shuffler_signing_key,
    )
    header = _header(value, task)
    # The format is valid from here on; the values must fit each other and the task.
    if header.after >= header.epoch:
        raise Refusal(Reason.WRONG_EPOCH, "Expected an epoch after the last one.")
    # A roster of another epoch would admit tokens that were spent there.
    if header.enrolment.epoch != header.epoch:
        raise Refusal(Reason.WRONG_EPOCH, "Expected the enrolment of its epoch.")
    # Each token admits one report per step.
    if sum(header.people) > header.enrolment.tokens:
        raise Refusal(Reason.WRONG_SIZE, "Expected no more people than tokens.")
    _check_shards(header, task)
    return header


def _header(value: dict[str, Any], task: Task) -> BatchHeader:
    # The shuffler is trusted to count, but not to be free of bugs: check every member.
    # The exact set: a member that another version added must not be ignored.
    if set(value) != _NAMES:
        raise Refusal(Reason.MALFORMED, f"Expected a header of {sorted(_NAMES)}.")
    if from_text(value["task"], DIGEST_SIZE, "a digest") != task.digest:
        raise Refusal(Reason.UNKNOWN_TASK, "Expected a batch of this task.")
    people, whole = value["people"], [value[name] for name in _WHOLE]
    if not isinstance(people, list) or value["stage"] not in list(EpochStage):
        raise Refusal(Reason.MALFORMED, "Expected numbers of people, and a stage.")
    # `type`, not `isinstance`: True is an int.
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
        bits=value["bits"],
        shards=_shards(value["shards"], value["bits"]),
        enrolment=Enrolment.read(value["enrolment"], task),
        messages_per_report=value["messages_per_report"],
    )


def _shards(rows: object, bits: int) -> tuple[Shard, ...]:
    # Checked before the loop, so that a manifest cannot make it long.
    if not isinstance(rows, list) or bits > MAX_BITS or len(rows) > 1 << MAX_BITS:
        raise Refusal(Reason.MALFORMED, f"Expected at most {1 << MAX_BITS:,} shards.")
    shards = []
    for index, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != 2:
            raise Refusal(Reason.MALFORMED, "Expected a number and a digest per shard.")
        messages, text = row
        if type(messages) is not int or messages < 0:
            raise Refusal(Reason.MALFORMED, "Expected whole numbers from 0.")
        # The index is the group followed by the prefix bits, as in `ShardSorter`.
        group, prefix = index >> bits, index & ((1 << bits) - 1)
        digest = from_text(text, DIGEST_SIZE, "a digest")
        shards.append(Shard(group, prefix, messages, digest))
    return tuple(shards)


def _check_shards(header: BatchHeader, task: Task) -> None:
    # Groups are separated by their sizes: one extra message would shift all later ones.
    sizes = header.group_sizes(task)
    if task.dummy_commitment is not None and header.stage is EpochStage.ANSWER:
        # How many dummies there may be, the plan says: `AnalystState.receive` checks it.
        dummies = sum(shard.messages for shard in header.shards) - sum(sizes)
        if dummies <= 0:
            raise Refusal(
                Reason.WRONG_SIZE,
                "Expected the shuffler's dummies among the messages: without them "
                "people's messages are not private.",
            )
        sizes = (sizes[0] + dummies,)
    counted = [0] * len(sizes)
    if len(header.shards) != len(sizes) << header.bits:
        raise Refusal(Reason.WRONG_SIZE, "Expected a shard of every prefix and pile.")
    for shard in header.shards:
        counted[shard.group] += shard.messages
    if tuple(counted) != sizes or not header.sealed_size:
        raise Refusal(Reason.WRONG_SIZE, "Expected as many messages as people sent.")
