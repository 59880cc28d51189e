"""Runs a service until it is stopped, and says nothing about who asked it what."""

import os
import socket
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.extras import require
from shuffledp.service.http.connection_limits import (
    ConnectionLimits,
    raise_connection_limit,
)
from shuffledp.service.http.guarded_connection import (
    ACCEPTED_AT_ONCE,
    GuardedConnection,
)
from shuffledp.service.http.paced_answers import PacedAnswers
from shuffledp.service.http.plain_requests import MAX_HEADER
from shuffledp.service.monitoring.events import Event, log_event
from shuffledp.service.monitoring.heartbeat import beating, notify_alive, notify_ready
from shuffledp.service.monitoring.metrics import serve_metrics
from shuffledp.service.monitoring.readiness import STOPPING
from shuffledp.service.wire.task import Task

require("starlette", extra="service", what="A service")
require("uvicorn", extra="service", what="A service")

import uvicorn  # noqa: E402
from starlette.applications import Starlette  # noqa: E402

HostT = TypeVar("HostT")
Store = TypeVar("Store")

_BACKLOG = 2048
# Nothing that has a receipt waits for it: what is not answered by then never will be.
_LAST_SECONDS = 5


def run(
    app: Starlette,
    *,
    host: str,
    port: int,
    started: Callable[[str], None] = lambda _url: None,
    metrics_port: int | None = None,
) -> None:
    """Serves until a signal comes; what is being answered is answered before it ends.

    Args:
        app: The service.
        host: Where it listens.
        port: 0 for any that is free.
        started: Is told the URL, once it is ready.
        metrics_port: Where monitoring of this machine asks; None for nowhere.

    Raises:
        DataError: If it cannot listen there, or its database cannot be opened.
    """
    with listen(host, port) as listening:

        def ready() -> None:
            started(url_of(host, listening))
            notify_ready()

        serve_on(
            app,
            listening,
            started=ready,
            alive=notify_alive,
            metrics_port=metrics_port,
        )


def serve_on(
    app: Starlette,
    listening: socket.socket,
    *,
    started: Callable[[], None],
    alive: Callable[[], None],
    metrics_port: int | None,
) -> None:
    """Serves on a socket that is open already, and that others may serve on, too.

    Args:
        app: The service.
        listening: Where it listens.
        started: Is told once it is ready.
        alive: Is called once a second, from the start to the end.
        metrics_port: Where monitoring of this machine asks; None for nowhere.

    Raises:
        DataError: If its database cannot be opened, or the port is taken.
    """
    # What a service writes is for its own user's eyes.
    os.umask(0o077)
    config = uvicorn.Config(
        PacedAnswers(app, app.state.answer_plain),
        # Where people are, and what they ask for, is nobody's business.
        access_log=False,
        proxy_headers=False,
        server_header=False,
        # Anybody could fill a disk with its warnings.
        log_level="critical",
        # Its own would close the handlers of everything else in the process.
        log_config=None,
        # By themselves these would depend on what else is installed.
        http=GuardedConnection,
        ws="none",
        loop="asyncio",
        h11_max_incomplete_event_size=MAX_HEADER,
        backlog=ACCEPTED_AT_ONCE,
        timeout_graceful_shutdown=_LAST_SECONDS,
        # Its own way would turn what goes wrong into a stack trace.
        lifespan="off",
    )
    server = _Server(config, app, listening, started, alive, metrics_port)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


class _Server(uvicorn.Server):
    """Opens what the service needs before it begins, and closes it at the end."""

    def __init__(
        self,
        config: uvicorn.Config,
        app: Starlette,
        listening: socket.socket,
        ready: Callable[[], None],
        alive: Callable[[], None],
        metrics_port: int | None,
    ) -> None:
        super().__init__(config)
        self.server_state = ConnectionLimits(raise_connection_limit())
        self._app, self._listening, self._ready = app, listening, ready
        self._alive = alive
        self._metrics_port = metrics_port
        self._opened = AsyncExitStack()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn, after the service's own start."""
        await self._opened.enter_async_context(beating(self._alive))
        try:
            await self._open()
        except BaseException:
            await self._opened.aclose()
            raise
        await super().startup(sockets=sockets)
        # It was told how many to accept at once, and took that for how many may wait.
        self._listening.listen(_BACKLOG)
        log_event(Event.STARTED)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn, before the service's own end."""
        self._app.state.readiness.reason = STOPPING
        await super().shutdown(sockets=sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await self._opened.aclose()
        log_event(Event.STOPPED)

    async def _open(self) -> None:
        try:
            await self._opened.enter_async_context(
                self._app.router.lifespan_context(self._app)
            )
        except (OSError, sqlite3.Error) as error:
            # Its text may quote what is in the database.
            raise DataError(
                f"Could not open the database: {type(error).__name__}."
            ) from error
        if self._metrics_port is not None:
            metrics = serve_metrics(self._metrics_port, self._app.state.task_metrics)
            await self._opened.enter_async_context(metrics)


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens.

    Raises:
        DataError: If it cannot.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "no such address"
        raise DataError(f"Could not listen on {host}:{port}: {reason}.") from error


def url_of(host: str, listening: socket.socket) -> str:
    """Returns where a service is that listens."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}"


def hosted_tasks(
    folders: Sequence[Path], load: Callable[[Path], tuple[Task, HostT]]
) -> dict[str, HostT]:
    """Returns what is served, by the tasks' identities.

    Raises:
        InvalidInputError: If a task is named twice.
    """
    found = dict[str, HostT]()
    for folder in folders:
        task, hosted = load(folder)
        if task.identity in found:
            raise InvalidInputError(f"Expected each task once: {folder}.")
        found[task.identity] = hosted
    return found


def store_at(
    database: str,
    *,
    sqlite: Callable[[Path], Store],
    postgres: Callable[[str], Store] | None = None,
) -> Store:
    """Returns a store, not opened yet.

    Args:
        database: "sqlite:///relative", "sqlite:////absolute", or "postgresql://...".
        sqlite: Makes a store in a file.
        postgres: Makes a store on a server; None if there is none of this kind.

    Raises:
        InvalidInputError: If the text is no such address; it is not repeated, as it may
            hold a password.
    """
    if not database.isprintable():
        raise InvalidInputError("Expected --database without control characters.")
    scheme, _, rest = database.partition(":///")
    if scheme == "sqlite" and rest == ":memory:":
        raise InvalidInputError(
            "Expected --database sqlite:///FILE: what is in memory is lost at the end."
        )
    if scheme == "sqlite" and rest:
        return sqlite(Path(rest))
    try:
        parts = urlsplit(database)
        server = parts.scheme in ("postgresql", "postgres")
        password = parts.password is not None or "password" in parse_qs(parts.query)
    except ValueError:
        server = password = False
    if server and postgres is not None:
        if password:
            raise InvalidInputError(
                "Expected no password in --database, where everybody on the machine sees "
                "it: put it into PGPASSWORD or ~/.pgpass."
            )
        return postgres(database)
    known = "" if postgres is None else " or postgresql://USER@HOST/NAME"
    raise InvalidInputError(f"Expected --database sqlite:///FILE{known}.")
