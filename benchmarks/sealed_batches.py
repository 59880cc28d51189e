"""Batches of sealed messages, for benchmarks that run no service."""

import hashlib
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from service_parties import LEVELS as CHOICES
from service_parties import Parties, answers, parties

from shuffledp_services.device.encode import seal_reports
from shuffledp_services.wire.batch import BatchHeader, Shard, write_manifest
from shuffledp_services.wire.canonical import to_text
from shuffledp_services.wire.message_order import hash_messages, hash_prefixes
from shuffledp_services.wire.roster import Enrolment
from shuffledp_services.wire.signing import signed
from shuffledp_services.wire.step import Step

PIECE, SHARD = 1 << 18, 1 << 17


def asker() -> Parties:
    """Returns a task that is the same in every process."""
    return parties("frequency")


def prepare(people: int, folder: Path) -> None:
    """Writes a batch of sealed messages with its task."""
    made, rng = asker(), np.random.default_rng(1)
    step, rows = Step(made.task, 1), list[bytes]()
    for start in range(0, people, PIECE):
        count = min(PIECE, people - start)
        levels = np.resize(CHOICES, count)
        values = answers("frequency", count, rng)
        messages = step.run.randomize(values, levels, rng=rng)
        reports = seal_reports(step, messages, levels, [bytes(32)] * count)
        rows += [report.sealed[0] for report in reports]
    content, size = b"".join(rows), step.sealed_size
    hashes = hash_messages(content, size)
    order = np.argsort(hashes)
    bits = max(people - 1, 1).bit_length() - SHARD.bit_length() + 1
    bits = max(bits, 1)
    prefixes = hash_prefixes(hashes[order], bits)
    table, shards = np.frombuffer(content, np.uint8).reshape(-1, size)[order], []
    for prefix in range(1 << bits):
        first, end = np.searchsorted(prefixes, [prefix, prefix + 1])
        part = table[first:end].tobytes()
        (folder / f"{prefix}.shard").write_bytes(part)
        shards.append(Shard(0, prefix, int(end - first), hashlib.sha256(part).digest()))
    terms = {
        "task": to_text(made.task.digest),
        "epoch": 1,
        "tokens": people,
        "sha256": to_text(bytes(32)),
    }
    enrolment = Enrolment.read(
        signed("enrolment", terms, made.enroller.signing_key), made.task
    )
    counts = np.bincount(np.resize(np.arange(len(CHOICES)), people)).tolist()
    header = BatchHeader(
        made.task.digest,
        1,
        0,
        step.stage,
        bytes(16),
        tuple(counts),
        size,
        bits,
        tuple(shards),
        enrolment,
    )
    (folder / "manifest.bin").write_bytes(
        write_manifest(header, made.shuffler.signing_key)
    )
    secrets = (made.task, made.analyst.private_key)
    (folder / "whose.pickle").write_bytes(pickle.dumps(secrets))


def whose(folder: Path) -> Any:
    """Returns the task, and the private key that opens its messages."""
    return pickle.loads((folder / "whose.pickle").read_bytes())


def bytes_of(folder: Path) -> int:
    """Returns the size of a handed-over batch: shards and manifest, in bytes."""
    parts = [*folder.glob("*.shard"), folder / "manifest.bin"]
    return sum(part.stat().st_size for part in parts)
