"""A network that breaks: relays connections, and cuts some of them after so many bytes."""

import socket
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, Self

Direction = Literal["request", "response"]


@dataclass(frozen=True)
class Cut:
    """A connection ends, for both sides, after so many bytes in one direction."""

    direction: Direction
    after: int


class Proxy:
    """Relays to a port of this machine.

    The first connections are cut, each as its `Cut` says; later ones are left alone.

    Attributes:
        port: Where it listens.
        cuts: Those that are left.
        made: Those that happened.
        on_response: Is called with all bytes of responses, before they are passed on.
    """

    def __init__(self, cuts: Sequence[Cut] = ()) -> None:
        self.cuts, self.made = list(cuts), list[Cut]()
        self.on_response: Callable[[bytes], None] = lambda _part: None
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._to = 0
        self._open = list[socket.socket]()
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def before(self, port: int) -> int:
        """Relays to this port; returns its own."""
        self._to = port
        return self.port

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for one in self._open:
            one.close()
        self._thread.join()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                _break(near)
                continue
            self._open += [near, far]
            cut = self.cuts.pop(0) if self.cuts else None
            for source, target, direction in (
                (near, far, "request"),
                (far, near, "response"),
            ):
                threading.Thread(
                    target=self._relay,
                    args=(source, target, direction, cut),
                    daemon=True,
                ).start()

    def _relay(
        self,
        source: socket.socket,
        target: socket.socket,
        direction: Direction,
        cut: Cut | None,
    ) -> None:
        here = cut is not None and cut.direction == direction
        left = cut.after if cut is not None and here else None
        with suppress(OSError):
            while part := source.recv(4096 if left is None else min(left + 1, 4096)):
                if direction == "response":
                    self.on_response(part)
                if cut is not None and left is not None and len(part) > left:
                    target.sendall(part[:left])
                    self.made.append(cut)
                    _break(source)
                    _break(target)
                    return
                target.sendall(part)
                left = None if left is None else left - len(part)
            target.shutdown(socket.SHUT_WR)


def _break(one: socket.socket) -> None:
    # No goodbye: the other side gets a reset.
    with suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.shutdown(socket.SHUT_RD)
    with suppress(OSError):
        one.close()
