"""Both services as processes that speak HTTP, and a supervisor that starts them again."""

import multiprocessing
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal, Self

import httpx
from oracles.service_parties import Parties

from shuffledp.service.analyst.app import create_analyst
from shuffledp.service.analyst.hosted import AnalystHost
from shuffledp.service.analyst.sqlite_store import SqliteAnalystStore
from shuffledp.service.run import run
from shuffledp.service.shuffler.app import create_shuffler
from shuffledp.service.shuffler.handover import AnalystClient
from shuffledp.service.shuffler.hosted import ShufflerHost
from shuffledp.service.shuffler.postgres_store import PostgresStore
from shuffledp.service.shuffler.sqlite_store import SqliteStore
from shuffledp.service.shuffler.store import ShufflerStore

Party = Literal["shuffler", "analyst"]

# Processes are copies of one that has everything imported: numpy alone takes a second.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        "uvicorn.protocols.http.h11_impl",
        "uvicorn.lifespan.on",
        "shuffledp.service.serve_shuffler",
        "shuffledp.service.serve_analyst",
    ]
)
# Every start asks all processes how they ended, which only one thread hears.
_ONE_AT_A_TIME = threading.Lock()
_PATIENCE = 60.0


@dataclass(frozen=True)
class Kill:
    """Where a service ends its life: the n-th time that it reaches a boundary."""

    party: Party
    boundary: str
    occurrence: int = 1

    def __str__(self) -> str:
        return f"{self.party} {self.boundary} {self.occurrence}"


@dataclass(frozen=True)
class Setup:
    """What a service is started with.

    Attributes:
        party: Which one.
        who: All keys; the process takes those of its party.
        port: Where it listens.
        peer: URL of the other one.
        database: Path of a file, or a postgresql:// address.
        close_at: How many people close a step by themselves.
    """

    party: Party
    who: Parties
    port: int
    peer: str
    database: str
    close_at: int | None = None


def _serve(setup: Setup, kill: Kill | None) -> None:
    left = 0 if kill is None else kill.occurrence

    def reached(name: str) -> None:
        nonlocal left
        if kill is not None and name == kill.boundary:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    task = setup.who.task
    if setup.party == "analyst":
        app = create_analyst(
            {task.identity: AnalystHost(task, setup.who.analyst)},
            SqliteAnalystStore(Path(setup.database)),
            shuffler_url=setup.peer,
            reached=reached,
        )
    else:
        app = create_shuffler(
            {
                task.identity: ShufflerHost(
                    task, setup.who.shuffler, setup.who.enroller.roster
                )
            },
            store_at(setup.database),
            analyst=AnalystClient(
                setup.peer, first_wait=0.02, longest_wait=0.2, refused_wait=0.2
            ),
            reached=reached,
            close_at=setup.close_at,
        )
    run(app, host="127.0.0.1", port=setup.port)


def store_at(database: str) -> ShufflerStore:
    if database.startswith("postgresql:"):
        return PostgresStore(database)
    return SqliteStore(Path(database))


class Running:
    """A service that is started again whenever it was killed."""

    def __init__(self, setup: Setup, kill: Kill | None = None) -> None:
        self.setup, self.deaths = setup, 0
        self.url = f"http://127.0.0.1:{setup.port}"
        self._kill: Kill | None = kill
        self._wanted = threading.Event()
        self._process: BaseProcess | None = None
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)

    def __enter__(self) -> Self:
        self._wanted.set()
        self._supervisor.start()
        self.wait()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """It does not come back."""
        self._wanted.clear()
        if self._process is not None:
            self._process.kill()
        self._supervisor.join()

    @property
    def path(self) -> str:
        return f"{self.url}/tasks/{self.setup.who.task.identity}"

    def wait(self) -> None:
        """Until it answers, or was killed while it started."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            with suppress(httpx.TransportError):
                httpx.get(f"{self.url}/health", trust_env=False)
                return
            time.sleep(0.01)
        raise TimeoutError(f"The {self.setup.party} did not start.")

    def kill(self) -> None:
        """At whatever it does now; it comes back by itself."""
        # Not between a process that is made and one that runs.
        with _ONE_AT_A_TIME:
            if self._process is not None:
                self._process.kill()

    def limit(self, what: int, to: int | None) -> None:
        """Changes one of its limits while it runs: RLIMIT_FSIZE makes a full disk."""
        _, hard = resource.prlimit(self._pid, what)
        resource.prlimit(self._pid, what, (hard if to is None else to, hard))

    def peak_memory(self) -> float:
        """In MB, of the process that runs now."""
        return peak_memory(self._pid)

    @property
    def _pid(self) -> int:
        if self._process is None or self._process.pid is None:
            raise RuntimeError("Expected a running service.")
        return self._process.pid

    def _supervise(self) -> None:
        while self._wanted.is_set():
            with _ONE_AT_A_TIME:
                self._process = PROCESSES.Process(
                    target=_serve, args=(self.setup, self._kill), daemon=True
                )
                self._process.start()
            if not self._wanted.is_set():
                self._process.kill()
            ended = None
            while ended is None:
                time.sleep(0.01)
                with _ONE_AT_A_TIME:
                    ended = self._process.exitcode
            if self._wanted.is_set():
                # Anything else was not asked for, and shows as a service that is silent.
                assert ended == -signal.SIGKILL, f"It ended with {ended}."
                self.deaths, self._kill = self.deaths + 1, None


def peak_memory(pid: int | None) -> float:
    """In MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    [line] = [row for row in status.splitlines() if row.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def pair(
    who: Parties,
    folder: Path,
    *,
    database: str | None = None,
    kills: tuple[Kill, ...] = (),
    between: Callable[[int], int] | None = None,
    shuffler: dict[str, Any] | None = None,
    analyst: dict[str, Any] | None = None,
) -> tuple[Running, Running]:
    """The shuffler and the analyst of a task, not started yet.

    Args:
        who: All keys.
        folder: For files of both.
        database: Of the shuffler; None for a file.
        kills: At most one for each.
        between: Takes the analyst's port, and returns that of what stands before it.
        shuffler: Changes of its setup.
        analyst: Changes of hers.
    """
    ports = free_ports(2)
    front = ports[1] if between is None else between(ports[1])
    urls = [f"http://127.0.0.1:{port}" for port in (ports[0], front)]
    points = {kill.party: kill for kill in kills}
    setups = (
        Setup(
            "shuffler",
            who,
            ports[0],
            urls[1],
            database or str(folder / "shuffler.db"),
            **(shuffler or {}),
        ),
        Setup(
            "analyst",
            who,
            ports[1],
            urls[0],
            str(folder / "analyst.db"),
            **(analyst or {}),
        ),
    )
    first, second = (Running(setup, points.get(setup.party)) for setup in setups)
    return first, second
