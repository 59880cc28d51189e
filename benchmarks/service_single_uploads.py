"""Processor time per upload of one report: python benchmarks/service_single_uploads.py

Devices send one report each, each on a connection of its own, 200 at a time. The service
runs on the first core, devices on the second. Printed are microseconds of the service's
processor time per upload: in total, the median of several periods; and by cause, from a
period in which a profiler samples each thread's position every millisecond of processor
time.
"""

import multiprocessing
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType

from machine import describe
from single_uploads import requests_of, send_all, stay_on

sys.path.append(str(Path(__file__).parents[1] / "services" / "tests" / "service"))

import httpx
import postgres_server
from shuffler_parties import Analyst, Parties, parties

from shuffledp_services.operator.server import run
from shuffledp_services.shuffler.postgres_store import PostgresStore
from shuffledp_services.shuffler.sqlite_store import SqliteStore

UPLOADS = 5_000
SPELLS = 5
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


def serve(who: Parties, database: str, pipe: Connection) -> None:
    """Runs the service; sends its address, then the requested numbers."""
    stay_on(0)
    postgres = database.startswith("postgresql:")
    store = PostgresStore(database) if postgres else SqliteStore(Path(database))
    profile = Profile()

    def watch() -> None:
        while (asked := pipe.recv()) != "end":
            if asked == "profile":
                profile.begin()
                pipe.send(None)
            elif asked == "causes":
                pipe.send(profile.end())
            else:
                pipe.send(time.process_time())
        os.kill(os.getpid(), signal.SIGTERM)

    def started(url: str) -> None:
        # Signals are for the first thread alone, and handlers are set there.
        signal.signal(signal.SIGPROF, profile.sample)
        pipe.send(url)
        threading.Thread(target=watch, daemon=True).start()

    run(who.app(store, Analyst(who)), host="127.0.0.1", port=0, started=started)


def measure(database: str) -> tuple[float, float, dict[str, float]]:
    """Returns uploads per second, and processor seconds per upload, total and by cause."""
    who = parties(tokens=(SPELLS + 2) * UPLOADS, minimum=10**6)
    context = multiprocessing.get_context("spawn")
    pipe, service_pipe = context.Pipe()
    service = context.Process(target=serve, args=(who, database, service_pipe))
    service.start()
    stay_on(1)
    rates, costs = [], []
    try:
        port = httpx.URL(pipe.recv()).port
        assert port is not None

        def asked(what: str) -> object:
            pipe.send(what)
            return pipe.recv()

        send_all([port], requests_of(who, UPLOADS))
        for _ in range(SPELLS):
            requests = requests_of(who, UPLOADS)
            before = asked("used")
            seconds = send_all([port], requests)
            used = asked("used")
            assert isinstance(used, float)
            assert isinstance(before, float)
            costs.append((used - before) / UPLOADS)
            rates.append(UPLOADS / seconds)
        requests = requests_of(who, UPLOADS)
        asked("profile")
        send_all([port], requests)
        causes = asked("causes")
        assert isinstance(causes, dict)
        pipe.send("end")
    finally:
        service.join(60)
    return statistics.median(rates), statistics.median(costs), causes


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
        for name, database in databases.items():
            rate, cost, causes = measure(database)
            print(f"\n{name}: {rate:,.0f} uploads/s, {1e6 * cost:.0f} us of CPU each")
            total = sum(causes.values())
            for cause, seconds in sorted(causes.items(), key=lambda cause: -cause[1]):
                share = seconds / total
                print(f"  {cause:<26}{1e6 * cost * share:>6.0f} us{share:>7.1%}")


if __name__ == "__main__":
    main()
