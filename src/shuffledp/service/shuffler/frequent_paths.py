"""The paths that every participant asks for: the page, the task, an upload.

What stands before all others (routes, middleware, requests and responses as objects) would
cost more here than the answer itself. So a connection asks here first, with requests that
are plain; the same paths are answered alike behind h11, where a request is not.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from shuffledp.extras import require
from shuffledp.service.http.plain_requests import CompleteResponse, PlainRequest
from shuffledp.service.http.problems import problem_response, status_response
from shuffledp.service.monitoring.events import log_crash
from shuffledp.service.monitoring.metrics import REFUSED, REQUESTS
from shuffledp.service.wire.refusal import Refusal

require("starlette", extra="service", what="A service")

from prometheus_client import Counter  # noqa: E402
from starlette.datastructures import URL  # noqa: E402
from starlette.requests import Request  # noqa: E402
from starlette.responses import RedirectResponse, Response  # noqa: E402
from starlette.types import ASGIApp, Receive, Scope, Send  # noqa: E402

_PATH = re.compile(
    r"/tasks/(?P<task>[^/]+)(?P<what>|/reports|/take-part)|/take-part/(?P<file>[^/]+)"
)
_REPORTS = "/reports"
_JSON_HEADERS = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)
# A larger answer is given away in pieces, as fast as it is taken.
_MAX_AT_ONCE = 128 * 2**10


@dataclass(frozen=True, slots=True)
class OkResponse:
    """A whole answer with status 200.

    Attributes:
        raw_headers: Names in lower case, and values.
        body: Its bytes.
    """

    raw_headers: Iterable[tuple[bytes, bytes]]
    body: bytes

    @property
    def status_code(self) -> int:
        """200."""
        return 200

    @classmethod
    def json(cls, document: bytes) -> "OkResponse":
        """Returns a document that no cache keeps."""
        length = (b"content-length", b"%d" % len(document))
        return cls((length, *_JSON_HEADERS), document)

    @classmethod
    def file(
        cls, content: bytes, *, media_type: str, headers: Mapping[str, str]
    ) -> "OkResponse":
        """Returns a file, to be made once and sent to everybody."""
        made = Response(content, media_type=media_type, headers=headers)
        return cls(made.raw_headers, content)


UploadRequest: TypeAlias = Request | PlainRequest
"""An upload on its way, or all of it."""


@dataclass(frozen=True)
class FrequentPath:
    """What answers one of these paths.

    Attributes:
        name: Under which requests are counted.
        methods: That it answers.
        answer: Returns the answer to a request, whose path names this task or file; at
            once, if nobody has to be waited for.
    """

    name: str
    methods: tuple[str, ...]
    answer: Callable[[UploadRequest, str], OkResponse | Awaitable[OkResponse]]


class FrequentPaths:
    """Answers these paths.

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
            None: FrequentPath(
                "get_page_file", read, lambda _, named: page_file(named)
            ),
        }

    def find(self, path: str) -> tuple[FrequentPath, str] | None:
        """Returns what answers a path, and the task or file that it names."""
        found = _PATH.fullmatch(path)
        if found is None:
            return None
        return self._paths[found["what"]], found["task"] or found["file"]

    def answer_plain(
        self, request: PlainRequest
    ) -> CompleteResponse | Awaitable[CompleteResponse] | None:
        """Answers a plain request; None if something else has to answer it."""
        found = self.find(request.path)
        if found is None or request.method not in found[0].methods:
            return None
        path, named = found
        try:
            answer = path.answer(request, named)
        except Exception:
            # Nothing was done yet, and the same happens behind h11, where it is heard.
            return None
        if isinstance(answer, OkResponse):
            _answered(path.name, 2).inc()
            return answer
        return _heard(path, answer)


class FrequentPathMiddleware:
    """Middleware that answers these paths itself, and passes everything else on."""

    def __init__(self, app: ASGIApp, paths: FrequentPaths) -> None:
        self._app, self._paths = app, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        found = self._paths.find(scope["path"])
        if found is None:
            await self._pass_on(scope, receive, send)
            return
        path, named = found
        if scope["method"] in path.methods:
            answer = await _heard(path, _asked(path, Request(scope, receive), named))
        else:
            answer = status_response(405, {"Allow": ", ".join(path.methods)})
            _answered(path.name, 4).inc()
        status, headers = answer.status_code, answer.raw_headers
        start = "http.response.start"
        await send({"type": start, "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Redirects from a path with a slash behind it, as for all other paths."""
        without = {**scope, "path": scope["path"].rstrip("/")}
        found = self._paths.find(without["path"])
        if found is None or "GET" not in found[0].methods:
            await self._app(scope, receive, send)
            return
        _answered(found[0].name, 3).inc()
        await RedirectResponse(str(URL(scope=without)))(scope, receive, send)


async def _asked(path: FrequentPath, sent: UploadRequest, named: str) -> OkResponse:
    answer = path.answer(sent, named)
    return answer if isinstance(answer, OkResponse) else await answer


async def _heard(path: FrequentPath, answer: Awaitable[OkResponse]) -> CompleteResponse:
    """Returns an answer, or what is said in place of it."""
    heard: CompleteResponse
    try:
        heard = await answer
    except Refusal as refusal:
        REFUSED.labels(refusal.reason.value).inc()
        heard = problem_response(refusal)
    except Exception as error:
        log_crash(error)
        heard = status_response(500)
    _answered(path.name, heard.status_code // 100).inc()
    return heard


@cache
def _answered(name: str, hundreds: int) -> Counter:
    return REQUESTS.labels(name, f"{hundreds}xx")
