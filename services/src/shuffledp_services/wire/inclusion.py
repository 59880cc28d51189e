"""Public list of the SHA-256 of all sealed messages that a result was computed from.

The list reveals neither contents nor senders. Its digest is part of the signed result, so
that the owner of a receipt can look for their message, and need not disclose it: they
download the whole list.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp_services.wire.canonical import (
    canonical,
    from_text,
    read_object,
    sha256,
    to_text,
)
from shuffledp_services.wire.message_order import hash_messages
from shuffledp_services.wire.receipt import Receipt, messages_digest
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.signing import check_signed
from shuffledp_services.wire.task import Task

HASH_SIZE = 32
RESULT = "result"
_NAMES = frozenset({"task", "messages", "receipt"})
# Messages in memory at a time.
_AT_ONCE = 1 << 14


def list_messages(prefixes: Iterable[Sequence[Path]], size: int) -> Iterator[bytes]:
    """Yields the sorted SHA-256 of all sealed messages of a batch, 32 bytes each.

    Args:
        prefixes: For each hash prefix, in order, the files with its concatenated messages,
            one file per level group.
        size: Bytes of each message.
    """
    for paths in prefixes:
        hashes = np.concatenate(
            [
                np.zeros(0, f"S{HASH_SIZE}"),
                *(h for p in paths for h in _hashes(p, size)),
            ]
        )
        # Each level group has its own order: merge the groups within one prefix.
        hashes.sort()
        yield hashes.tobytes()


def _hashes(path: Path, size: int) -> Iterator[NDArray[np.bytes_]]:
    with path.open("rb") as file:
        # Whole messages only, as the chunk is a multiple of their size.
        while content := file.read(_AT_ONCE * size):
            yield hash_messages(content, size)


def includes(listed: bytes, message: bytes) -> bool:
    """Tells whether a list that passed `check_list` has a hash, by binary search."""
    hashes = np.frombuffer(listed, dtype=f"S{HASH_SIZE}")
    index = int(np.searchsorted(hashes, np.array(message, dtype=hashes.dtype)))
    # Compared as bytes: elements of a NumPy bytes array lose trailing zeros.
    return listed[index * HASH_SIZE : (index + 1) * HASH_SIZE] == message


def check_result(value: dict[str, Any], task: Task, epoch: int) -> bytes:
    """Returns the digest of the list of messages that a result names.

    Raises:
        Refusal: Unless the task's analyst signed it, as the result of this epoch.
    """
    result = check_signed(RESULT, value, task.analyst_signing_key)
    if result.get("digest") != task.fingerprint or result.get("epoch") != epoch:
        raise Refusal(
            Reason.SIGNATURE_FORGED,
            f"Expected the result of epoch {epoch} of the task.",
        )
    batch = result.get("batch")
    if not isinstance(batch, dict):
        raise Refusal(Reason.MALFORMED, "Expected a result that names its batch.")
    return from_text(batch.get("messages"), HASH_SIZE, "a digest")


def check_list(listed: bytes, digest: bytes) -> None:
    """Checks a list of messages against the digest in the result.

    Raises:
        Refusal: If the digest differs, or hashes are not strictly increasing.
    """
    hashes = np.frombuffer(
        # `frombuffer` needs whole hashes; a list with a fraction is refused below.
        listed[: len(listed) // HASH_SIZE * HASH_SIZE],
        dtype=f"S{HASH_SIZE}",
    )
    # Strictly increasing: the binary search needs the order, and each message counts
    # once.
    sorted_once = bool((hashes[1:] > hashes[:-1]).all())
    if sha256(listed) != digest or len(listed) % HASH_SIZE or not sorted_once:
        raise Refusal(
            Reason.WRONG_SIZE, "Expected the list of messages that the result names."
        )


@dataclass(frozen=True)
class KeptReceipt:
    """Receipt that a participant saves, with the hashes of the accepted messages.

    The shuffler signed a digest of the hashes, so that the saved receipt alone proves that
    the shuffler accepted the messages. It contains neither the token, by which the enroller
    could identify a participant, nor anything that the analyst could open.

    Attributes:
        receipt: As signed by the shuffler.
        messages: SHA-256 of each sealed message of the accepted reports.
    """

    receipt: Receipt
    messages: tuple[bytes, ...]

    @staticmethod
    def task_of(content: bytes) -> bytes:
        """Returns the digest of the task that a saved receipt names.

        Raises:
            Refusal: If it names none.
        """
        text = read_object(content, "a receipt").get("task")
        if not isinstance(text, str) or not re.fullmatch("[0-9a-f]{64}", text):
            raise Refusal(Reason.MALFORMED, "Expected a receipt that names its task.")
        return bytes.fromhex(text)

    @classmethod
    def read(cls, content: bytes, task: Task) -> "KeptReceipt":
        """Parses and verifies a receipt saved by `keep_receipt` or the participants' page.

        Raises:
            Refusal: If it is malformed, the task's shuffler did not sign it for these
                messages, or no report was accepted.
        """
        value = read_object(content, "a receipt")
        texts, signed = value.get("messages"), value.get("receipt")
        if set(value) != _NAMES or not isinstance(texts, list) or not texts:
            raise Refusal(Reason.MALFORMED, f"Expected a receipt of {sorted(_NAMES)}.")
        if not isinstance(signed, dict):
            raise Refusal(Reason.MALFORMED, "Expected a signed receipt.")
        receipt = Receipt.read(signed, task.shuffler_signing_key)
        if value["task"] != task.fingerprint or receipt.task != task.digest:
            raise Refusal(Reason.UNKNOWN_TASK, "Expected a receipt of this very task.")
        # The shuffler signed one digest of all hashes: they are checked as a whole.
        hashes = [from_text(text, HASH_SIZE, "a SHA-256") for text in texts]
        if messages_digest(hashes) != receipt.messages:
            raise Refusal(
                Reason.SIGNATURE_FORGED, "Expected the messages that were signed for."
            )
        reports = receipt.accepted + len(receipt.refused)
        refused = {position for position, _ in receipt.refused}
        if not receipt.accepted or len(hashes) % reports:
            raise Refusal(
                Reason.MALFORMED, "Expected a receipt of reports, and one kept."
            )
        # All reports of a step have equally many messages.
        per_report = len(hashes) // reports
        accepted = (
            digest
            for index, digest in enumerate(hashes)
            if index // per_report not in refused
        )
        return cls(receipt, tuple(accepted))


def keep_receipt(task: Task, hashes: list[bytes], receipt: dict[str, Any]) -> bytes:
    """Returns the line that a participant saves, which `KeptReceipt.read` parses.

    Args:
        task: The task.
        hashes: SHA-256 of all sealed messages of an upload, in its order.
        receipt: The signed receipt of the upload.
    """
    texts = list(map(to_text, hashes))
    value = {"task": task.fingerprint, "messages": texts, "receipt": receipt}
    return canonical(value) + b"\n"
