"""Order of messages in a batch: strictly increasing SHA-256 of the sealed messages.

The order is a function of the set of sealed messages: the shuffler draws nothing and keeps
nothing secret, the analyst can check the order, and no message can occur twice.
docs/theory/theorem.md proves that it gives the guarantee of a uniformly random order.
Consecutive shards of a level group are in this order, and each has the messages of its
prefix.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from shuffledp_services.wire.batch import Shard
from shuffledp_services.wire.refusal import Reason, Refusal

_HASH = "S32"
# Hashes that are Python objects at a time: each takes three times its size.
_AT_ONCE = 1 << 14


def hash_messages(
    messages: bytes | bytearray | memoryview, size: int
) -> NDArray[np.bytes_]:
    """Returns the SHA-256 of each message, shape (n,), comparable like bytes.

    Args:
        messages: Sealed and concatenated.
        size: Bytes of each.
    """
    # S32 compares like bytes; trailing zeros that it drops do not change the order.
    hashes = np.empty(len(messages) // size, dtype=_HASH)
    view = memoryview(messages)
    for start in range(0, len(hashes), _AT_ONCE):
        part = bytes(view[start * size : (start + _AT_ONCE) * size])
        digests = [
            hashlib.sha256(part[offset : offset + size]).digest()
            for offset in range(0, len(part), size)
        ]
        hashes[start : start + _AT_ONCE] = np.frombuffer(b"".join(digests), _HASH)
    return hashes


def hash_prefixes(hashes: NDArray[np.bytes_], bits: int) -> NDArray[np.int64]:
    """Returns the leading bits of each hash as a number, shape (n,).

    Args:
        hashes: From `hash_messages`.
        bits: The number of bits, at most 32.
    """
    # The first four bytes as a big-endian integer.
    begins = hashes.view(np.uint8).reshape(-1, 32)[:, :4]
    numbers = np.ascontiguousarray(begins).view(">u4")[:, 0].astype(np.int64)
    return numbers >> (32 - bits)


def sort_by_hash(messages: bytes | bytearray, size: int) -> NDArray[np.uint8]:
    """Returns the messages of one level group sorted by hash, shape (n, size).

    Args:
        messages: Sealed and concatenated.
        size: Bytes of each.
    """
    rows = np.frombuffer(messages, np.uint8).reshape(-1, size)
    # Equal messages would be neighbors, which `ShardCheck` refuses.
    return rows[np.argsort(hash_messages(messages, size))]


class ShardCheck:
    """Streaming check of a shard, with memory of one hash and less than one message."""

    def __init__(self, shard: Shard, *, bits: int, size: int) -> None:
        """Begins before the first message.

        Args:
            shard: Its entry in the manifest.
            bits: The number of leading hash bits in its prefix.
            size: Bytes of each message.
        """
        self._shard, self._bits, self._size = shard, bits, size
        self._left = shard.messages * size
        self._digest = hashlib.sha256()
        self._last_hash, self._partial = np.zeros(0, dtype=_HASH), b""

    def add(self, part: bytes) -> None:
        """Checks the next bytes, which may end within a message.

        Raises:
            Refusal: If a hash does not increase or has another prefix, or there are too
                many messages.
        """
        # Before hashing, so that extra bytes cost nothing.
        self._left -= len(part)
        if self._left < 0:
            raise Refusal(Reason.WRONG_SIZE, "Expected no more messages.")
        self._digest.update(part)
        content = self._partial + part
        whole = len(content) - len(content) % self._size
        self._partial = content[whole:]
        hashes = hash_messages(content[:whole], self._size)
        if not hashes.size:
            return
        sequence = np.concatenate([self._last_hash, hashes])
        # In sorted hashes, first and last have the prefix only if all between have it.
        ends = hash_prefixes(hashes[[0, -1]], self._bits)
        increasing = (sequence[1:] > sequence[:-1]).all()
        if not increasing or (ends != self._shard.prefix).any():
            raise Refusal(
                Reason.WRONG_ORDER,
                "Expected every sealed message once, by increasing SHA-256, each in the "
                "shard of its prefix.",
            )
        self._last_hash = hashes[-1:]

    def finish(self) -> None:
        """Raises Refusal unless all bytes came, with the digest in the manifest."""
        if self._left or self._digest.digest() != self._shard.sha256:
            raise Refusal(Reason.WRONG_SIZE, "Expected the messages that were signed.")
