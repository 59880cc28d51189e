"""The order of messages in a batch: by the SHA-256 of what was sealed, strictly increasing.

So the order is a function of which sealed messages there are: whoever makes a batch has
nothing to draw and nothing to keep secret, whoever gets one can check it, and no message
can come twice. docs/theory/theorem.md proves that it is worth a uniformly random one.
Shards of a pile follow each other in this order: each holds what its prefix says, and is in
order.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from shuffledp.service.wire.batch import Shard
from shuffledp.service.wire.refusal import Reason, Refusal

_HASH = "S32"
# Hashes that are objects of Python at a time: each takes three times its size.
_AT_ONCE = 1 << 14


def hash_messages(
    messages: bytes | bytearray | memoryview, size: int
) -> NDArray[np.bytes_]:
    """Returns the SHA-256 of each message, shape (n,), which compare as bytes do.

    Args:
        messages: Sealed, one after the other.
        size: Bytes of each.
    """
    hashes = np.empty(len(messages) // size, dtype=_HASH)
    view = memoryview(messages)
    for start in range(0, len(hashes), _AT_ONCE):
        part = bytes(view[start * size : (start + _AT_ONCE) * size])
        found = [
            hashlib.sha256(part[at : at + size]).digest()
            for at in range(0, len(part), size)
        ]
        hashes[start : start + _AT_ONCE] = np.frombuffer(b"".join(found), _HASH)
    return hashes


def hash_prefixes(hashes: NDArray[np.bytes_], bits: int) -> NDArray[np.int64]:
    """Returns the leading bits of each hash as a number, shape (n,).

    Args:
        hashes: Of `hash_messages`.
        bits: How many, at most 32.
    """
    begins = hashes.view(np.uint8).reshape(-1, 32)[:, :4]
    numbers = np.ascontiguousarray(begins).view(">u4")[:, 0].astype(np.int64)
    return numbers >> (32 - bits)


def sort_by_hash(messages: bytes | bytearray, size: int) -> NDArray[np.uint8]:
    """Returns messages of one pile in their order, shape (n, size).

    Args:
        messages: Sealed, one after the other.
        size: Bytes of each.
    """
    rows = np.frombuffer(messages, np.uint8).reshape(-1, size)
    return rows[np.argsort(hash_messages(messages, size))]


class ShardCheck:
    """Checks a shard while it comes in; keeps one hash and less than one message."""

    def __init__(self, shard: Shard, *, bits: int, size: int) -> None:
        """Begins before the first message.

        Args:
            shard: What it must be.
            bits: How many leading bits of hashes are its prefix.
            size: Bytes of each message.
        """
        self._shard, self._bits, self._size = shard, bits, size
        self._left = shard.messages * size
        self._digest = hashlib.sha256()
        self._last, self._rest = np.zeros(0, dtype=_HASH), b""

    def add(self, part: bytes) -> None:
        """Checks what comes next, cut anywhere.

        Raises:
            Refusal: If a message is not behind the one before it, is of another prefix, or
                is one too many.
        """
        self._left -= len(part)
        if self._left < 0:
            raise Refusal(Reason.WRONG_SIZE, "Expected no more messages.")
        self._digest.update(part)
        content = self._rest + part
        whole = len(content) - len(content) % self._size
        self._rest = content[whole:]
        found = hash_messages(content[:whole], self._size)
        if not found.size:
            return
        both = np.concatenate([self._last, found])
        # In order, so that all between the first and the last are of their prefix too.
        of = hash_prefixes(found[[0, -1]], self._bits)
        if not (both[1:] > both[:-1]).all() or (of != self._shard.prefix).any():
            raise Refusal(
                Reason.WRONG_ORDER,
                "Expected every sealed message once, by increasing SHA-256, each in the "
                "shard of its prefix.",
            )
        self._last = found[-1:]

    def finish(self) -> None:
        """Raises Refusal unless all messages came that were signed."""
        if self._left or self._digest.digest() != self._shard.sha256:
            raise Refusal(Reason.WRONG_SIZE, "Expected the messages that were signed.")
