"""Memory for request bodies on their way: small bodies never wait for large ones.

A body takes no room while it has at most `SMALL_BODY` bytes: connections are limited, and
so is what they hold then. All larger bodies share one room. When it is full, the oldest
body that is still arriving is dropped, so that a newcomer always finds room and a sender
who stands still keeps it from no one.

A token says no more than that it was issued: its owner may have spent it, and may send
slowly. It has at most one body on its way; a second one takes the place of the first, as
when a device sends again after its network was lost.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shuffledp.service.wire.refusal import Reason, Refusal

SMALL_BODY = 64 * 2**10
"""Bytes of a body that needs no room. A device's upload has some hundred."""


class BodyRoom:
    """The memory that large bodies share."""

    def __init__(self, size: int) -> None:
        """Begins empty.

        Args:
            size: Bytes that large bodies may have together, at least those of one.
        """
        self._free = size
        # What each large body holds, oldest first.
        self._large: dict[Body, int] = {}
        self._arriving: dict[bytes, Body] = {}

    def claim(self, token: bytes, body: "Body") -> None:
        """Gives a token's place among arriving bodies to this one; drops the one before."""
        former = self._arriving.get(token)
        if former is not None:
            former.drop()
        self._arriving[token] = body

    def leave(self, token: bytes, body: "Body") -> None:
        """Frees the token's place, if it is still that of this body."""
        if self._arriving.get(token) is body:
            del self._arriving[token]

    def hold(self, body: "Body", size: int) -> None:
        """Counts bytes of a large body; drops the oldest arriving ones to make room.

        Raises:
            Refusal: If this is the oldest, all others are whole, or one of the same token
                is.
        """
        if body not in self._large:
            if any(body.shares_token(other) for other in self._large):
                raise _no_room()
            self._large[body] = 0
        while size > self._free:
            oldest = next(other for other in self._large if other.is_arriving)
            oldest.drop()
            if oldest is body:
                raise _no_room()
        self._free -= size
        self._large[body] += size

    def release(self, body: "Body") -> None:
        """Counts the bytes of a large body as free again."""
        self._free += self._large.pop(body, 0)


class Body:
    """A body that arrives within `arrival`, and counts as held until it is released."""

    def __init__(self, room: BodyRoom) -> None:
        self._room = room
        self._parts: list[bytes] = []
        self._token, self._size = b"", 0
        self._interrupt: asyncio.Timeout | None = None
        self._is_dropped = False

    @property
    def is_arriving(self) -> bool:
        """Whether it can be dropped."""
        return self._interrupt is not None

    @property
    def size(self) -> int:
        """Bytes that arrived."""
        return self._size

    @asynccontextmanager
    async def arrival(self) -> AsyncIterator[None]:
        """Receives the body inside; releases it if that fails.

        Raises:
            Refusal: If it was dropped on its way.
        """
        try:
            async with asyncio.timeout(None) as self._interrupt:
                yield
            self._check_kept()
        except BaseException as error:
            self.release()
            if isinstance(error, TimeoutError):
                # A drop ends the wait for its next part in the same way as lost time.
                self._check_kept()
            raise
        finally:
            self._interrupt = None
            self._room.leave(self._token, self)

    def claim(self, token: bytes) -> None:
        """Names the token that it came with, and takes its place."""
        self._token = token
        self._room.claim(token, self)

    def shares_token(self, other: "Body") -> bool:
        """Tells whether both came with one token."""
        return bool(self._token) and self._token == other._token

    def add(self, part: bytes) -> None:
        """Adds what arrived next.

        Raises:
            Refusal: If there is no room for it.
        """
        self._check_kept()
        size = self._size + len(part)
        if size > SMALL_BODY:
            was_small = self._size <= SMALL_BODY
            self._room.hold(self, size if was_small else len(part))
        self._size = size
        self._parts.append(part)

    def content(self) -> bytes:
        """Returns all bytes, once."""
        content = b"".join(self._parts)
        self._parts.clear()
        return content

    def drop(self) -> None:
        """Interrupts its arrival; its bytes are free at once."""
        self._is_dropped = True
        self.release()
        if self._interrupt is not None:
            # A time that is over.
            self._interrupt.reschedule(0.0)
            self._interrupt = None

    def release(self) -> None:
        """Counts its bytes as held no longer."""
        self._room.release(self)
        self._size = 0
        self._parts.clear()

    def _check_kept(self) -> None:
        if self._is_dropped:
            raise _no_room()


def _no_room() -> Refusal:
    return Refusal(Reason.STORAGE, "Expected fewer large uploads at once: try later.")
