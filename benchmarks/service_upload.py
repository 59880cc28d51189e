"""Reports per second into the shuffler: python benchmarks/service_upload.py [FOLDER]

A million reports of one sealed message (X25519), 4,000 in an upload, eight uploads at a
time, over HTTP on this machine; every token is issued and checked, every commit durable.
The messages are random bytes, which the shuffler cannot tell from sealed ones. The service
runs on one core; devices and a database server on the others. Then the step is closed. On a
loaded machine, reports per second of the service's own processor time are more reliable
than those by wall-clock time.

FOLDER is the folder of the databases, on the disk to be measured. PostgreSQL is measured if
it is installed, with its default settings.
"""

import asyncio
import multiprocessing
import os
import secrets
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path

import httpx
import numpy as np
from machine import describe

sys.path.append(str(Path(__file__).parents[1] / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "services" / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "services" / "tests" / "service"))

import postgres_server
from live_services import peak_memory
from shuffler_parties import Analyst, Parties, parties

from shuffledp_services.operator.server import run
from shuffledp_services.shuffler.postgres_store import PostgresStore
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.wire.tokens import TOKEN_SIZE
from shuffledp_services.wire.upload_format import (
    HEADER_SIZE,
    report_size,
    write_header,
)

REPORTS = 1_000_000
PER_UPLOAD = 4_000
AT_ONCE = 8


def serve(who: Parties, database: str, pipe: Connection) -> None:
    """Runs the service on the first core; sends its address, then its usage so far."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    postgres = database.startswith("postgresql:")
    store = PostgresStore(database) if postgres else SqliteStore(Path(database))
    # The analyst is not part of it: she does not answer.
    analyst = Analyst(who, [lambda: httpx.Response(503)] * 10**6)

    def watch() -> None:
        while pipe.recv():
            pipe.send((time.process_time(), peak_memory(os.getpid())))
        os.kill(os.getpid(), signal.SIGTERM)

    def started(url: str) -> None:
        pipe.send(url)
        threading.Thread(target=watch, daemon=True).start()

    run(who.app(store, analyst), host="127.0.0.1", port=0, started=started)


def uploads(who: Parties) -> Sequence[bytes]:
    """Returns bodies of uploads, each with its own tokens."""
    step = who.step()
    size = report_size(step)
    bodies = []
    for _ in range(REPORTS // PER_UPLOAD):
        tokens = b"".join(who.tokens(PER_UPLOAD))
        rows = np.empty((PER_UPLOAD, size), dtype=np.uint8)
        rows[:, :TOKEN_SIZE] = np.frombuffer(tokens, np.uint8).reshape(-1, TOKEN_SIZE)
        levels = np.arange(PER_UPLOAD) % len(who.task.choices)
        rows[:, TOKEN_SIZE], rows[:, TOKEN_SIZE + 1] = 0, levels
        # No message may come twice.
        sealed = secrets.token_bytes(PER_UPLOAD * step.sealed_size)
        rows[:, TOKEN_SIZE + 2 :] = np.frombuffer(sealed, np.uint8).reshape(
            PER_UPLOAD, -1
        )
        bodies.append(write_header(step) + rows.tobytes())
    assert len(bodies[0]) == HEADER_SIZE + PER_UPLOAD * size
    return bodies


async def send(url: str, who: Parties, bodies: Sequence[bytes]) -> None:
    """Sends all uploads."""
    waiting = iter(bodies)
    limits = httpx.Limits(max_connections=AT_ONCE)
    async with httpx.AsyncClient(base_url=url, timeout=600, limits=limits) as client:

        async def sender() -> int:
            accepted = 0
            for body in waiting:
                answer = await client.post(who.path("/reports"), content=body)
                accepted += answer.json()["accepted"]
            return accepted

        counts = await asyncio.gather(*(sender() for _ in range(AT_ONCE)))
    assert sum(counts) == REPORTS


def measure(database: str) -> tuple[float, float, float, float]:
    """Returns seconds of uploads, by the clock and of the service's processor; of the
    close; and the service's memory in MB.
    """
    who = parties(tokens=REPORTS)
    bodies = uploads(who)
    context = multiprocessing.get_context("spawn")
    pipe, service_pipe = context.Pipe()
    service = context.Process(target=serve, args=(who, database, service_pipe))
    service.start()
    try:
        url = pipe.recv()
        pipe.send(True)
        started, _ = pipe.recv()
        begun = time.perf_counter()
        asyncio.run(send(url, who, bodies))
        uploaded = time.perf_counter()
        pipe.send(True)
        busy, _ = pipe.recv()
        with httpx.Client(base_url=url, timeout=600) as client:
            assert who.order(client, "close").status_code == 200
        closed = time.perf_counter()
        pipe.send(True)
        _, peak = pipe.recv()
        pipe.send(False)
        return uploaded - begun, busy - started, closed - uploaded, peak
    finally:
        service.join(60)


def main() -> None:
    """Prints one row per store."""
    print(describe())
    titles = ("reports/s", "per CPU s", "close s", "peak MB")
    print(f"{'store':<12}" + "".join(f"{title:>12}" for title in titles))
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    with ExitStack() as stack:
        temporary = stack.enter_context(tempfile.TemporaryDirectory(dir=folder))
        databases = {"SQLite": str(Path(temporary) / "shuffler.db")}
        if postgres_server.missing() is None:
            running = stack.enter_context(postgres_server.server())
            databases["PostgreSQL"] = running.address
        for name, database in databases.items():
            clock, busy, close, peak = measure(database)
            print(
                f"{name:<12}{REPORTS / clock:>12,.0f}{REPORTS / busy:>12,.0f}"
                f"{close:>12.2f}{peak:>12.0f}"
            )


if __name__ == "__main__":
    main()
