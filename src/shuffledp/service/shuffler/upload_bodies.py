"""Bodies of uploads: known by their first token, limited one by one, in all and in time.

Of a body whose first token was not issued nothing is kept. `body_room` says what the others
may hold.
"""

from collections.abc import Awaitable, Callable

from shuffledp.extras import require
from shuffledp.service.http.body_memory import Body, BodyMemory
from shuffledp.service.http.body_timeout import TimedBody
from shuffledp.service.http.guarded_connection import mark_authenticated
from shuffledp.service.http.plain_requests import PlainRequest
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.reports import HEADER_SIZE, MAX_BODY
from shuffledp.service.wire.tokens import TOKEN_SIZE

require("starlette", extra="service", what="A service")

from starlette.requests import ClientDisconnect, Request  # noqa: E402

BEGIN_SIZE = HEADER_SIZE + TOKEN_SIZE
"""Bytes of a body that are looked at before the rest is taken."""

MAX_COMMAND = 4096
"""Bytes of an operator's command."""

_MAX_LARGE = 16 * MAX_BODY
_GRACE_SECONDS = 10.0
_SHORT_SECONDS = 5.0
_BYTES_PER_SECOND = 32 * 2**10


async def read_command_body(request: Request) -> bytes:
    """Returns the body of a command, of whoever sent it.

    Raises:
        Refusal: If it is longer than `MAX_COMMAND`, slow, or incomplete.
    """
    content = b""
    rate = MAX_COMMAND / _GRACE_SECONDS
    try:
        async for part in TimedBody(
            aiter(request.stream()), grace=_SHORT_SECONDS, rate=rate
        ):
            content += part
            if len(content) > MAX_COMMAND:
                raise Refusal(
                    Reason.TOO_LARGE, f"Expected a command of {MAX_COMMAND} bytes."
                )
    except (TimeoutError, ClientDisconnect):
        raise Refusal(Reason.MALFORMED, "Expected the whole command.") from None
    return content


class UploadBodies:
    """Reads bodies of uploads, and knows how much memory they have at the moment."""

    def __init__(self) -> None:
        self._room = BodyMemory(_MAX_LARGE)

    async def read(
        self,
        sent: Request | PlainRequest,
        admit: Callable[[bytes], Awaitable[None]],
    ) -> Body:
        """Returns a whole body, which counts as held until it is released.

        Args:
            sent: What it comes with, or has come with.
            admit: Raises Refusal unless the first `BEGIN_SIZE` bytes may begin an upload;
                gets fewer of a body that has no more.

        Raises:
            Refusal: If it is not admitted, larger than `MAX_BODY`, slow, or incomplete; or
                if it was dropped for a newer one.
        """
        if isinstance(sent, PlainRequest):
            return await self._take(sent, admit)
        return await self._receive(sent, admit)

    async def _take(
        self, sent: PlainRequest, admit: Callable[[bytes], Awaitable[None]]
    ) -> Body:
        """Takes a body that is there, and so small that it waits for no room."""
        await admit(sent.body[:BEGIN_SIZE])
        sent.mark_authenticated()
        body, token = Body(self._room), sent.body[HEADER_SIZE:BEGIN_SIZE]
        body.claim(token)
        body.add(sent.body)
        self._room.release_token(token, body)
        return body

    async def _receive(
        self, request: Request, admit: Callable[[bytes], Awaitable[None]]
    ) -> Body:
        stated = request.headers.get("content-length", "")
        if not stated.isdecimal() or "transfer-encoding" in request.headers:
            # In pieces of a byte, a body costs a hundred times as much; and of two sizes,
            # a proxy may believe the other one.
            raise Refusal(Reason.MALFORMED, "Expected a Content-Length, and no pieces.")
        if int(stated[:20]) > MAX_BODY:
            raise _too_large()
        body = Body(self._room)
        parts = TimedBody(
            aiter(request.stream()), grace=_GRACE_SECONDS, rate=_BYTES_PER_SECOND
        )
        try:
            async with body.arrival():
                begin = b""
                async for part in parts:
                    begin += part
                    if len(begin) >= BEGIN_SIZE:
                        break
                await admit(begin[:BEGIN_SIZE])
                mark_authenticated(request.scope)
                body.claim(begin[HEADER_SIZE:BEGIN_SIZE])
                body.add(begin)
                async for part in parts:
                    if body.size + len(part) > MAX_BODY:
                        raise _too_large()
                    body.add(part)
        except TimeoutError:
            raise Refusal(
                Reason.MALFORMED,
                f"Expected at least {_BYTES_PER_SECOND:,} bytes per second.",
            ) from None
        except ClientDisconnect:
            raise Refusal(Reason.MALFORMED, "Expected the whole body.") from None
        return body


def _too_large() -> Refusal:
    return Refusal(Reason.TOO_LARGE, f"Expected at most {MAX_BODY:,} bytes.")
