"""Both services as processes that speak HTTP, and a supervisor that starts them again."""

import multiprocessing
import os
import random
import resource
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal, Protocol, Self

import httpx
from random_freezes import Watchdog
from service_parties import Parties

from shuffledp.errors import DataError
from shuffledp_services.analyst.analyst_app import create_analyst
from shuffledp_services.analyst.analyst_host import AnalystHost
from shuffledp_services.analyst.sqlite_analyst_store import SqliteAnalystStore
from shuffledp_services.operator.server import run
from shuffledp_services.shuffler import shard_sorter
from shuffledp_services.shuffler import shuffler_app as shuffler_app
from shuffledp_services.shuffler.analyst_client import AnalystClient
from shuffledp_services.shuffler.postgres_store import PostgresStore
from shuffledp_services.shuffler.shuffler_host import ShufflerHost
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.shuffler.store import ShufflerStore

Party = Literal["shuffler", "analyst"]

# Processes are copies of one that has everything imported: numpy alone takes a second.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        "uvicorn.protocols.http.h11_impl",
        "uvicorn.lifespan.on",
        "shuffledp_services.operator.serve_shuffler",
        "shuffledp_services.operator.serve_analyst",
        "jinja2",
        "uvicorn.lifespan.off",
        "uvicorn.loops.asyncio",
        # Every process imports what this one was started with.
        "pytest",
    ]
)
# A service could not use its database when it began: whoever runs it starts it again.
_TRY_AGAIN = 75
# Every start asks all processes how they ended, which only one thread hears.
_ONE_AT_A_TIME = threading.Lock()
_PATIENCE = 60.0


@dataclass(frozen=True)
class Kill:
    """Where a service ends its life: the n-th time that it reaches a boundary.

    With `freezes` it is stopped there, and goes on if somebody lets it.
    """

    party: Party
    boundary: str
    occurrence: int = 1
    freezes: bool = False

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
        tend: Seconds between two looks at deadlines; None for those of a real service.
        shard: How many messages a shard has on average, at most.
        hosts: Whether it has the task; an analyst without it refuses all batches.
    """

    party: Party
    who: Parties
    port: int
    peer: str
    database: str
    close_at: int | None = None
    tend: float | None = None
    shard: int = 16
    hosts: bool = True


def _serve(setup: Setup, kill: Kill | None, notify: str | None = None) -> None:
    if notify is not None:
        os.environ["NOTIFY_SOCKET"] = notify
    left = 0 if kill is None else kill.occurrence

    def reached(name: str) -> None:
        nonlocal left
        if kill is not None and name == kill.boundary:
            left -= 1
            if left == 0:
                stop = signal.SIGSTOP if kill.freezes else signal.SIGKILL
                os.kill(os.getpid(), stop)

    task = setup.who.task
    if setup.party == "analyst":
        hosted = AnalystHost(task, setup.who.analyst)
        app = create_analyst(
            {task.identity: hosted} if setup.hosts else {},
            SqliteAnalystStore(Path(setup.database)),
            shuffler_url=setup.peer,
            reached=reached,
        )
    else:
        if setup.tend is not None:
            shuffler_app._TEND_SECONDS = setup.tend
        shard_sorter.SHARD_MESSAGES = setup.shard
        app = shuffler_app.create_shuffler(
            {
                task.identity: ShufflerHost(
                    task,
                    setup.who.shuffler,
                    setup.who.enroller.roster,
                    lambda: 0,
                    dummies=setup.who.dummies,
                )
            },
            store_at(setup.database),
            analyst=AnalystClient(
                setup.peer, first_wait=0.02, longest_wait=0.2, refused_wait=0.2
            ),
            reached=reached,
            close_at=setup.close_at,
        )
    try:
        run(app, host="127.0.0.1", port=setup.port)
    except DataError:
        sys.exit(_TRY_AGAIN)


def store_at(database: str) -> ShufflerStore:
    if database.startswith("postgresql:"):
        return PostgresStore(database)
    return SqliteStore(Path(database))


class Live(Protocol):
    """A service, wherever it is."""

    @property
    def setup(self) -> Setup: ...

    @property
    def url(self) -> str: ...

    @property
    def path(self) -> str: ...


class Running:
    """A service that is started again whenever it was killed.

    Attributes:
        setup: What it is started with, the next time that it is.
        url: Where it listens.
        killed: How often it died, by the boundary where it did; "" for any moment.

    Args:
        setup: What it is started with first.
        kills: How its lives end.
        watched: Whether it is killed once it gives no sign of life.
    """

    def __init__(
        self, setup: Setup, kills: Iterable[Kill] = (), *, watched: bool = False
    ) -> None:
        self._watched = watched
        self.setup, self.killed = setup, Counter[str]()
        self.url = f"http://127.0.0.1:{setup.port}"
        # One for each of its lives, as long as there are any.
        self._kills = iter(kills)
        self._wanted, self._awake = threading.Event(), threading.Event()
        self._asleep = threading.Event()
        self._process: BaseProcess | None = None
        self._struck = False
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)

    @property
    def deaths(self) -> int:
        """How often it died."""
        return self.killed.total()

    def __enter__(self) -> Self:
        self._wanted.set()
        self._awake.set()
        self._supervisor.start()
        self.wait()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """It does not come back."""
        self._wanted.clear()
        self._awake.set()
        if self._process is not None:
            self._process.kill()
        self._supervisor.join()

    @contextmanager
    def down(self) -> Iterator[None]:
        """It does not run inside of this; what ended it is not counted as a death."""
        self._asleep.clear()
        self._awake.clear()
        if self._process is not None:
            self._process.kill()
        self._asleep.wait()
        try:
            yield
        finally:
            self._awake.set()
            self.wait()

    @property
    def path(self) -> str:
        return f"{self.url}/tasks/{self.setup.who.task.identity}"

    def wait(self) -> None:
        """Until it answers, or was killed while it started."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            with suppress(httpx.TransportError):
                # Certificates that nobody asks for take 17 ms to load.
                httpx.get(f"{self.url}/health", trust_env=False, verify=False)
                return
            time.sleep(0.01)
        raise TimeoutError(f"The {self.setup.party} did not start.")

    def kill(self) -> None:
        """At whatever it does now; it comes back by itself."""
        with _ONE_AT_A_TIME:
            if self._process is not None:
                self._struck = True
                self._process.kill()

    def freeze(self) -> None:
        """At whatever it does now."""
        with _ONE_AT_A_TIME:
            if self._process is not None and self._process.pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(self._process.pid, signal.SIGSTOP)

    @property
    def pid(self) -> int | None:
        """Of the process that runs now, if one does."""
        return None if self._process is None else self._process.pid

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
            if not self._awake.is_set():
                self._asleep.set()
                self._awake.wait()
                continue
            kill = next(self._kills, None)
            watchdog = Watchdog() if self._watched else None
            notify = None if watchdog is None else watchdog.address
            process = PROCESSES.Process(
                target=_serve, args=(self.setup, kill, notify), daemon=True
            )
            with _ONE_AT_A_TIME:
                process.start()
                self._process, self._struck = process, False
            if not (self._wanted.is_set() and self._awake.is_set()):
                process.kill()
            ended = None
            while ended is None:
                time.sleep(0.01)
                if watchdog is not None and watchdog.expired():
                    process.kill()
                with _ONE_AT_A_TIME:
                    ended = process.exitcode
            if watchdog is not None:
                watchdog.close()
            if ended == _TRY_AGAIN:
                continue
            if self._wanted.is_set() and self._awake.is_set():
                # Anything else was not asked for, and shows as a service that is silent.
                assert ended == -signal.SIGKILL, f"It ended with {ended}."
                fate = None if self._struck else kill
                if fate is not None and fate.freezes:
                    self.killed["frozen"] += 1
                else:
                    self.killed[fate.boundary if fate else ""] += 1


def peak_memory(pid: int | None) -> float:
    """In MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    [line] = [row for row in status.splitlines() if row.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def free_ports(count: int) -> list[int]:
    """Ports that no connection is given by itself while their service is dead."""
    found = list[int]()
    with ExitStack() as held:
        while len(found) < count:
            # Also what a taken port refuses is closed in the end.
            one = held.enter_context(socket.socket())
            port = random.SystemRandom().randrange(10_000, 32_000)
            with suppress(OSError):
                one.bind(("127.0.0.1", port))
                found.append(port)

    return found


def pair(
    who: Parties,
    folder: Path,
    *,
    database: str | None = None,
    kills: tuple[Kill, ...] = (),
    between: Callable[[int], int] | None = None,
    shuffler: dict[str, Any] | None = None,
    analyst: dict[str, Any] | None = None,
    watched: bool = False,
) -> tuple[Running, Running]:
    """The shuffler and the analyst of a task, not started yet.

    Args:
        who: All keys.
        folder: For files of both.
        database: Of the shuffler; None for a file.
        kills: One for each life of the service that it names, in order.
        between: Takes the analyst's port, and returns that of what stands before it.
        shuffler: Changes of its setup.
        analyst: Changes of hers.
        watched: Whether they are killed once they give no sign of life.
    """
    ports = free_ports(2)
    front = ports[1] if between is None else between(ports[1])
    urls = [f"http://127.0.0.1:{port}" for port in (ports[0], front)]
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
    first, second = (
        Running(
            setup,
            [kill for kill in kills if kill.party == setup.party],
            watched=watched,
        )
        for setup in setups
    )
    return first, second
