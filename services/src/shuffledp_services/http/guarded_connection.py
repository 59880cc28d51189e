"""HTTP connections with limits of time and size, which no client can occupy for long.

Until a token or a signature on it was checked, a connection uses a few KiB of memory, and
has seconds:

    headers and the begin of a body within    `_HEADER_SECONDS`, idle time included
                       answers read within    `_WRITE_SECONDS`
           remaining bytes of an unwanted     `_LINGER_SECONDS`, `_LINGER_BYTES`
                                     body
                   remaining body otherwise    as in `body_timeout.py`
"""

import asyncio
import socket
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from typing import Any, cast

import h11
from starlette.types import Scope
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from shuffledp_services.http.connection_limits import ConnectionLimits
from shuffledp_services.http.deadline import Deadline
from shuffledp_services.http.paced_answers import CHUNK_BYTES, PacedAnswers
from shuffledp_services.http.plain_requests import (
    CompleteResponse,
    PlainRequest,
    is_incomplete,
    parse_plain_request,
    response_head,
)

ACCEPTED_AT_ONCE = 16
"""Largest number of connections that the event loop accepts in one turn."""

_HEADER_SECONDS = 10.0
_WRITE_SECONDS = 20.0
# Thousands of empty header lines would fit, and take milliseconds to parse.
_MAX_LINES = 100
_LINGER_SECONDS = 1.0
_LINGER_BYTES = 2**20
_STRANGER_READ_BYTES = 16 * 2**10
# Bytes of an answer that the system buffers; its default is megabytes.
_SEND_BUFFER = 64 * 2**10
# Bytes of an answer written at once: a page, or a file that it loads, fits in.
_FIRST_WRITE = 128 * 2**10
_KEY = "shuffledp.connection"


def mark_authenticated(scope: Scope) -> None:
    """Protects a request's connection until its answer: the sender was checked."""
    connection = scope.get("state", {}).get(_KEY)
    if connection is not None:
        connection.mark_authenticated()


class GuardedConnection(H11Protocol):
    """Connection of uvicorn with limits of time and size."""

    def __init__(
        self,
        config: Config,
        server_state: ConnectionLimits,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.config, self.server_state, self.app_state = config, server_state, app_state
        self.loop = _loop or asyncio.get_running_loop()
        self._limits, self._has_parser = server_state, False
        self._answer_plain = cast(PacedAnswers, config.app).answer_plain
        self._deadline = Deadline(self.loop, self.drop)
        # Whether a plain request is being answered, and whether it is the last one.
        self._answers = self._is_last = False
        self._write_timer: asyncio.TimerHandle | None = None
        self._received: bytearray | None = bytearray()
        self._is_authenticated = self._lingers = False
        self._unwanted = 0

    def connection_made(  # type: ignore[override]
        self, transport: asyncio.Transport
    ) -> None:
        """Registers the connection with the limits, and with uvicorn's server."""
        self.server_state.connections.add(self)
        self.transport, self.flow = transport, FlowControl(transport)
        connected = transport.get_extra_info("socket")
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        # An answer is written in two parts, and the second would wait 40 ms for the first
        # one to be acknowledged: asyncio sees no TCP in a socket made without a protocol.
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        transport.set_write_buffer_limits(high=CHUNK_BYTES)
        self._whole_size = self._read_at_once(_STRANGER_READ_BYTES)
        self._limits.register(self)
        self._deadline.set(_HEADER_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Removes the connection and its timers."""
        self._limits.unregister(self)
        self._deadline.cancel()
        if self._write_timer is not None:
            self._write_timer.cancel()
        if self._has_parser:
            super().connection_lost(exc)
            return
        self.server_state.connections.discard(self)
        # An answer that waits to be written ends.
        self.flow.resume_writing()
        if exc is None:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Answers plain requests itself, discards unwanted bytes; h11 reads the others."""
        if self._lingers:
            self._unwanted += len(data)
            if self._unwanted > _LINGER_BYTES:
                self.flow.pause_reading()
            return
        if self._answers:
            self._is_last = True
            self.flow.pause_reading()
            return
        if self._received is not None:
            self._received += data
            if is_incomplete(self._received):
                return
            data, self._received = bytes(self._received), None
            if data.count(b"\n", 0, data.find(b"\r\n\r\n")) > _MAX_LINES:
                self.drop()
                return
            if not self.flow.write_paused and self._answer_if_plain(data):
                return
        self._make_parser()
        try:
            super().data_received(data)
        except h11.LocalProtocolError:
            # Invalid bytes behind a request whose answer has begun: no other can be sent.
            self.drop()
        if self.transport.is_closing():
            self._deadline.set(_WRITE_SECONDS)

    def handle_events(self) -> None:
        """Clears the deadline of the headers once the application has the request."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            # uvicorn would close it at once if the sender asked for that.
            self.cycle.transport = cast(asyncio.Transport, _RequestTransport(self))
            self._deadline.clear()

    def on_response_complete(self) -> None:
        """Waits for the next request, or ends the connection."""
        asks_on = self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]
        self._complete(self.scope["method"], is_last=bool(asks_on))
        super().on_response_complete()
        # uvicorn's own timeout of idle connections is shorter than the documented one.
        self._unset_keepalive_if_required()

    def shutdown(self) -> None:
        """Closes the connection after the current answer, in any of its states."""
        if self._answers:
            self._is_last = True
        elif not self._has_parser or not self.cycle or self.cycle.response_complete:
            self.transport.close()
        else:
            self.cycle.keep_alive = False

    def pause_writing(self) -> None:
        """Starts the time limit for a client that does not read its answer."""
        super().pause_writing()
        self._limits.mark_unread(self)
        self._write_timer = self.loop.call_later(_WRITE_SECONDS, self.drop)

    def resume_writing(self) -> None:
        """Stops the time limit of an unread answer."""
        if self._write_timer is not None:
            self._write_timer.cancel()
        self._limits.mark_read(self)
        super().resume_writing()

    def mark_authenticated(self) -> None:
        """Protects the connection until its answer, and reads larger parts."""
        self._is_authenticated = True
        self._limits.mark_authenticated(self)
        self._read_at_once(self._whole_size)

    def drop(self) -> None:
        """Aborts the connection at once."""
        self._limits.unregister(self)
        self.transport.abort()

    def end(self) -> None:
        """Closes the connection once its answer has been delivered, or in vain."""
        if self.transport.is_closing() or self._lingers:
            return
        if self._has_parser and self.conn.their_state is h11.SEND_BODY:
            # Closing a socket with unread bytes resets it, and the answer could be lost:
            # the write end is closed, and remaining bytes are discarded for a moment.
            self._lingers = True
            with suppress(OSError):
                self.transport.write_eof()
            self._deadline.set(_LINGER_SECONDS)
        else:
            self.transport.close()
            self._deadline.set(_WRITE_SECONDS)

    def _make_parser(self) -> None:
        """Makes uvicorn's part, which reads requests that are not plain."""
        # Not for every connection: it takes a tenth of what a single upload costs.
        if self._has_parser:
            return
        self._has_parser, transport, flow = True, self.transport, self.flow
        state = {**self.app_state, _KEY: self}
        super().__init__(self.config, self.server_state, state, self.loop)
        super().connection_made(transport)
        # What was paused before is paused still.
        self.flow = flow

    def _answer_if_plain(self, data: bytes) -> bool:
        """Answers a plain request without h11; returns False for any other request."""
        request = parse_plain_request(data, self.mark_authenticated)
        answer = request and self._answer_plain(request)
        if request is None or answer is None:
            return False
        self._answers = True
        self._deadline.clear()
        if isinstance(answer, Awaitable):
            self._start(self._answer_later(request, answer))
            return True
        remaining = self._begin_answer(request, answer)
        if remaining or self.flow.write_paused:
            self._start(self._write_body(request, remaining))
        else:
            self._complete(request.method)
        return True

    async def _answer_later(
        self, request: PlainRequest, answer: Awaitable[CompleteResponse]
    ) -> None:
        remaining = self._begin_answer(request, await answer)
        await self._write_body(request, remaining)

    def _begin_answer(
        self, request: PlainRequest, answer: CompleteResponse
    ) -> memoryview:
        """Writes the first part of an answer; returns the remaining bytes."""
        head = response_head(answer, self.server_state.default_headers)
        body = b"" if request.method == "HEAD" else answer.body
        if not self.transport.is_closing():
            self.transport.write(head + body[:_FIRST_WRITE])
        return memoryview(body)[_FIRST_WRITE:]

    async def _write_body(self, request: PlainRequest, remaining: memoryview) -> None:
        for start in range(0, len(remaining), CHUNK_BYTES):
            await self.flow.drain()
            if self.transport.is_closing():
                break
            self.transport.write(remaining[start : start + CHUNK_BYTES])
        await self.flow.drain()
        self._complete(request.method)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self.loop.create_task(work)
        task.add_done_callback(self.server_state.tasks.discard)
        self.server_state.tasks.add(task)

    def _complete(self, method: str, *, is_last: bool = False) -> None:
        """Waits for another request, or ends the connection."""
        was_authenticated, self._is_authenticated = self._is_authenticated, False
        stranger_posted = method in ("POST", "PUT") and not was_authenticated
        is_last, self._answers = is_last or self._is_last, False
        # The last one: a POST that was not authenticated, or a client that sent more
        # without waiting for its answer, as no device and no proxy does.
        if stranger_posted or is_last:
            self.end()
        elif not self.transport.is_closing():
            self._limits.mark_answered(self)
            self._received = bytearray()
            self._read_at_once(_STRANGER_READ_BYTES)
            self._deadline.set(_HEADER_SECONDS)

    def _read_at_once(self, size: int) -> int:
        """Sets the largest number of bytes per read; returns the former one."""
        before: int = self.transport.max_size  # type: ignore[attr-defined]
        self.transport.max_size = size  # type: ignore[attr-defined]
        return before


class _RequestTransport:
    """Transport handed to requests; closing it ends the connection in good order."""

    def __init__(self, connection: GuardedConnection) -> None:
        self._connection = connection
        self.write = connection.transport.write
        self.is_closing = connection.transport.is_closing

    def close(self) -> None:
        self._connection.end()
