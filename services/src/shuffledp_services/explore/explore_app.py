"""HTTP application of the explore page: its files, and answers to its requests."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import lru_cache
from importlib.resources import files
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shuffledp.errors import InvalidInputError, ShuffledpError
from shuffledp_services.analyst.headers import HEADERS, SecurityHeaders
from shuffledp_services.explore.answer_processes import Abandoned, AnswerPools, Gone
from shuffledp_services.explore.answers import ANSWERS
from shuffledp_services.explore.explore_query import ExploreQuery, read_query
from shuffledp_services.explore.form import with_controls

# Only these files are served: a path is looked up, never joined to a folder.
_FILES = {
    "/": ("index.html", "text/html"),
    "/answer.mjs": ("answer.mjs", "text/javascript"),
    "/explore.css": ("explore.css", "text/css"),
    "/explore.mjs": ("explore.mjs", "text/javascript"),
    "/mark.svg": ("mark.svg", "image/svg+xml"),
    "/pictures.mjs": ("pictures.mjs", "text/javascript"),
    "/sliders.mjs": ("sliders.mjs", "text/javascript"),
    "/task.mjs": ("task.mjs", "text/javascript"),
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_MAX_CACHED = 256
_MAX_QUERY = 1000


class AnswerSource(Protocol):
    """An object that computes answers, such as `AnswerPools`."""

    async def ask(self, name: str, query: ExploreQuery, gone: Gone) -> dict[str, Any]:
        """As `AnswerProcesses.ask`."""

    def end(self) -> None:
        """As `AnswerProcesses.end`."""


def create_explore(
    workers: Callable[[], AnswerSource] = AnswerPools,
) -> Starlette:
    """Returns the page as an application.

    Args:
        workers: Returns the source of answers; called once, when the application starts.
    """
    served = _Answers()

    @asynccontextmanager
    async def live(_app: Starlette) -> AsyncIterator[None]:
        served.workers = workers()
        try:
            yield
        finally:
            served.workers.end()

    return Starlette(
        routes=[
            *(Route(path, _file(*file)) for path, file in _FILES.items()),
            *(Route(f"/{name}", served.endpoint(name)) for name in ANSWERS),
        ],
        middleware=[
            # DNS rebinding: a foreign host name that resolves to this address must not
            # read the page.
            Middleware(
                TrustedHostMiddleware,
                allowed_hosts=["127.0.0.1", "localhost"],
                www_redirect=False,
            ),
            Middleware(
                SecurityHeaders, headers=HEADERS | {"content-security-policy": _POLICY}
            ),
        ],
        exception_handlers={ShuffledpError: _refused},
        lifespan=live,
    )


class _Answers:
    """A cache of the most recently used answers, and their endpoints."""

    def __init__(self) -> None:
        self.workers: AnswerSource | None = None
        self._cache: dict[tuple[str, ExploreQuery], dict[str, Any]] = {}

    def endpoint(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        """Returns the endpoint of one kind of answer."""

        async def serve(request: Request) -> Response:
            # Other sites can make a browser send requests. They cannot read the answers,
            # but each answer costs computing time.
            if request.headers.get("sec-fetch-site", "none") not in (
                "none",
                "same-origin",
            ):
                return _problem("Expected to be asked by this page.", 403)
            query = requested_query(request)
            try:
                content = await self._answer(name, query, request.is_disconnected)
            except Abandoned:
                return Response(status_code=204)
            if name != "certificate.json":
                return JSONResponse(content)
            return Response(
                json.dumps(content, indent=2) + "\n",
                media_type="application/json",
                headers={
                    "content-disposition": 'attachment; filename="certificate.json"'
                },
            )

        return serve

    async def _answer(
        self, name: str, query: ExploreQuery, gone: Gone
    ) -> dict[str, Any]:
        if self.workers is None:
            raise RuntimeError("Expected the application to run.")
        cached = self._cache.pop((name, query), None)
        content = cached or await self.workers.ask(name, query, gone)
        # Inserted again at the end, so that the first entry is the least recently used.
        self._cache[name, query] = content
        while len(self._cache) > _MAX_CACHED:
            del self._cache[next(iter(self._cache))]
        return content


def requested_query(request: Request) -> ExploreQuery:
    """Reads the query of a request.

    Raises:
        InvalidInputError: If the query is too long, repeats a name, or cannot be read.
    """
    # A limit on the query bounds the work of parsing it.
    if len(request.url.query) > _MAX_QUERY:
        raise InvalidInputError(
            f"Expected at most {_MAX_QUERY} characters, got {len(request.url.query)}."
        )
    # A repeated name would silently lose all but one of its values in a dict.
    pairs = request.query_params.multi_items()
    if len(pairs) > len(dict(pairs)):
        raise InvalidInputError("Expected every name once.")
    return read_query(dict(pairs))


def _file(name: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def serve(_request: Request) -> Response:
        return Response(_content(name), media_type=f"{media_type}; charset=utf-8")

    return serve


@lru_cache
def _content(name: str) -> bytes:
    content = files("shuffledp_services.explore").joinpath("page", name).read_bytes()
    if name.endswith(".html"):
        return with_controls(content.decode()).encode()
    return content


async def _refused(_request: Request, error: Exception) -> Response:
    return _problem(str(error), 400)


def _problem(detail: str, status: int) -> Response:
    return JSONResponse(
        {"title": "There is no answer", "status": status, "detail": detail},
        status_code=status,
        media_type="application/problem+json",
    )
