"""Connections that nobody can hold: what does not come in time is dropped.

Until a token or a signature of it was checked, what is stored of a connection is a few KiB,
and it has seconds:

    headers and the first of a body within    `_HEADER_SECONDS`, idle time included
                      answers taken within    `_WRITE_SECONDS`
        rest of a body that is not wanted     `_LINGER_SECONDS`, `_LINGER_BYTES`
                          rest of a body      as `pace.py` says
"""

import asyncio
import re
import socket
from contextlib import suppress
from typing import Any, cast

from shuffledp.extras import require
from shuffledp.service.places import Connections
from shuffledp.service.wire.reports import HEADER_SIZE
from shuffledp.service.wire.tokens import TOKEN_SIZE

require("starlette", extra="service", what="A service")
require("uvicorn", extra="service", what="A service")

import h11  # noqa: E402
from starlette.types import ASGIApp, Message, Receive, Scope, Send  # noqa: E402
from uvicorn.config import Config  # noqa: E402
from uvicorn.protocols.http.h11_impl import H11Protocol  # noqa: E402

MAX_HEADER = 16 * 2**10
"""Bytes of a request before its body."""

ACCEPTED_AT_ONCE = 16
"""Connections that the event loop may accept in one turn."""

_HEADER_SECONDS = 10.0
_WRITE_SECONDS = 20.0
# Thousands of empty ones would fit, and take milliseconds.
_MAX_LINES = 100
_LINGER_SECONDS = 1.0
_LINGER_BYTES = 2**20
_STRANGERS_READ = 16 * 2**10
# Of an answer: what the system may keep, which is megabytes otherwise, and what is given
# to it at once.
_SEND_BUFFER = 64 * 2**10
_PIECE = 16 * 2**10
_KEY = "shuffledp.connection"
# All that is needed to refuse an upload.
_BODY_BEGIN = HEADER_SIZE + TOKEN_SIZE
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})", re.IGNORECASE)
_EXPECTS = re.compile(rb"\r\nexpect:", re.IGNORECASE)


def prove(scope: Scope) -> None:
    """Keeps the connection of a request until its answer: its sender was checked."""
    connection = scope.get("state", {}).get(_KEY)
    if connection is not None:
        connection.prove()


class InPieces:
    """Middleware that gives an answer away only as fast as it is taken."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""

        async def send_pieces(message: Message) -> None:
            body = message.get("body", b"")
            for start in range(_PIECE, len(body), _PIECE):
                piece = body[start - _PIECE : start]
                await send({**message, "body": piece, "more_body": True})
            if len(body) > _PIECE:
                message = {**message, "body": body[-((len(body) - 1) % _PIECE + 1) :]}
            await send(message)

        await self._app(scope, receive, send_pieces)


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
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._begun: bytearray | None = bytearray()
        self._is_proven = self._lingers = False
        self._unwanted = 0

    def connection_made(  # type: ignore[override]
        self, transport: asyncio.Transport
    ) -> None:
        """As uvicorn, within the limit of connections."""
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER
        )
        transport.set_write_buffer_limits(high=_PIECE)
        self._whole_size = self._read_at_once(_STRANGERS_READ)
        self._all.enter(self)
        self._within(_HEADER_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """As uvicorn; nothing is left of it."""
        self._all.leave(self)
        for timer in (self._timer, self._write_timer):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """As uvicorn; what nobody wants is not looked at."""
        if self._lingers:
            self._unwanted += len(data)
            if self._unwanted > _LINGER_BYTES:
                self.flow.pause_reading()
            return
        if self._begun is not None:
            self._begun += data
            if _is_to_come(self._begun):
                return
            data, self._begun = bytes(self._begun), None
            if data.count(b"\n", 0, data.find(b"\r\n\r\n")) > _MAX_LINES:
                self.drop()
                return
        try:
            super().data_received(data)
        except h11.LocalProtocolError:
            # Nonsense behind a request whose answer has begun: there is no other answer.
            self.drop()
        if self.transport.is_closing():
            self._within(_WRITE_SECONDS)

    def handle_events(self) -> None:
        """As uvicorn; once headers are whole, the service itself decides how to go on."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            # It would be closed at once, where its sender asks for that.
            self.cycle.transport = cast(asyncio.Transport, _Ending(self))
            if self._timer is not None:
                self._timer.cancel()

    def on_response_complete(self) -> None:
        """As uvicorn, unless it is better to go.

        Who posted what proves nothing is not waited for, nor who asks on without waiting
        for an answer: no device and no proxy does.
        """
        was_proven, self._is_proven = self._is_proven, False
        stranger_posted = self.scope["method"] in ("POST", "PUT") and not was_proven
        asks_on = self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]
        if stranger_posted or asks_on:
            self.end()
        elif not self.transport.is_closing():
            self._all.answered(self)
            self._begun = bytearray()
            self._read_at_once(_STRANGERS_READ)
            self._within(_HEADER_SECONDS)
        super().on_response_complete()

    def shutdown(self) -> None:
        """As uvicorn, whatever state the connection is in."""
        if self.cycle is None or self.cycle.response_complete:
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
            self._within(_LINGER_SECONDS)
        else:
            self.transport.close()
            self._within(_WRITE_SECONDS)

    def _within(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(seconds, self.drop)

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


def _is_to_come(begun: bytearray) -> bool:
    """Tells whether it is no request yet, or the begin of its body is not there.

    Nothing is decided here but when it is read: what comes in drops, or not at all, costs
    as little as that.
    """
    end = begun.find(b"\r\n\r\n")
    if end < 0:
        return len(begun) <= MAX_HEADER
    length = _LENGTH.search(begun, 0, end)
    if length is None or _EXPECTS.search(begun, 0, end):
        return False
    return len(begun) - end - 4 < min(int(length[1]), _BODY_BEGIN)
