"""The order of messages in a batch: by the SHA-256 of what was sealed, strictly increasing.

So the order is a function of which sealed messages there are: whoever makes a batch has
nothing to draw and nothing to keep secret, whoever gets one can check it, and no message
can come twice. docs/theorem.md proves that it is worth a uniformly random one.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shuffledp.service.wire.refusal import Reason, Refusal

_HASH = "S32"
# Hashes that are objects of Python at a time: each takes three times its size.
_AT_ONCE = 1 << 14


def in_order(messages: bytes | bytearray, size: int) -> NDArray[np.uint8]:
    """Returns the messages of one pile in their order, shape (n, size).

    Args:
        messages: Sealed, one after the other.
        size: Bytes of each.
    """
    rows = np.frombuffer(messages, np.uint8).reshape(-1, size)
    hashes = np.empty(len(rows), dtype=_HASH)
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE].tobytes()
        found = [
            hashlib.sha256(part[at : at + size]).digest()
            for at in range(0, len(part), size)
        ]
        hashes[start : start + _AT_ONCE] = np.frombuffer(b"".join(found), _HASH)
    return rows[np.argsort(hashes)]


class OrderCheck:
    """Checks a batch while it comes in; keeps one hash and less than one message."""

    def __init__(self, piles: Sequence[int], size: int) -> None:
        """Begins before the first message.

        Args:
            piles: How many messages each pile has.
            size: Bytes of each message.
        """
        self._piles, self._size = iter(piles), size
        self._left, self._last, self._rest = 0, b"", b""

    def add(self, part: bytes | memoryview) -> None:
        """Checks what comes next, cut anywhere.

        Raises:
            Refusal: If a message is not behind the one before it, or belongs to no pile.
        """
        content, size = self._rest + part, self._size
        whole = len(content) - len(content) % size
        for start in range(0, whole, size):
            while not self._left:
                self._left, self._last = next(self._piles, -1), b""
            if self._left < 0:
                raise Refusal(Reason.WRONG_SIZE, "Expected no more messages.")
            found = hashlib.sha256(content[start : start + size]).digest()
            if found <= self._last:
                raise Refusal(
                    Reason.WRONG_ORDER,
                    "Expected every sealed message once, by increasing SHA-256.",
                )
            self._left, self._last = self._left - 1, found
        self._rest = content[whole:]
