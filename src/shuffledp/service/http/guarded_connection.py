"""Connections that nobody can hold: what does not come in time is dropped.

Until a token or a signature of it was checked, what is stored of a connection is a few KiB,
and it has seconds:

    headers and the first of a body within    `_HEADER_SECONDS`, idle time included
                      answers taken within    `_WRITE_SECONDS`
        rest of a body that is not wanted     `_LINGER_SECONDS`, `_LINGER_BYTES`
                          rest of a body      as `body_timeout.py` says
"""

import asyncio
import socket
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from typing import Any, cast

from shuffledp.extras import require
from shuffledp.service.http.connection_limits import Connections
from shuffledp.service.http.deadline import Deadline
from shuffledp.service.http.paced_answers import PIECE, InPieces
from shuffledp.service.http.plain_requests import (
    PlainRequest,
    WholeAnswer,
    head_of,
    is_to_come,
    read_plain,
)

require("starlette", extra="service", what="A service")
require("uvicorn", extra="service", what="A service")

import h11  # noqa: E402
from starlette.types import Scope  # noqa: E402
from uvicorn.config import Config  # noqa: E402
from uvicorn.protocols.http.h11_impl import H11Protocol  # noqa: E402

ACCEPTED_AT_ONCE = 16
"""Connections that the event loop may accept in one turn."""

_HEADER_SECONDS = 10.0
_WRITE_SECONDS = 20.0
# Thousands of empty ones would fit, and take milliseconds.
_MAX_LINES = 100
_LINGER_SECONDS = 1.0
_LINGER_BYTES = 2**20
_STRANGERS_READ = 16 * 2**10
# Of an answer: what the system may keep, which is megabytes otherwise.
_SEND_BUFFER = 64 * 2**10
# What is given to it at once: a page, or a file that it needs, is one piece.
_AT_ONCE = 128 * 2**10
_KEY = "shuffledp.connection"


def prove(scope: Scope) -> None:
    """Keeps the connection of a request until its answer: its sender was checked."""
    connection = scope.get("state", {}).get(_KEY)
    if connection is not None:
        connection.prove()


class GuardedConnection(H11Protocol):
    """One connection, as uvicorn serves it, with limits of time and size."""

    def __init__(
        self,
        config: Config,
        server_state: Connections,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, _KEY: self}, _loop)
        self._all = server_state
        self._answer_plain = cast(InPieces, config.app).answer_plain
        self._deadline = Deadline(self.loop, self.drop)
        # While a plain request is answered; and whether it is the last one.
        self._answers = self._is_last = False
        self._write_timer: asyncio.TimerHandle | None = None
        self._begun: bytearray | None = bytearray()
        self._is_proven = self._lingers = False
        self._unwanted = 0

    def connection_made(  # type: ignore[override]
        self, transport: asyncio.Transport
    ) -> None:
        """As uvicorn, within the limit of connections."""
        super().connection_made(transport)
        connected = transport.get_extra_info("socket")
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        # An answer is written in two parts, and the second would wait 40 ms for the first
        # one to be acknowledged: asyncio sees no TCP in a socket made without a protocol.
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        transport.set_write_buffer_limits(high=PIECE)
        self._whole_size = self._read_at_once(_STRANGERS_READ)
        self._all.enter(self)
        self._deadline.within(_HEADER_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """As uvicorn; nothing is left of it."""
        self._all.leave(self)
        self._deadline.end()
        if self._write_timer is not None:
            self._write_timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """As uvicorn; what nobody wants is not looked at."""
        if self._lingers:
            self._unwanted += len(data)
            if self._unwanted > _LINGER_BYTES:
                self.flow.pause_reading()
            return
        if self._answers:
            self._is_last = True
            self.flow.pause_reading()
            return
        if self._begun is not None:
            self._begun += data
            if is_to_come(self._begun):
                return
            data, self._begun = bytes(self._begun), None
            if data.count(b"\n", 0, data.find(b"\r\n\r\n")) > _MAX_LINES:
                self.drop()
                return
            if not self.flow.write_paused and self._is_answered(data):
                return
        try:
            super().data_received(data)
        except h11.LocalProtocolError:
            # Nonsense behind a request whose answer has begun: there is no other answer.
            self.drop()
        if self.transport.is_closing():
            self._deadline.within(_WRITE_SECONDS)

    def handle_events(self) -> None:
        """As uvicorn; once headers are whole, the service itself decides how to go on."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            # It would be closed at once, where its sender asks for that.
            self.cycle.transport = cast(asyncio.Transport, _Ending(self))
            self._deadline.lift()

    def on_response_complete(self) -> None:
        """As uvicorn, unless it is better to go."""
        asks_on = self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]
        self._complete(self.scope["method"], is_last=bool(asks_on))
        super().on_response_complete()
        # Its own end of an idle connection would be sooner than the one that is documented.
        self._unset_keepalive_if_required()

    def shutdown(self) -> None:
        """As uvicorn, whatever state the connection is in."""
        if self._answers:
            self._is_last = True
        elif self.cycle is None or self.cycle.response_complete:
            self.transport.close()
        else:
            self.cycle.keep_alive = False

    def pause_writing(self) -> None:
        """As uvicorn, but not for ever."""
        super().pause_writing()
        self._all.unread(self)
        self._write_timer = self.loop.call_later(_WRITE_SECONDS, self.drop)

    def resume_writing(self) -> None:
        """As uvicorn."""
        if self._write_timer is not None:
            self._write_timer.cancel()
        self._all.read(self)
        super().resume_writing()

    def prove(self) -> None:
        """Keeps it until its answer."""
        self._is_proven = True
        self._all.prove(self)
        self._read_at_once(self._whole_size)

    def drop(self) -> None:
        """Ends it at once, whatever it is doing."""
        self._all.leave(self)
        self.transport.abort()

    def end(self) -> None:
        """Ends it once its answer has arrived, if it does."""
        if self.transport.is_closing() or self._lingers:
            return
        if self.conn.their_state is h11.SEND_BODY:
            # Closed with unread bytes, the answer could be lost on its way: nothing more
            # is said, but some of the rest is taken and thrown away for a moment.
            self._lingers = True
            with suppress(OSError):
                self.transport.write_eof()
            self._deadline.within(_LINGER_SECONDS)
        else:
            self.transport.close()
            self._deadline.within(_WRITE_SECONDS)

    def _is_answered(self, data: bytes) -> bool:
        """Answers a plain request without h11, if it is one that is answered so."""
        request = read_plain(data, self.prove)
        answer = request and self._answer_plain(request)
        if request is None or answer is None:
            return False
        self._answers = True
        self._deadline.lift()
        if isinstance(answer, Awaitable):
            self._go_on(self._answer_later(request, answer))
            return True
        rest = self._begin_answer(request, answer)
        if rest or self.flow.write_paused:
            self._go_on(self._give_away(request, rest))
        else:
            self._complete(request.method)
        return True

    async def _answer_later(
        self, request: PlainRequest, answer: Awaitable[WholeAnswer]
    ) -> None:
        rest = self._begin_answer(request, await answer)
        await self._give_away(request, rest)

    def _begin_answer(self, request: PlainRequest, answer: WholeAnswer) -> memoryview:
        """Writes as much of an answer as is given away at once; returns the rest."""
        head = head_of(answer, self.server_state.default_headers)
        body = b"" if request.method == "HEAD" else answer.body
        if not self.transport.is_closing():
            self.transport.write(head + body[:_AT_ONCE])
        return memoryview(body)[_AT_ONCE:]

    async def _give_away(self, request: PlainRequest, rest: memoryview) -> None:
        for start in range(0, len(rest), PIECE):
            await self.flow.drain()
            if self.transport.is_closing():
                break
            self.transport.write(rest[start : start + PIECE])
        await self.flow.drain()
        self._complete(request.method)

    def _go_on(self, work: Coroutine[Any, Any, None]) -> None:
        task = self.loop.create_task(work)
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def _complete(self, method: str, *, is_last: bool = False) -> None:
        """Waits for another request, unless it is better to go.

        Who posted what proves nothing is not waited for, nor who asks on without waiting
        for an answer: no device and no proxy does.
        """
        was_proven, self._is_proven = self._is_proven, False
        stranger_posted = method in ("POST", "PUT") and not was_proven
        is_last, self._answers = is_last or self._is_last, False
        if stranger_posted or is_last:
            self.end()
        elif not self.transport.is_closing():
            self._all.answered(self)
            self._begun = bytearray()
            self._read_at_once(_STRANGERS_READ)
            self._deadline.within(_HEADER_SECONDS)

    def _read_at_once(self, size: int) -> int:
        """Changes how many bytes are taken from the network at once; returns it so far."""
        before: int = self.transport.max_size  # type: ignore[attr-defined]
        self.transport.max_size = size  # type: ignore[attr-defined]
        return before


class _Ending:
    """A transport as requests see it, whose end is that of its connection."""

    def __init__(self, connection: GuardedConnection) -> None:
        self._connection = connection
        self.write = connection.transport.write
        self.is_closing = connection.transport.is_closing

    def close(self) -> None:
        self._connection.end()
