"""Connections that only want to be in the way, as many as somebody hostile can hold.

An attack is what one connection does, until the service has had enough of it. A crowd does
that with many connections at once, each again and again, by system calls rather than
tasks: whoever attacks from the machine that is measured should cost it little.
"""

import os
import selectors
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

from shuffledp_services.wire.step import Step
from shuffledp_services.wire.tokens import TOKEN_SIZE
from shuffledp_services.wire.upload_format import MAX_BODY, write_header

DRIP_SECONDS = 2.0
_TICK = 0.02
_RANDOM = os.urandom(2**16)


@dataclass(frozen=True)
class Attack:
    """What one connection sends.

    Attributes:
        first: At once.
        drip: Then byte by byte, one every `DRIP_SECONDS`.
        flood: Then so many random bytes, as fast as they are taken.
    """

    first: bytes
    drip: bytes = b""
    flood: int = 0


def request(path: str, size: int) -> bytes:
    """Whole headers of an upload of so many bytes."""
    return (
        f"POST {path}/reports HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n"
    ).encode()


def attacks(step: Step) -> dict[str, Attack]:
    """What somebody without a token can do to the open step of a task."""
    path, begin = f"/tasks/{step.task.identity}", write_header(step)
    large = request(path, MAX_BODY - 1)
    # A byte less than what is looked at.
    almost = begin + bytes(TOKEN_SIZE - 1)
    return {
        "partial headers": Attack(large[:-2]),
        "dripped headers": Attack(b"", large),
        "stalled bodies": Attack(large + almost),
        "dripped bodies": Attack(large, almost),
        "forged bodies": Attack(large + begin, flood=MAX_BODY - 1 - len(begin)),
    }


class Crowd:
    """Many connections to a port of this machine.

    Attributes:
        ended: How many the service has ended so far.
    """

    def __init__(
        self, port: int, chosen: Sequence[Attack], *, begin: float, flood: float = 20.0
    ) -> None:
        """Args:
        port: Where they connect.
        chosen: What each of them does.
        begin: At most so many begin per second.
        flood: At most so many of those that flood begin per second.
        """
        self.ended = 0
        self._port, self._selector = port, selectors.DefaultSelector()
        self._closed = [_Connection(attack) for attack in chosen]
        self._open: list[_Connection] = []
        self._rates, self._left = (begin, flood), [0.0, 0.0]

    def run(self, seconds: float) -> None:
        """Is in the way for so long."""
        end, due = time.monotonic() + seconds, 0.0
        while (now := time.monotonic()) < end:
            for place, rate in enumerate(self._rates):
                self._left[place] = min(self._left[place] + _TICK * rate, rate)
            self._begin()
            due += len(self._open) * _TICK / DRIP_SECONDS
            for _ in range(int(due)):
                self._drip()
            due %= 1.0
            for key, events in self._selector.select(0):
                self._go_on(key.data, events)
            time.sleep(max(0.0, now + _TICK - time.monotonic()))

    def close(self) -> None:
        """Lets go of everything."""
        for connection in self._open:
            connection.socket.close()
        self._selector.close()

    def _begin(self) -> None:
        closed, self._closed = self._closed, []
        for connection in closed:
            kind = bool(connection.attack.flood)
            if self._left[kind] < 1.0:
                self._closed.append(connection)
                continue
            self._left[kind] -= 1.0
            connection.begin(self._port)
            flag = selectors.EVENT_WRITE if connection.left else 0
            self._selector.register(
                connection.socket, selectors.EVENT_READ | flag, connection
            )
            self._open.append(connection)

    def _drip(self) -> None:
        connection = self._open.pop(0)
        self._open.append(connection)
        drip, place = connection.attack.drip, connection.dripped
        if place < len(drip):
            connection.send(drip[place : place + 1])
            connection.dripped += 1

    def _go_on(self, connection: "_Connection", events: int) -> None:
        if events & selectors.EVENT_READ and connection.is_over():
            self._selector.unregister(connection.socket)
            connection.socket.close()
            self._open.remove(connection)
            self._closed.append(connection)
            self.ended += 1
        elif events & selectors.EVENT_WRITE:
            connection.left -= connection.send(_RANDOM[: connection.left])
            if not connection.left:
                self._selector.modify(
                    connection.socket, selectors.EVENT_READ, connection
                )


class _Connection:
    def __init__(self, attack: Attack) -> None:
        self.attack = attack
        self.dripped = self.left = 0
        self.socket: socket.socket

    def begin(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.send(self.attack.first)
        self.dripped, self.left = 0, self.attack.flood

    def send(self, content: bytes) -> int:
        try:
            return self.socket.send(content)
        except OSError:
            # It is full, or was ended, which shows when it is read.
            return 0

    def is_over(self) -> bool:
        try:
            return not self.socket.recv(4096)
        except BlockingIOError:
            return False
        except OSError:
            return True
