"""Memory for request bodies that are arriving: small bodies never wait for large ones.

Bodies of at most `SMALL_BODY` bytes are not counted: the limit of connections bounds their
total. All larger bodies share a fixed amount of memory. When it is used up, the oldest body
that is still arriving is dropped, so that a stalled sender does not block newcomers.

A token proves only that it was issued: its owner may have spent it, and may send slowly.
Each token has at most one arriving body; a second one replaces the first, as when a device
sends again after a network failure.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shuffledp_services.wire.refusal import Reason, Refusal

SMALL_BODY = 64 * 2**10
"""Largest body that is not counted, in bytes. A device's upload has some hundred."""


class BodyMemory:
    """Memory shared by large bodies."""

    def __init__(self, size: int) -> None:
        """Starts with all memory free.

        Args:
            size: Bytes for all large bodies together, at least those of one body.
        """
        self._free = size
        # Bytes of each large body, oldest first.
        self._large: dict[Body, int] = {}
        self._arriving: dict[bytes, Body] = {}

    def claim(self, token: bytes, body: "Body") -> None:
        """Assigns a token to this arriving body; drops the body that had it before."""
        former = self._arriving.get(token)
        if former is not None:
            # A client that lost its connection sends again; only its newest body is of
            # use.
            former.drop()
        self._arriving[token] = body

    def release_token(self, token: bytes, body: "Body") -> None:
        """Frees a token if it is still assigned to this body."""
        if self._arriving.get(token) is body:
            del self._arriving[token]

    def reserve(self, body: "Body", size: int) -> None:
        """Reserves bytes for a large body; drops the oldest arriving ones if necessary.

        Raises:
            Refusal: If this body is the oldest that is still arriving, or another large
                body came with the same token.
        """
        if body not in self._large:
            # One large body per token: a token must not reserve the whole memory.
            if any(body.shares_token(other) for other in self._large):
                raise _no_room()
            self._large[body] = 0
        while size > self._free:
            # Complete bodies are being processed, and cannot be dropped.
            oldest = next(other for other in self._large if other.is_arriving)
            oldest.drop()
            if oldest is body:
                raise _no_room()
        self._free -= size
        self._large[body] += size

    def release(self, body: "Body") -> None:
        """Frees the bytes of a large body."""
        self._free += self._large.pop(body, 0)


class Body:
    """Request body that arrives within `arrival`, and uses memory until `release`."""

    def __init__(self, memory: BodyMemory) -> None:
        self._memory = memory
        self._parts: list[bytes] = []
        self._token, self._size = b"", 0
        self._interrupt: asyncio.Timeout | None = None
        self._is_dropped = False

    @property
    def is_arriving(self) -> bool:
        """Whether the body is incomplete, and may be dropped."""
        return self._interrupt is not None

    @property
    def size(self) -> int:
        """Number of bytes received so far."""
        return self._size

    @asynccontextmanager
    async def arrival(self) -> AsyncIterator[None]:
        """Context in which the body is received; releases it if receiving fails.

        Raises:
            Refusal: If the body was dropped while it arrived.
        """
        try:
            async with asyncio.timeout(None) as self._interrupt:
                yield
            self._check_not_dropped()
        except BaseException as error:
            self.release()
            if isinstance(error, TimeoutError):
                # `drop` ends the wait for the next part by a timeout, too.
                self._check_not_dropped()
            raise
        finally:
            self._interrupt = None
            self._memory.release_token(self._token, self)

    def claim(self, token: bytes) -> None:
        """Assigns the token that the body came with; drops its former body."""
        self._token = token
        self._memory.claim(token, self)

    def shares_token(self, other: "Body") -> bool:
        """Returns whether both bodies came with the same token."""
        return bool(self._token) and self._token == other._token

    def add(self, part: bytes) -> None:
        """Appends the next part.

        Raises:
            Refusal: If there is no memory for it, or the body was dropped.
        """
        self._check_not_dropped()
        size = self._size + len(part)
        if size > SMALL_BODY:
            was_small = self._size <= SMALL_BODY
            # Small bodies are not counted: on growing large, all bytes so far count.
            self._memory.reserve(self, size if was_small else len(part))
        self._size = size
        self._parts.append(part)

    def content(self) -> bytes:
        """Returns the whole body, and forgets it."""
        content = b"".join(self._parts)
        self._parts.clear()
        return content

    def drop(self) -> None:
        """Interrupts the arrival, and frees the memory at once."""
        self._is_dropped = True
        self.release()
        if self._interrupt is not None:
            # A deadline in the past raises TimeoutError in the task that receives it.
            self._interrupt.reschedule(0.0)
            self._interrupt = None

    def release(self) -> None:
        """Frees the body's memory."""
        self._memory.release(self)
        self._size = 0
        self._parts.clear()

    def _check_not_dropped(self) -> None:
        if self._is_dropped:
            raise _no_room()


def _no_room() -> Refusal:
    return Refusal(Reason.STORAGE, "Expected fewer large uploads at once: try later.")
