"""Fast routes for the requests of every participant: the page, the task, an upload.

Routing, middleware, and request and response objects would cost more here than the answer
itself. So a connection passes plain requests to these routes directly; behind h11, a
middleware gives other requests to the same paths the same answers.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from prometheus_client import Counter
from starlette.datastructures import URL
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from shuffledp_services.http.plain_requests import CompleteResponse, PlainRequest
from shuffledp_services.http.problems import problem_response, status_response
from shuffledp_services.monitoring.event_log import log_crash
from shuffledp_services.monitoring.metrics import REFUSED, REQUESTS
from shuffledp_services.wire.refusal import Refusal

_PATH = re.compile(
    r"/tasks/(?P<task>[^/]+)(?P<suffix>|/reports|/take-part)|/take-part/(?P<file>[^/]+)"
)
_REPORTS = "/reports"
_JSON_HEADERS = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)
# A larger body is written in pieces, as fast as the client reads.
_MAX_AT_ONCE = 128 * 2**10


@dataclass(frozen=True, slots=True)
class OkResponse:
    """Complete response with status 200.

    Attributes:
        raw_headers: Names in lower case, and values.
        body: Its bytes.
    """

    raw_headers: Iterable[tuple[bytes, bytes]]
    body: bytes

    @property
    def status_code(self) -> int:
        """Always 200."""
        return 200

    @classmethod
    def json(cls, document: bytes) -> "OkResponse":
        """Returns a JSON response that no cache may store."""
        length = (b"content-length", b"%d" % len(document))
        return cls((length, *_JSON_HEADERS), document)

    @classmethod
    def file(
        cls, content: bytes, *, media_type: str, headers: Mapping[str, str]
    ) -> "OkResponse":
        """Returns a response with a file, which can be made once and sent repeatedly."""
        # Starlette computes the headers once.
        made = Response(content, media_type=media_type, headers=headers)
        return cls(made.raw_headers, content)


UploadRequest: TypeAlias = Request | PlainRequest
"""A request whose body is still arriving, or a plain one that is complete."""


@dataclass(frozen=True)
class FrequentPath:
    """Handler of one path.

    Attributes:
        name: Label of its requests in the metrics.
        methods: Its HTTP methods.
        answer: Takes a request and the task or file that its path names; returns the
            response, or an awaitable if it has to wait.
    """

    name: str
    methods: tuple[str, ...]
    answer: Callable[[UploadRequest, str], OkResponse | Awaitable[OkResponse]]


class FrequentPaths:
    """Routing table of the frequent paths.

    Args:
        task: Answers /tasks/ID.
        upload: Answers /tasks/ID/reports.
        page: Answers /tasks/ID/take-part.
        page_file: Answers /take-part/NAME.
    """

    def __init__(
        self,
        *,
        task: Callable[[str], OkResponse | Awaitable[OkResponse]],
        upload: Callable[[UploadRequest, str], Awaitable[OkResponse]],
        page: Callable[[str], OkResponse],
        page_file: Callable[[str], OkResponse],
    ) -> None:
        read = ("GET", "HEAD")
        self._paths = {
            "": FrequentPath("get_task", read, lambda _, named: task(named)),
            _REPORTS: FrequentPath("post_reports", ("POST",), upload),
            "/take-part": FrequentPath("get_page", read, lambda _, named: page(named)),
            # The pattern has no suffix in paths of files.
            None: FrequentPath(
                "get_page_file", read, lambda _, named: page_file(named)
            ),
        }

    def find(self, path: str) -> tuple[FrequentPath, str] | None:
        """Returns the handler of a path, and the task or file that the path names."""
        match = _PATH.fullmatch(path)
        if match is None:
            return None
        return self._paths[match["suffix"]], match["task"] or match["file"]

    def answer_plain(
        self, request: PlainRequest
    ) -> CompleteResponse | Awaitable[CompleteResponse] | None:
        """Answers a plain request; returns None if it needs the full application."""
        match = self.find(request.path)
        if match is None or request.method not in match[0].methods:
            return None
        path, named = match
        try:
            answer = path.answer(request, named)
        except Exception:
            # Nothing was changed yet. The application raises the same error, and turns it
            # into a response.
            return None
        # Answers from memory need no task of the event loop.
        if isinstance(answer, OkResponse):
            _response_counter(path.name, 2).inc()
            return answer
        return _respond(path, answer)


class FrequentPathMiddleware:
    """Middleware that answers the frequent paths, and passes other requests on."""

    def __init__(self, app: ASGIApp, paths: FrequentPaths) -> None:
        self._app, self._paths = app, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        match = self._paths.find(scope["path"])
        if match is None:
            await self._pass_on(scope, receive, send)
            return
        path, named = match
        if scope["method"] in path.methods:
            answer = await _respond(
                path, _await_answer(path, Request(scope, receive), named)
            )
        else:
            answer = status_response(405, {"Allow": ", ".join(path.methods)})
            _response_counter(path.name, 4).inc()
        status, headers = answer.status_code, answer.raw_headers
        start = "http.response.start"
        await send({"type": start, "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on; redirects a frequent path with a trailing slash."""
        # As Starlette redirects its own routes.
        without = {**scope, "path": scope["path"].rstrip("/")}
        match = self._paths.find(without["path"])
        if match is None or "GET" not in match[0].methods:
            await self._app(scope, receive, send)
            return
        _response_counter(match[0].name, 3).inc()
        await RedirectResponse(str(URL(scope=without)))(scope, receive, send)


async def _await_answer(
    path: FrequentPath, request: UploadRequest, named: str
) -> OkResponse:
    answer = path.answer(request, named)
    return answer if isinstance(answer, OkResponse) else await answer


async def _respond(
    path: FrequentPath, answer: Awaitable[OkResponse]
) -> CompleteResponse:
    """Returns the response; a problem document in place of an error."""
    response: CompleteResponse
    try:
        response = await answer
    except Refusal as refusal:
        REFUSED.labels(refusal.reason.value).inc()
        response = problem_response(refusal)
    except Exception as error:
        log_crash(error)
        response = status_response(500)
    _response_counter(path.name, response.status_code // 100).inc()
    return response


@cache
def _response_counter(name: str, hundreds: int) -> Counter:
    return REQUESTS.labels(name, f"{hundreds}xx")
