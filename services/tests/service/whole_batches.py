"""A batch in one piece, as tests make, change and compare it: manifest, then all shards."""

import hashlib
import json
from collections.abc import Sequence

from shuffledp_services.wire.batch import (
    BatchHeader,
    Shard,
    read_manifest,
    write_manifest,
)
from shuffledp_services.wire.roster import Enrolment
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task


def write_whole(
    step: Step,
    batch_id: bytes,
    people: tuple[int, ...],
    sealed: Sequence[bytes],
    signing_key: bytes,
    *,
    enrolment: Enrolment,
    after: int,
    bits: int = 0,
) -> bytes:
    """A signed batch of these messages, pile after pile, each in the order given.

    With `bits` of 0 every pile says how many messages it should have, whatever it has.
    """
    shards, parts, start = list[Shard](), list[bytes](), 0
    for pile, count in enumerate(
        n * step.messages_per_report for n in step.group_sizes(people)
    ):
        rows, start = sealed[start : start + count], start + count
        for prefix in range(1 << bits):
            part = [row for row in rows if leading(row, bits) == prefix]
            content = b"".join(part)
            number = len(part) if bits else count
            digest = hashlib.sha256(content).digest()
            shards.append(Shard(pile, prefix, number, digest))
            parts.append(content)
    header = BatchHeader(
        task=step.task.digest,
        epoch=step.epoch,
        after=after,
        stage=step.stage,
        batch_id=batch_id,
        people=people,
        sealed_size=step.sealed_size,
        bits=bits,
        shards=tuple(shards),
        enrolment=enrolment,
        messages_per_report=step.messages_per_report,
    )
    return write_manifest(header, signing_key) + b"".join(parts)


def leading(message: bytes, bits: int) -> int:
    """The first bits of a message's hash, read as text."""
    text = "".join(f"{byte:08b}" for byte in hashlib.sha256(message).digest())
    return int(text[:bits] or "0", base=2)


def split(content: bytes) -> tuple[bytes, list[bytes]]:
    """Manifest and shards; what is too much or too little is so at the last ones.

    Of what is no batch, all is taken for its manifest.
    """
    end = 9 + int.from_bytes(content[5:9], "big")
    try:
        header = json.loads(content[9:end])
        sizes = [rows * header["sealed_size"] for rows, _ in header["shards"]]
    except (ValueError, KeyError, TypeError):
        return content, []
    if end > len(content):
        return content, []
    rest, shards = content[end:], list[bytes]()
    for size in sizes[:-1]:
        shards.append(rest[:size])
        rest = rest[size:]
    return content[:end], [*shards, rest]


def read_whole(content: bytes, task: Task) -> tuple[BatchHeader, list[list[bytes]]]:
    """What a batch says, and the messages of every pile, which are as they should be."""
    manifest, parts = split(content)
    header = read_manifest(manifest, task)
    size, piles = header.sealed_size, [list[bytes]() for _ in header.group_sizes(task)]
    for shard, part in zip(header.shards, parts, strict=True):
        rows = [part[at : at + size] for at in range(0, len(part), size)]
        assert len(rows) == shard.messages
        assert hashlib.sha256(part).digest() == shard.sha256
        assert all(leading(row, header.bits) == shard.prefix for row in rows)
        piles[shard.group] += rows
    for pile in piles:
        hashes = [hashlib.sha256(row).digest() for row in pile]
        assert hashes == sorted(set(hashes))
    return header, piles
