"""Bodies of uploads: limited one by one, all together, and in time."""

import asyncio

from shuffledp.extras import require
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.reports import MAX_BODY

require("starlette", extra="service", what="A service")

from starlette.requests import ClientDisconnect, Request  # noqa: E402

_MAX_HELD = 16 * MAX_BODY
_SECONDS = 60.0


class Bodies:
    """Reads bodies, and knows how many bytes are held at the moment."""

    def __init__(self) -> None:
        self._held = 0

    async def read(self, request: Request) -> "Body":
        """Returns a whole body, which counts as held until it is given back.

        Raises:
            Refusal: If it is larger than `MAX_BODY`, slow, or incomplete; or if too many
                others are held.
        """
        stated = request.headers.get("content-length", "")
        if stated.isdecimal() and int(stated[:20]) > MAX_BODY:
            raise _too_large()
        body = Body(self)
        try:
            async with asyncio.timeout(_SECONDS):
                async for part in request.stream():
                    body.add(part)
        except TimeoutError:
            body.give_back()
            raise Refusal(
                Reason.MALFORMED,
                f"Expected the whole body within {_SECONDS:g} seconds.",
            ) from None
        except ClientDisconnect:
            body.give_back()
            raise Refusal(Reason.MALFORMED, "Expected the whole body.") from None
        except BaseException:
            body.give_back()
            raise
        return body

    def hold(self, size: int) -> None:
        """Counts so many bytes more, or fewer.

        Raises:
            Refusal: If that is too many.
        """
        if self._held + size > _MAX_HELD:
            raise Refusal(Reason.STORAGE, "Expected fewer uploads at once: try later.")
        self._held += size


class Body:
    """What arrived so far."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> None:
        """Adds what arrived next.

        Raises:
            Refusal: If that is too much.
        """
        if self._size + len(part) > MAX_BODY:
            raise _too_large()
        self._bodies.hold(len(part))
        self._size += len(part)
        self._parts.append(part)

    def content(self) -> bytes:
        """Returns all bytes, once."""
        content = b"".join(self._parts)
        self._parts.clear()
        return content

    def give_back(self) -> None:
        """Counts its bytes as held no longer."""
        self._bodies.hold(-self._size)
        self._size = 0
        self._parts.clear()


def _too_large() -> Refusal:
    return Refusal(Reason.TOO_LARGE, f"Expected at most {MAX_BODY:,} bytes.")
