"""Processor time per upload of one report: python benchmarks/service_single_uploads.py

Devices send one report each, each on a connection of its own, 200 at a time; or over 200
connections that are kept, as those of a proxy. The service runs on the first core, devices
on the second. Printed are microseconds of the service's processor time per upload: in
total, the median of several periods; and by cause, from a period in which a profiler
samples each thread's position every millisecond of processor time. Before them, the same
of a server that reads nothing and answers at once: what sockets and the event loop take.
"""

import asyncio
import multiprocessing
import os
import signal
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

from machine import describe
from single_uploads import requests_of, send_all, send_kept, stay_on

sys.path.append(str(Path(__file__).parents[1] / "services" / "tests" / "service"))

import httpx
import postgres_server
from shuffler_parties import Analyst, Parties, parties

from shuffledp_services.http.guarded_connection import ACCEPTED_AT_ONCE
from shuffledp_services.operator.server import run
from shuffledp_services.shuffler.postgres_store import PostgresStore
from shuffledp_services.shuffler.sqlite_store import SqliteStore

UPLOADS = 5_000
SPELLS = 5
_RECEIPT = b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n" + bytes(400)
# The innermost frame that is in one of these files says what is being done.
CAUSES = {
    "parse and write HTTP": ("/h11/", "/http/plain_requests.py"),
    "connection and request": (
        *("/uvicorn/", "/http/guarded_connection.py", "/connection_limits.py"),
        *("/http/deadline.py", "/http/paced_answers.py"),
    ),
    "route and middleware": (
        *("/starlette/", "/monitoring/metrics.py", "/http/problems.py"),
        *("shuffler/shuffler_app.py", "shuffler/frequent_paths.py"),
        *("/prometheus_client/", "/anyio/"),
    ),
    "body": (
        "shuffler/upload_bodies.py",
        "/http/body_timeout.py",
        "asyncio/timeouts.py",
    ),
    "checks and groups": (
        *(
            "shuffler/upload_intake.py",
            "shuffler/commit_group.py",
            "shuffler/upload.py",
        ),
        *("shuffler/collector.py", "wire/upload_format.py"),
        *("wire/roster.py", "wire/tokens.py", "shuffler/keyed_digests.py", "/numpy/"),
        *("shuffler/task_lifecycle.py", "collection/shuffler_state.py"),
    ),
    "receipt": ("wire/receipt.py", "wire/signing.py", "wire/canonical.py"),
    "commit": ("_store.py", "sqlite_file.py", "/asyncpg/", "storage/database.py"),
    "thread hops": ("/concurrent/futures/", "asyncio/threads.py", "/threading.py"),
    "event loop and sockets": ("/asyncio/", "/selectors.py", "/socket.py"),
}


class Profile:
    """Sampling profiler of the processor time of this process's threads."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._used = dict[int, float]()

    def begin(self) -> None:
        """Starts sampling every millisecond of processor time."""
        self.sample(0, None)
        self.seconds.clear()
        signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)

    def end(self) -> dict[str, float]:
        """Stops, and returns processor seconds by cause."""
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        return dict(self.seconds)

    def sample(self, _number: int, frame: FrameType | None) -> None:
        """Takes one sample; a signal handler, which interrupts a frame."""
        frames = sys._current_frames()
        if frame is not None:
            frames[threading.get_ident()] = frame
        for ident, now in frames.items():
            clock = time.pthread_getcpuclockid(ident)
            used = time.clock_gettime(clock)
            self.seconds[_cause(now)] += used - self._used.get(ident, used)
            self._used[ident] = used


def _cause(frame: FrameType | None) -> str:
    while frame is not None:
        name = frame.f_code.co_filename
        for cause, files in CAUSES.items():
            if any(file in name for file in files):
                return cause
        frame = frame.f_back
    return "else"


class ImmediateAnswer(asyncio.Protocol):
    """Answers whatever arrives with as many bytes as a receipt has."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, _data: bytes) -> None:
        """Answers."""
        self._transport.write(_RECEIPT)


def serve_at_once(_who: Parties, _database: str, pipe: Connection) -> None:
    """Runs the server that answers at once, as `serve` runs the service."""

    async def run_it() -> None:
        loop = asyncio.get_running_loop()
        listening = socket.create_server(("127.0.0.1", 0))
        server = await loop.create_server(
            ImmediateAnswer, sock=listening, backlog=ACCEPTED_AT_ONCE
        )
        # The backlog above is also the number of connections accepted in one turn.
        listening.listen(2048)
        pipe.send(f"http://127.0.0.1:{listening.getsockname()[1]}")
        threading.Thread(target=answer_questions, args=(pipe, Profile())).start()
        async with server:
            await server.serve_forever()

    stay_on(0)
    with suppress(asyncio.CancelledError, KeyboardInterrupt):
        asyncio.run(run_it())


def serve(who: Parties, database: str, pipe: Connection) -> None:
    """Runs the service; sends its address, then the requested numbers."""
    stay_on(0)
    postgres = database.startswith("postgresql:")
    store = PostgresStore(database) if postgres else SqliteStore(Path(database))
    profile = Profile()

    def started(url: str) -> None:
        # Signals are for the first thread alone, and handlers are set there.
        signal.signal(signal.SIGPROF, profile.sample)
        pipe.send(url)
        threading.Thread(
            target=answer_questions, args=(pipe, profile), daemon=True
        ).start()

    run(who.app(store, Analyst(who)), host="127.0.0.1", port=0, started=started)


def answer_questions(pipe: Connection, profile: Profile) -> None:
    """Sends the requested numbers, until the process is to end."""
    while (asked := pipe.recv()) != "end":
        if asked == "profile":
            profile.begin()
            pipe.send(None)
        elif asked == "causes":
            pipe.send(profile.end())
        else:
            pipe.send(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)


@dataclass(frozen=True)
class Measured:
    """Rates and costs of uploads of one report.

    Attributes:
        rate: Uploads per second, with a connection each.
        cost: Processor seconds of each of them.
        kept_cost: The same over connections that are kept.
        causes: Processor seconds of one period by cause, with a connection each.
    """

    rate: float
    cost: float
    kept_cost: float
    causes: dict[str, float]


def measure(
    database: str, target: Callable[[Parties, str, Connection], None] = serve
) -> Measured:
    """Measures a service, or the server that answers at once."""
    who = parties(tokens=(2 * SPELLS + 2) * UPLOADS, minimum=10**6)
    context = multiprocessing.get_context("spawn")
    pipe, service_pipe = context.Pipe()
    service = context.Process(target=target, args=(who, database, service_pipe))
    service.start()
    stay_on(1)
    rates, costs, kept_costs = [], [], []
    try:
        port = httpx.URL(pipe.recv()).port
        assert port is not None

        def asked(what: str) -> Any:
            pipe.send(what)
            return pipe.recv()

        send_all([port], requests_of(who, UPLOADS))
        for _ in range(SPELLS):
            requests = requests_of(who, UPLOADS)
            before = asked("used")
            rates.append(UPLOADS / send_all([port], requests))
            costs.append((asked("used") - before) / UPLOADS)
            requests = requests_of(who, UPLOADS)
            before = asked("used")
            send_kept(port, requests)
            kept_costs.append((asked("used") - before) / UPLOADS)
        causes: dict[str, float] = {}
        if target is serve:
            requests = requests_of(who, UPLOADS)
            asked("profile")
            send_all([port], requests)
            causes = asked("causes")
        pipe.send("end")
    finally:
        service.join(60)
    rate, cost, kept_cost = map(statistics.median, (rates, costs, kept_costs))
    return Measured(rate, cost, kept_cost, causes)


def main() -> None:
    """Prints a table per store."""
    print(describe())
    with ExitStack() as stack:
        temporary = stack.enter_context(tempfile.TemporaryDirectory())
        databases = {"SQLite": str(Path(temporary) / "shuffler.db")}
        if postgres_server.missing() is None:
            databases["PostgreSQL"] = stack.enter_context(
                postgres_server.server()
            ).address
        print_costs("A server that answers at once", measure("", serve_at_once))
        for name, database in databases.items():
            print_costs(name, measure(database))


def print_costs(name: str, measured: Measured) -> None:
    """Prints the costs of one server."""
    print(
        f"\n{name}: {measured.rate:,.0f} uploads/s, {1e6 * measured.cost:.0f} us of CPU "
        f"each; over kept connections {1e6 * measured.kept_cost:.0f} us"
    )
    total = sum(measured.causes.values())
    for cause, seconds in sorted(measured.causes.items(), key=lambda cause: -cause[1]):
        share = seconds / total
        print(f"  {cause:<26}{1e6 * measured.cost * share:>6.0f} us{share:>7.1%}")


if __name__ == "__main__":
    main()
