"""Parser of plain requests: complete, unambiguous, and matched by one regular expression.

Almost all requests are plain: those of browsers and devices as a proxy passes them on.
They have a strict form, and arrive as a whole. h11 reads or refuses all others, however
harmless: other spaces or line ends, folded lines, chunks, two lengths, escapes or a query
in the path, other methods and versions, or bytes behind the request.
"""

import re
from collections.abc import Awaitable, Callable, Iterable
from http import HTTPStatus
from typing import NamedTuple, Protocol

from shuffledp_services.wire.tokens import TOKEN_SIZE
from shuffledp_services.wire.upload_format import HEADER_SIZE

MAX_HEADER = 16 * 2**10
"""Largest head of a request, in bytes."""

_HEAD = re.compile(
    rb"(GET|HEAD|POST) (/[A-Za-z0-9/._~-]*+) HTTP/1\.1"
    rb"((?:\r\n[A-Za-z0-9-]++: [!-~][ -~]*+)++)\r\n\r\n"
)
# Headers that determine where a message ends, or whether its connection stays open.
_FRAMING = re.compile(
    rb"\r\n(connection|content-length|expect|host|http2-settings|keep-alive"
    rb"|proxy-connection|te|trailer|transfer-encoding|upgrade): ([^\r]*)"
)
_KEPT = (b"connection", b"keep-alive")
_LENGTH = re.compile(rb"0|[1-9][0-9]{0,4}")
# Bytes of a body that suffice to refuse an upload: its header and its token.
_BODY_BEGIN = HEADER_SIZE + TOKEN_SIZE
_STATED = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})", re.IGNORECASE)
_EXPECTS = re.compile(rb"\r\nexpect:", re.IGNORECASE)


class PlainRequest(NamedTuple):
    """Request with everything that its answer may depend on.

    Attributes:
        method: GET, HEAD or POST.
        path: Without query, and without escapes.
        body: The whole body; at most `MAX_HEADER` bytes together with the head.
        mark_authenticated: Protects the connection from being dropped until the answer,
            once the sender was checked.
    """

    method: str
    path: str
    body: bytes
    mark_authenticated: Callable[[], None]


class CompleteResponse(Protocol):
    """Response in memory, with a Content-Length among its headers."""

    @property
    def status_code(self) -> int:
        """HTTP status code."""

    @property
    def raw_headers(self) -> Iterable[tuple[bytes, bytes]]:
        """Pairs of a name in lower case and a value."""

    @property
    def body(self) -> bytes | memoryview:
        """Body of the response."""


PlainResponder = Callable[
    [PlainRequest], CompleteResponse | Awaitable[CompleteResponse] | None
]
"""Answers a plain request, at once or later; None if the application must answer it."""


def parse_plain_request(
    data: bytes, mark_authenticated: Callable[[], None]
) -> PlainRequest | None:
    """Parses a plain request; returns None if the bytes are anything else.

    Args:
        data: Bytes received on a connection since its last answer.
        mark_authenticated: As in `PlainRequest`.
    """
    if len(data) > MAX_HEADER:
        return None
    match = _HEAD.match(data)
    if match is None:
        return None
    # Trailing spaces of a header's value, which h11 strips.
    if data.find(b" \r\n", 0, match.end()) >= 0:
        return None
    headers = _FRAMING.findall(match[3].lower())
    # Keep-alive is the default of HTTP/1.1, and changes nothing.
    framing = dict(header for header in headers if header != _KEPT)
    # A header that occurs twice could be read in two ways: request smuggling.
    if len(headers) != len(framing) + headers.count(_KEPT):
        return None
    length = b"0"
    if match[1] == b"POST":
        length = framing.pop(b"content-length", b"")
    # Any other of these headers needs the full parser.
    if framing.keys() != {b"host"} or not _LENGTH.fullmatch(length):
        return None
    # An incomplete body, or a second request in the same bytes (pipelining).
    if len(data) != match.end() + int(length):
        return None
    return PlainRequest(
        match[1].decode(), match[2].decode(), data[match.end() :], mark_authenticated
    )


def response_head(
    answer: CompleteResponse, default_headers: Iterable[tuple[bytes, bytes]]
) -> bytes:
    """Returns the bytes of a response before its body, as h11 writes them.

    Args:
        answer: Response.
        default_headers: Headers that precede those of the response.
    """
    status = answer.status_code
    lines = [b"HTTP/1.1 %d %b\r\n" % (status, HTTPStatus(status).phrase.encode())]
    lines += [
        b"%b: %b\r\n" % header for header in (*default_headers, *answer.raw_headers)
    ]
    lines.append(b"\r\n")
    return b"".join(lines)


def is_incomplete(begun: bytearray) -> bool:
    """Returns whether the head of a request, or the begin of its body, is missing.

    The result only decides when the bytes are parsed: a request that arrives byte by byte
    costs no more than this search.
    """
    end = begun.find(b"\r\n\r\n")
    if end < 0:
        return len(begun) <= MAX_HEADER
    length = _STATED.search(begun, 0, end)
    if length is None or _EXPECTS.search(begun, 0, end):
        return False
    return len(begun) - end - 4 < min(int(length[1]), _BODY_BEGIN)
