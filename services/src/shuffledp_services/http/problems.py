"""Refusals, unknown paths and crashes as problem documents (RFC 9457)."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shuffledp_services.monitoring.event_log import log_crash
from shuffledp_services.monitoring.metrics import REFUSED
from shuffledp_services.wire.refusal import Reason, Refusal

MEDIA_TYPE = "application/problem+json"


def problem_response(refusal: Refusal) -> JSONResponse:
    """Returns a refusal as a problem document, with its status code."""
    problem = refusal.problem
    return JSONResponse(
        problem.to_dict(), status_code=problem.status, media_type=MEDIA_TYPE
    )


def status_response(
    status: int, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Returns a problem document that contains only a status code."""
    title = HTTPStatus(status).phrase
    return JSONResponse(
        {"type": "about:blank", "title": title, "status": status},
        status_code=status,
        headers=headers,
        media_type=MEDIA_TYPE,
    )


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    REFUSED.labels(error.reason.value).inc()
    return problem_response(error)


async def _http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    # Without the path: no part of a request is echoed.
    if error.status_code == HTTPStatus.NOT_FOUND:
        return problem_response(Refusal(Reason.NOT_FOUND, "Expected a known path."))
    return status_response(error.status_code, error.headers)


handlers: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
    Refusal: _refused,
    HTTPException: _http,
}


class HideCrashes:
    """Middleware that answers 500 to a crash, and logs only its type and location."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            log_crash(error)
            # An answer that has begun cannot become another one. No internals are
            # shown: the text of a database error could contain a token.
            if not begun:
                await status_response(500)(scope, receive, send)
