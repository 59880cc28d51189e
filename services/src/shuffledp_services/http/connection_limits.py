"""Limits on the number of connections: newcomers are accepted, and the oldest dropped.

Connecting needs no permission, so a client that occupies all connections is hostile, and
the next one may be honest. A connection is authenticated once a token or a signature on it
was checked, and is then kept until its answer. All others are strangers: at the limit the
oldest stranger is dropped. An honest client is a stranger for milliseconds only.
"""

import resource
from contextlib import suppress
from typing import Protocol

from uvicorn.server import ServerState

MAX_CONNECTIONS = 2048
"""Largest number of simultaneous connections; fewer if the process may not open as many
files."""

_MAX_UNREAD = 128
# Files other than connections: databases, the listener, clients; and connections accepted
# within a few turns of the loop that are not counted yet, or dropped but not yet closed.
_RESERVED = 256


def raise_connection_limit() -> int:
    """Raises the process's limit of open files if possible; returns that of connections."""
    num_files = MAX_CONNECTIONS + _RESERVED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < num_files:
        limit = num_files if hard == resource.RLIM_INFINITY else min(hard, num_files)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return min(MAX_CONNECTIONS, max(soft - _RESERVED, soft // 4))


class LimitedConnection(Protocol):
    """Connection that counts towards the limits."""

    def drop(self) -> None:
        """Closes the connection at once."""


class ConnectionLimits(ServerState):
    """Connections of a service: counts them, and drops the oldest ones at the limits."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit
        # Ordered by arrival or last answer: dicts keep the order of insertion.
        self._strangers: dict[LimitedConnection, None] = {}
        self._proven: dict[LimitedConnection, None] = {}
        self._unread: dict[LimitedConnection, None] = {}

    def register(self, connection: LimitedConnection) -> None:
        """Adds a stranger; drops the oldest connection if the limit is reached."""
        if len(self._strangers) + len(self._proven) >= self._limit:
            next(iter(self._strangers or self._proven)).drop()
        self._strangers[connection] = None

    def mark_authenticated(self, connection: LimitedConnection) -> None:
        """Exempts a connection from being dropped for newcomers, until its answer."""
        if connection in self._strangers:
            del self._strangers[connection]
            self._proven[connection] = None

    def mark_answered(self, connection: LimitedConnection) -> None:
        """Turns a connection into a stranger: its next request must authenticate again."""
        # It stays in `_unread`: the client may not have read the answer yet.
        for group in (self._strangers, self._proven):
            group.pop(connection, None)
        self._strangers[connection] = None

    def mark_unread(self, connection: LimitedConnection) -> None:
        """Counts a connection whose answer waits in memory to be read."""
        if len(self._unread) >= _MAX_UNREAD:
            next(iter(self._unread)).drop()
        self._unread[connection] = None

    def mark_read(self, connection: LimitedConnection) -> None:
        """Removes a connection from those with an unread answer."""
        self._unread.pop(connection, None)

    def unregister(self, connection: LimitedConnection) -> None:
        """Removes a connection from all counts."""
        for group in (self._strangers, self._proven, self._unread):
            group.pop(connection, None)
