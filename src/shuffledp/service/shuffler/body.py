"""Bodies of uploads: known by their first token, limited one by one, in all and in time.

Of a body whose first token was not issued nothing is kept. With one that was, so much is
held as one upload may have; with sixteen of them, all that is held at once.
"""

from collections import Counter
from collections.abc import Awaitable, Callable

from shuffledp.extras import require
from shuffledp.service.connections import prove
from shuffledp.service.pace import Paced
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.reports import HEADER_SIZE, MAX_BODY
from shuffledp.service.wire.tokens import TOKEN_SIZE

require("starlette", extra="service", what="A service")

from starlette.requests import ClientDisconnect, Request  # noqa: E402

BEGIN_SIZE = HEADER_SIZE + TOKEN_SIZE
"""Bytes of a body that are looked at before the rest is taken."""

MAX_COMMAND = 4096
"""Bytes of an operator's command."""

_MAX_HELD = 16 * MAX_BODY
_GRACE_SECONDS = 10.0
_SHORT_SECONDS = 5.0
_BYTES_PER_SECOND = 32 * 2**10


async def short_body(request: Request) -> bytes:
    """Returns the body of a command, of whoever sent it.

    Raises:
        Refusal: If it is longer than `MAX_COMMAND`, slow, or incomplete.
    """
    content = b""
    rate = MAX_COMMAND / _GRACE_SECONDS
    try:
        async for part in Paced(
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


class Bodies:
    """Reads bodies, and knows how many bytes are held at the moment, and for whom."""

    def __init__(self) -> None:
        self._held: Counter[bytes] = Counter()
        self._all = 0

    async def read(
        self, request: Request, admit: Callable[[bytes], Awaitable[None]]
    ) -> "Body":
        """Returns a whole body, which counts as held until it is given back.

        Args:
            request: What it comes with.
            admit: Raises Refusal unless the first `BEGIN_SIZE` bytes may begin an upload;
                gets fewer of a body that has no more.

        Raises:
            Refusal: If it is not admitted, larger than `MAX_BODY`, slow, or incomplete; or
                if too many others are held.
        """
        stated = request.headers.get("content-length", "")
        if not stated.isdecimal() or "transfer-encoding" in request.headers:
            # In pieces of a byte, a body costs a hundred times as much; and of two sizes,
            # a proxy may believe the other one.
            raise Refusal(Reason.MALFORMED, "Expected a Content-Length, and no pieces.")
        if int(stated[:20]) > MAX_BODY:
            raise _too_large()
        body = Body(self)
        parts = Paced(
            aiter(request.stream()), grace=_GRACE_SECONDS, rate=_BYTES_PER_SECOND
        )
        try:
            begin = b""
            async for part in parts:
                begin += part
                if len(begin) >= BEGIN_SIZE:
                    break
            await admit(begin[:BEGIN_SIZE])
            prove(request.scope)
            body.begin(begin)
            async for part in parts:
                body.add(part)
        except TimeoutError:
            body.give_back()
            raise Refusal(
                Reason.MALFORMED,
                f"Expected at least {_BYTES_PER_SECOND:,} bytes per second.",
            ) from None
        except ClientDisconnect:
            body.give_back()
            raise Refusal(Reason.MALFORMED, "Expected the whole body.") from None
        except BaseException:
            body.give_back()
            raise
        return body

    def hold(self, token: bytes, size: int) -> None:
        """Counts so many bytes more, or fewer, for the one whose token it is.

        Raises:
            Refusal: If that is too many.
        """
        if self._all + size > _MAX_HELD or self._held[token] + size > MAX_BODY:
            raise Refusal(Reason.STORAGE, "Expected fewer uploads at once: try later.")
        self._all += size
        self._held[token] += size
        if not self._held[token]:
            del self._held[token]


class Body:
    """What arrived so far of an upload that was admitted."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._parts: list[bytes] = []
        self._token, self._size = b"", 0

    def begin(self, part: bytes) -> None:
        """Adds what arrived first, with the token that all of it is held for."""
        self._token = part[HEADER_SIZE:BEGIN_SIZE]
        self.add(part)

    def add(self, part: bytes) -> None:
        """Adds what arrived next.

        Raises:
            Refusal: If that is too much.
        """
        if self._size + len(part) > MAX_BODY:
            raise _too_large()
        self._bodies.hold(self._token, len(part))
        self._size += len(part)
        self._parts.append(part)

    def content(self) -> bytes:
        """Returns all bytes, once."""
        content = b"".join(self._parts)
        self._parts.clear()
        return content

    def give_back(self) -> None:
        """Counts its bytes as held no longer."""
        self._bodies.hold(self._token, -self._size)
        self._size = 0
        self._parts.clear()


def _too_large() -> Refusal:
    return Refusal(Reason.TOO_LARGE, f"Expected at most {MAX_BODY:,} bytes.")
