"""Server of a service: runs until it is stopped, and logs no requests."""

import gc
import os
import socket
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

import uvicorn
from starlette.applications import Starlette

from shuffledp.errors import DataError, InvalidInputError
from shuffledp_services.http.connection_limits import (
    ConnectionLimits,
    raise_connection_limit,
)
from shuffledp_services.http.guarded_connection import (
    ACCEPTED_AT_ONCE,
    GuardedConnection,
)
from shuffledp_services.http.paced_answers import PacedAnswers
from shuffledp_services.http.plain_requests import MAX_HEADER
from shuffledp_services.monitoring.event_log import Event, log_event
from shuffledp_services.monitoring.heartbeat import beating, notify_alive, notify_ready
from shuffledp_services.monitoring.metrics import serve_metrics
from shuffledp_services.monitoring.readiness import STOPPING
from shuffledp_services.wire.task import Task

HostT = TypeVar("HostT")
Store = TypeVar("Store")

_BACKLOG = 2048
# Reports with a receipt are stored already: only unanswered requests are lost then.
_LAST_SECONDS = 5


def run(
    app: Starlette,
    *,
    host: str,
    port: int,
    started: Callable[[str], None] = lambda _url: None,
    metrics_port: int | None = None,
) -> None:
    """Serves until a signal arrives; requests under way are answered before it ends.

    Args:
        app: Application of the service.
        host: Host or address to listen on.
        port: Port to listen on; 0 for any free one.
        started: Called with the URL once the service is ready.
        metrics_port: Local port of the metrics; None to serve none.

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
    """Serves on an open socket, which other processes may share.

    Args:
        app: Application of the service.
        listening: Socket that listens.
        started: Called once the service is ready.
        alive: Called once a second, from the start to the end.
        metrics_port: Local port of the metrics; None to serve none.

    Raises:
        DataError: If its database cannot be opened, or the port is taken.
    """
    # Only the service's own user may read the files that it writes.
    os.umask(0o077)
    config = uvicorn.Config(
        PacedAnswers(app, app.state.answer_plain),
        # Addresses and requests of participants are not recorded.
        access_log=False,
        proxy_headers=False,
        server_header=False,
        # Any client could fill a disk with uvicorn's warnings.
        log_level="critical",
        # uvicorn's configuration would close all other log handlers of the process.
        log_config=None,
        # The defaults of these depend on the installed packages.
        http=GuardedConnection,
        ws="none",
        loop="asyncio",
        h11_max_incomplete_event_size=MAX_HEADER,
        backlog=ACCEPTED_AT_ONCE,
        timeout_graceful_shutdown=_LAST_SECONDS,
        # uvicorn would turn an error in the lifespan into a stack trace.
        lifespan="off",
    )
    server = _Server(config, app, listening, started, alive, metrics_port)
    # uvicorn raises the signal again after its shutdown.
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


class _Server(uvicorn.Server):
    """Server of uvicorn that opens the service's resources first, and closes them last."""

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
        """Starts the service, then uvicorn."""
        # First, so that opening a large database counts as being alive.
        await self._opened.enter_async_context(beating(self._alive))
        try:
            await self._open()
        except BaseException:
            await self._opened.aclose()
            raise
        await super().startup(sockets=sockets)
        # uvicorn passes the number of connections per turn as the backlog: set it again.
        self._listening.listen(_BACKLOG)
        _keep_until_the_end()
        log_event(Event.STARTED)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shuts uvicorn down, then the service."""
        self._app.state.readiness.reason = STOPPING
        await super().shutdown(sockets=sockets)
        for connection in list(self.server_state.connections):
            # Requests that outlast the grace period would keep the store open.
            connection.transport.abort()
        await self._opened.aclose()
        log_event(Event.STOPPED)

    async def _open(self) -> None:
        try:
            await self._opened.enter_async_context(
                self._app.router.lifespan_context(self._app)
            )
        except (OSError, sqlite3.Error) as error:
            # The text of the error may quote the content of the database.
            raise DataError(
                f"Could not open the database: {type(error).__name__}."
            ) from error
        if self._metrics_port is not None:
            metrics = serve_metrics(self._metrics_port, self._app.state.task_metrics)
            await self._opened.enter_async_context(metrics)


def _keep_until_the_end() -> None:
    """Exempts all objects of the started service from collections of garbage."""
    # Modules and tasks are eighty thousand objects, and uploads make collections frequent:
    # to look through all of them takes a tenth of an upload's processor time.
    gc.collect()
    gc.freeze()


def listen(host: str, port: int) -> socket.socket:
    """Returns a listening socket.

    Raises:
        DataError: If the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "no such address"
        raise DataError(f"Could not listen on {host}:{port}: {reason}.") from error


def url_of(host: str, listening: socket.socket) -> str:
    """Returns the URL of a service that listens on a socket."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}"


def hosted_tasks(
    folders: Sequence[Path], load: Callable[[Path], tuple[Task, HostT]]
) -> dict[str, HostT]:
    """Returns the hosted tasks by their identities.

    Raises:
        InvalidInputError: If a task occurs twice.
    """
    tasks = dict[str, HostT]()
    for folder in folders:
        task, hosted = load(folder)
        if task.identity in tasks:
            raise InvalidInputError(f"Expected each task once: {folder}.")
        tasks[task.identity] = hosted
    return tasks


def store_at(
    database: str,
    *,
    sqlite: Callable[[Path], Store],
    postgres: Callable[[str], Store] | None = None,
) -> Store:
    """Returns a store without opening it.

    Args:
        database: "sqlite:///relative", "sqlite:////absolute", or "postgresql://...".
        sqlite: Builds a store in a file.
        postgres: Builds a store on a server; None if PostgreSQL is not supported.

    Raises:
        InvalidInputError: If `database` is no such URL; the error does not repeat it, as
            it may contain a password.
    """
    if not database.isprintable():
        raise InvalidInputError("Expected --database without control characters.")
    scheme, _, path = database.partition(":///")
    if scheme == "sqlite" and path == ":memory:":
        raise InvalidInputError(
            "Expected --database sqlite:///FILE: what is in memory is lost at the end."
        )
    if scheme == "sqlite" and path:
        return sqlite(Path(path))
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
