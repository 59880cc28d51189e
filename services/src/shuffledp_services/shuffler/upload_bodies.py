"""Upload bodies: admitted by their first token, and limited in size, memory and time.

A body whose first token was not issued is dropped; `http.body_memory` limits the others.
"""

from collections.abc import Awaitable, Callable

from starlette.requests import ClientDisconnect, Request

from shuffledp_services.http.body_memory import Body, BodyMemory
from shuffledp_services.http.body_timeout import TimedBody
from shuffledp_services.http.guarded_connection import mark_authenticated
from shuffledp_services.http.plain_requests import PlainRequest
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.tokens import TOKEN_SIZE
from shuffledp_services.wire.upload_format import HEADER_SIZE, MAX_BODY

ADMISSION_SIZE = HEADER_SIZE + TOKEN_SIZE
"""Bytes of a body that are checked before the remaining ones are received."""

MAX_COMMAND = 4096
"""Bytes of an operator's command."""

# Memory of all large bodies together.
_MAX_LARGE = 16 * MAX_BODY
# Seconds before the minimum rates apply: to uploads, and to commands.
_GRACE_SECONDS = 10.0
_SHORT_SECONDS = 5.0
_BYTES_PER_SECOND = 32 * 2**10


async def read_command_body(request: Request) -> bytes:
    """Returns the body of a command, whose sender is not yet authenticated.

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
            # Checked while it arrives: the declared length is not trusted.
            if len(content) > MAX_COMMAND:
                raise Refusal(
                    Reason.TOO_LARGE, f"Expected a command of {MAX_COMMAND} bytes."
                )
    except (TimeoutError, ClientDisconnect):
        raise Refusal(Reason.MALFORMED, "Expected the whole command.") from None
    return content


class UploadBodies:
    """Receives upload bodies within a shared memory limit."""

    def __init__(self) -> None:
        self._memory = BodyMemory(_MAX_LARGE)

    async def read(
        self,
        request: Request | PlainRequest,
        admit: Callable[[bytes], Awaitable[None]],
    ) -> Body:
        """Returns a whole body, which occupies memory until it is released.

        Args:
            request: The request, with its body received or not.
            admit: Raises Refusal unless the first `ADMISSION_SIZE` bytes may start an
                upload; gets fewer of a shorter body.

        Raises:
            Refusal: If the body is not admitted, larger than `MAX_BODY`, slow or
                incomplete, or was dropped for a newer one.
        """
        if isinstance(request, PlainRequest):
            return await self._take(request, admit)
        return await self._receive(request, admit)

    async def _take(
        self, request: PlainRequest, admit: Callable[[bytes], Awaitable[None]]
    ) -> Body:
        """Takes a small body that was received with its request, without waiting."""
        await admit(request.body[:ADMISSION_SIZE])
        request.mark_authenticated()
        body, token = Body(self._memory), request.body[HEADER_SIZE:ADMISSION_SIZE]
        body.claim(token)
        body.add(request.body)
        self._memory.release_token(token, body)
        return body

    async def _receive(
        self, request: Request, admit: Callable[[bytes], Awaitable[None]]
    ) -> Body:
        length = request.headers.get("content-length", "")
        if not length.isdecimal() or "transfer-encoding" in request.headers:
            # A body in chunks of one byte costs a hundred times as much; and with two
            # lengths, a proxy may believe the other one (request smuggling).
            raise Refusal(Reason.MALFORMED, "Expected a Content-Length, and no pieces.")
        if int(length[:20]) > MAX_BODY:
            raise _too_large()
        body = Body(self._memory)
        parts = TimedBody(
            aiter(request.stream()), grace=_GRACE_SECONDS, rate=_BYTES_PER_SECOND
        )
        try:
            async with body.arrival():
                prefix = b""
                async for part in parts:
                    prefix += part
                    if len(prefix) >= ADMISSION_SIZE:
                        break
                await admit(prefix[:ADMISSION_SIZE])
                mark_authenticated(request.scope)
                body.claim(prefix[HEADER_SIZE:ADMISSION_SIZE])
                body.add(prefix)
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
