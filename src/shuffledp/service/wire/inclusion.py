"""Which sealed messages a result was computed from: a public list of their SHA-256.

The list says nothing of what was sealed or by whom. Its digest is part of the signed
result, so that whoever keeps a receipt can look for her message, and needs to name it to
nobody: the whole list is read.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.service.wire.canonical import (
    canonical,
    from_text,
    read_object,
    sha256,
    to_text,
)
from shuffledp.service.wire.message_order import hash_messages
from shuffledp.service.wire.receipt import Receipt, messages_digest
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.signing import check_signed
from shuffledp.service.wire.task import Task

HASH_SIZE = 32
RESULT = "result"
_KEPT = frozenset({"task", "messages", "receipt"})
# Messages that are in memory at a time.
_AT_ONCE = 1 << 14


def list_messages(prefixes: Iterable[Sequence[Path]], size: int) -> Iterator[bytes]:
    """Yields the sorted SHA-256 of all sealed messages of a batch, 32 bytes each.

    Args:
        prefixes: For each prefix of hashes, in order, the files with its messages one
            after the other: those of different piles.
        size: Bytes of each message.
    """
    for paths in prefixes:
        hashes = np.concatenate(
            [
                np.zeros(0, f"S{HASH_SIZE}"),
                *(h for p in paths for h in _hashes(p, size)),
            ]
        )
        hashes.sort()
        yield hashes.tobytes()


def _hashes(path: Path, size: int) -> Iterator[NDArray[np.bytes_]]:
    with path.open("rb") as file:
        while content := file.read(_AT_ONCE * size):
            yield hash_messages(content, size)


def includes(listed: bytes, message: bytes) -> bool:
    """Tells whether a list that `check_list` passed holds a hash."""
    hashes = np.frombuffer(listed, dtype=f"S{HASH_SIZE}")
    place = int(np.searchsorted(hashes, np.array(message, dtype=hashes.dtype)))
    return listed[place * HASH_SIZE : (place + 1) * HASH_SIZE] == message


def check_result(value: dict[str, Any], task: Task, epoch: int) -> bytes:
    """Returns the digest of the list of messages that a result names.

    Raises:
        Refusal: Unless the task's analyst signed it, as the result of this epoch.
    """
    rest = check_signed(RESULT, value, task.analyst_signing_key)
    if rest.get("digest") != task.fingerprint or rest.get("epoch") != epoch:
        raise Refusal(
            Reason.SIGNATURE_FORGED,
            f"Expected the result of epoch {epoch} of the task.",
        )
    batch = rest.get("batch")
    if not isinstance(batch, dict):
        raise Refusal(Reason.MALFORMED, "Expected a result that names its batch.")
    return from_text(batch.get("messages"), HASH_SIZE, "a digest")


def check_list(listed: bytes, digest: bytes) -> None:
    """Checks a list of messages.

    Raises:
        Refusal: Unless it is the one that the result names, in increasing order.
    """
    hashes = np.frombuffer(
        listed[: len(listed) // HASH_SIZE * HASH_SIZE], dtype=f"S{HASH_SIZE}"
    )
    sorted_once = bool((hashes[1:] > hashes[:-1]).all())
    if sha256(listed) != digest or len(listed) % HASH_SIZE or not sorted_once:
        raise Refusal(
            Reason.WRONG_SIZE, "Expected the list of messages that the result names."
        )


@dataclass(frozen=True)
class KeptReceipt:
    """What a participant saves: a receipt, and which sealed messages it was given for.

    The shuffler signed a digest of their hashes, so that this alone proves to anybody what
    it took in. Neither the token, by which the enroller knows people, is part of it, nor
    anything that the analyst could open.

    Attributes:
        receipt: As the shuffler signed it.
        messages: SHA-256 of each sealed message of the reports that it keeps.
    """

    receipt: Receipt
    messages: tuple[bytes, ...]

    @staticmethod
    def task_of(content: bytes) -> bytes:
        """Returns the digest of the task that a receipt says it is of.

        Raises:
            Refusal: If it says none.
        """
        text = read_object(content, "a receipt").get("task")
        if not isinstance(text, str) or not re.fullmatch("[0-9a-f]{64}", text):
            raise Refusal(Reason.MALFORMED, "Expected a receipt that names its task.")
        return bytes.fromhex(text)

    @classmethod
    def read(cls, content: bytes, task: Task) -> "KeptReceipt":
        """Reads what `keep_receipt` wrote, or the participant's page.

        Raises:
            Refusal: Unless the task's shuffler signed it, for these very messages, and
                keeps some of them.
        """
        value = read_object(content, "a receipt")
        texts, signed = value.get("messages"), value.get("receipt")
        if set(value) != _KEPT or not isinstance(texts, list) or not texts:
            raise Refusal(Reason.MALFORMED, f"Expected a receipt of {sorted(_KEPT)}.")
        if not isinstance(signed, dict):
            raise Refusal(Reason.MALFORMED, "Expected a signed receipt.")
        receipt = Receipt.read(signed, task.shuffler_signing_key)
        if value["task"] != task.fingerprint or receipt.task != task.digest:
            raise Refusal(Reason.UNKNOWN_TASK, "Expected a receipt of this very task.")
        hashes = [from_text(text, HASH_SIZE, "a SHA-256") for text in texts]
        if messages_digest(hashes) != receipt.messages:
            raise Refusal(
                Reason.SIGNATURE_FORGED, "Expected the messages that were signed for."
            )
        reports = receipt.accepted + len(receipt.refused)
        refused = {place for place, _ in receipt.refused}
        if not receipt.accepted or len(hashes) % reports:
            raise Refusal(
                Reason.MALFORMED, "Expected a receipt of reports, and one kept."
            )
        each = len(hashes) // reports
        kept = (
            digest
            for place, digest in enumerate(hashes)
            if place // each not in refused
        )
        return cls(receipt, tuple(kept))


def keep_receipt(task: Task, hashes: list[bytes], receipt: dict[str, Any]) -> bytes:
    """Returns a line to save, which `KeptReceipt.read` reads.

    Args:
        task: The task.
        hashes: SHA-256 of all sealed messages of an upload, in its order.
        receipt: The signed answer to it.
    """
    texts = list(map(to_text, hashes))
    value = {"task": task.fingerprint, "messages": texts, "receipt": receipt}
    return canonical(value) + b"\n"
