"""Places for connections: never refused, but taken from others.

Everybody may connect, so that whoever holds all places is hostile, and whoever comes next
may be honest. Who sent a token or a signature that was checked keeps her place until she
has her answer. All others are strangers: when places run out the oldest of them goes.
Somebody honest is a stranger for milliseconds only.
"""

import resource
from contextlib import suppress
from typing import Protocol

from shuffledp.extras import require

require("uvicorn", extra="service", what="A service")

from uvicorn.server import ServerState  # noqa: E402

MAX_CONNECTIONS = 2048
"""At once; fewer where a process may not open as many files."""

_MAX_UNREAD = 128
# Of files: databases, the listener, clients, and what a few turns of the loop accepted
# before it is counted, or have not yet closed after it was dropped.
_RESERVED = 256


def open_places() -> int:
    """Returns how many connections there may be; has files enough allowed, if it can."""
    wanted = MAX_CONNECTIONS + _RESERVED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return min(MAX_CONNECTIONS, max(soft - _RESERVED, soft // 4))


class Guest(Protocol):
    """A connection that has a place."""

    def drop(self) -> None:
        """Ends it at once."""


class Connections(ServerState):
    """All connections of a service, and who is dropped for whom."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit
        # In the order in which they came, or had their last answer.
        self._strangers: dict[Guest, None] = {}
        self._proven: dict[Guest, None] = {}
        self._unread: dict[Guest, None] = {}

    def enter(self, connection: Guest) -> None:
        """Counts a stranger; the oldest connection goes if there are too many."""
        if len(self._strangers) + len(self._proven) >= self._limit:
            next(iter(self._strangers or self._proven)).drop()
        self._strangers[connection] = None

    def prove(self, connection: Guest) -> None:
        """Counts it as somebody known."""
        if connection in self._strangers:
            del self._strangers[connection]
            self._proven[connection] = None

    def answered(self, connection: Guest) -> None:
        """Counts it as a newcomer: the next request has to prove itself again."""
        # Its answer may still wait to be taken.
        for group in (self._strangers, self._proven):
            group.pop(connection, None)
        self._strangers[connection] = None

    def unread(self, connection: Guest) -> None:
        """Counts one that does not take its answer, which waits in memory."""
        if len(self._unread) >= _MAX_UNREAD:
            next(iter(self._unread)).drop()
        self._unread[connection] = None

    def read(self, connection: Guest) -> None:
        """Counts it as one that takes its answer again."""
        self._unread.pop(connection, None)

    def leave(self, connection: Guest) -> None:
        """Counts it no more."""
        for group in (self._strangers, self._proven, self._unread):
            group.pop(connection, None)
