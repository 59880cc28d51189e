"""The one path that everybody asks for: an upload, and its receipt.

What stands before all others (routes, middleware, requests and responses as objects) would
cost more here than the upload itself.
"""

import re
from collections.abc import Awaitable, Callable

from shuffledp.extras import require
from shuffledp.service.events import log_crash
from shuffledp.service.metrics import REFUSED, REQUESTS
from shuffledp.service.problems import problem_response, status_response
from shuffledp.service.wire.refusal import Refusal

require("starlette", extra="service", what="A service")

from starlette.requests import Request  # noqa: E402
from starlette.responses import Response  # noqa: E402
from starlette.types import ASGIApp, Receive, Scope, Send  # noqa: E402

_PATH = re.compile(r"/tasks/([^/]+)/reports")
_NAME = "post_reports"
_HEADERS = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]


class Uploads:
    """Middleware that answers uploads itself, and passes everything else on.

    Args:
        app: What stands behind it.
        take: Returns the receipt for an upload to the task of this identity.
    """

    def __init__(
        self, app: ASGIApp, take: Callable[[Request, str], Awaitable[bytes]]
    ) -> None:
        self._app, self._take = app, take

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        found = scope["type"] == "http" and _PATH.fullmatch(scope["path"])
        if not found:
            await self._app(scope, receive, send)
            return
        if scope["method"] == "POST":
            answer = await self._answer(Request(scope, receive), found[1])
        else:
            answer = status_response(405, {"Allow": "POST"})
        if isinstance(answer, bytes):
            REQUESTS.labels(_NAME, "2xx").inc()
            await _send_receipt(answer, send)
        else:
            REQUESTS.labels(_NAME, f"{answer.status_code // 100}xx").inc()
            await answer(scope, receive, send)

    async def _answer(self, request: Request, identity: str) -> bytes | Response:
        try:
            return await self._take(request, identity)
        except Refusal as refusal:
            REFUSED.labels(refusal.reason.value).inc()
            return problem_response(refusal)
        except Exception as error:
            log_crash(error)
            return status_response(500)


async def _send_receipt(receipt: bytes, send: Send) -> None:
    headers = [(b"content-length", b"%d" % len(receipt)), *_HEADERS]
    start = {"type": "http.response.start", "status": 200, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": receipt})
