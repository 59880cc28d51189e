"""Requests that can be understood in one way only, read in one look.

Almost all requests are plain: those of browsers and devices as a proxy passes them on. Here
they are recognized by a strict form, all of it there at once. Whatever has another form,
however harmless, is for h11, which reads it or refuses it: other spaces or line ends,
folded lines, pieces, two lengths, escapes or a query in the path, other methods and
versions, or bytes behind the request.
"""

import re
from collections.abc import Awaitable, Callable, Iterable
from http import HTTPStatus
from typing import NamedTuple, Protocol

from shuffledp.service.wire.reports import HEADER_SIZE
from shuffledp.service.wire.tokens import TOKEN_SIZE

MAX_HEADER = 16 * 2**10
"""Bytes of a request before its body."""

_HEAD = re.compile(
    rb"(GET|HEAD|POST) (/[A-Za-z0-9/._~-]*+) HTTP/1\.1"
    rb"((?:\r\n[A-Za-z0-9-]++: [!-~][ -~]*+)++)\r\n\r\n"
)
# Those that say where a message ends, or what becomes of its connection.
_FRAMING = re.compile(
    rb"\r\n(connection|content-length|expect|host|http2-settings|keep-alive"
    rb"|proxy-connection|te|trailer|transfer-encoding|upgrade): ([^\r]*)"
)
_KEPT = (b"connection", b"keep-alive")
_LENGTH = re.compile(rb"0|[1-9][0-9]{0,4}")
# All that is needed to refuse an upload.
_BODY_BEGIN = HEADER_SIZE + TOKEN_SIZE
_STATED = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})", re.IGNORECASE)
_EXPECTS = re.compile(rb"\r\nexpect:", re.IGNORECASE)


class PlainRequest(NamedTuple):
    """A request with all that its answer may depend on.

    Attributes:
        method: GET, HEAD or POST.
        path: Without query, and without escapes.
        body: The whole of it; at most `MAX_HEADER` bytes with the head.
        prove: Keeps the connection until the answer: its sender was checked.
    """

    method: str
    path: str
    body: bytes
    prove: Callable[[], None]


class WholeAnswer(Protocol):
    """An answer that is in memory, its Content-Length among its headers."""

    @property
    def status_code(self) -> int:
        """Its status."""

    @property
    def raw_headers(self) -> Iterable[tuple[bytes, bytes]]:
        """Names in lower case, and values."""

    @property
    def body(self) -> bytes | memoryview:
        """Its bytes."""


PlainAnswers = Callable[[PlainRequest], WholeAnswer | Awaitable[WholeAnswer] | None]
"""Answers plain requests, at once or later; None for those that others answer."""


def read_plain(data: bytes, prove: Callable[[], None]) -> PlainRequest | None:
    """Returns the request that these bytes are; None if they are not exactly a plain one.

    Args:
        data: What came on a connection since its last answer.
        prove: As in `PlainRequest`.
    """
    if len(data) > MAX_HEADER:
        return None
    found = _HEAD.match(data)
    if found is None:
        return None
    if data.find(b" \r\n", 0, found.end()) >= 0:
        return None
    stated = _FRAMING.findall(found[3].lower())
    framing = dict(header for header in stated if header != _KEPT)
    if len(stated) != len(framing) + stated.count(_KEPT):
        return None
    length = b"0"
    if found[1] == b"POST":
        length = framing.pop(b"content-length", b"")
    if framing.keys() != {b"host"} or not _LENGTH.fullmatch(length):
        return None
    if len(data) != found.end() + int(length):
        return None
    return PlainRequest(
        found[1].decode(), found[2].decode(), data[found.end() :], prove
    )


def head_of(answer: WholeAnswer, also: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Returns the bytes of an answer before its body, as h11 writes them.

    Args:
        answer: What is said.
        also: Headers that stand before its own.
    """
    status = answer.status_code
    lines = [b"HTTP/1.1 %d %b\r\n" % (status, HTTPStatus(status).phrase.encode())]
    lines += [b"%b: %b\r\n" % header for header in (*also, *answer.raw_headers)]
    lines.append(b"\r\n")
    return b"".join(lines)


def is_to_come(begun: bytearray) -> bool:
    """Tells whether it is no request yet, or the begin of its body is not there.

    Nothing is decided here but when it is read: what comes in drops, or not at all, costs
    as little as that.
    """
    end = begun.find(b"\r\n\r\n")
    if end < 0:
        return len(begun) <= MAX_HEADER
    length = _STATED.search(begun, 0, end)
    if length is None or _EXPECTS.search(begun, 0, end):
        return False
    return len(begun) - end - 4 < min(int(length[1]), _BODY_BEGIN)
