"""One shuffler process and two, over one PostgreSQL: python benchmarks/service_workers.py

Devices send one report each, each on a connection of its own, 200 at a time; with two
processes, to each in turn. Periods of one and of two processes alternate, so that other
load of the machine affects both alike; the ratio is the median over neighbors. Also printed
is the processor time of every part per upload: where devices, services and the database
share two cores, their sum is the limit, and not the number of processes. "Apart" is the
rate of two processes relative to one if devices and the database ran on other machines, by
the processor time of the services alone.
"""

import multiprocessing
import os
import statistics
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import httpx
from machine import describe
from single_uploads import AT_ONCE, requests_of, send_all

sys.path.append(str(Path(__file__).parents[1] / "services" / "tests" / "service"))

import postgres_server
from shuffler_parties import Analyst, Parties, parties

from shuffledp_services.operator.server import run
from shuffledp_services.shuffler.postgres_store import PostgresStore

UPLOADS = 4_000
TURNS = 5

_CONTEXT = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class MeasuredPeriod:
    """Rate and processor time of a period in which all uploads were sent.

    Attributes:
        rate: Uploads per second.
        services: Processor seconds per upload, of all processes of the shuffler.
        database: The same of PostgreSQL.
        devices: The same of the simulated devices.
    """

    rate: float
    services: float
    database: float
    devices: float


def serve(who: Parties, database: str, pipe: Connection) -> None:
    """Runs one process of the shuffler; sends its port."""
    app = who.app(PostgresStore(database), Analyst(who))
    run(app, host="127.0.0.1", port=0, started=pipe.send)


def measure_period(
    who: Parties, services: dict[int, int], postmaster: int
) -> MeasuredPeriod:
    """Sends all uploads.

    Args:
        who: The task.
        services: Ports by process.
        postmaster: The database's first process.
    """
    requests = requests_of(who, UPLOADS)
    before = [_used(services), _used(_family(postmaster)), time.process_time()]
    seconds = send_all(list(services.values()), requests)
    after = [_used(services), _used(_family(postmaster)), time.process_time()]
    used = [(b - a) / UPLOADS for a, b in zip(before, after, strict=True)]
    return MeasuredPeriod(UPLOADS / seconds, *used)


def _family(postmaster: int) -> list[int]:
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text()
    return [postmaster, *map(int, children.split())]


def _used(processes: object) -> float:
    assert isinstance(processes, dict | list)
    ticks = 0
    for pid in processes:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Prints the medians of both, and the ratio."""
    print(describe())
    print(f"{UPLOADS:,} uploads a period, {TURNS} turns, {AT_ONCE} devices at a time")
    who = parties(tokens=(2 * TURNS + 1) * UPLOADS, minimum=10**6)
    with ExitStack() as stack:
        server = stack.enter_context(postgres_server.server())
        lines = (server.folder / "data" / "postmaster.pid").read_text().splitlines()
        services = dict[int, int]()
        for _ in range(2):
            pipe, service_pipe = _CONTEXT.Pipe()
            process = _CONTEXT.Process(
                target=serve, args=(who, server.address, service_pipe)
            )
            process.start()
            stack.callback(process.join, 60)
            stack.callback(process.terminate)
            port = httpx.URL(pipe.recv()).port
            assert port is not None
            assert process.pid is not None
            services[process.pid] = port
        first = dict(list(services.items())[:1])
        measure_period(who, services, int(lines[0]))
        pairs = [
            (
                measure_period(who, first, int(lines[0])),
                measure_period(who, services, int(lines[0])),
            )
            for _ in range(TURNS)
        ]
    print(f"{'':<8}{'uploads/s':>12}{'services':>12}{'database':>12}{'devices':>12}")
    for name, periods in zip(("one", "two"), zip(*pairs, strict=True), strict=True):
        row = [
            1e6 * statistics.median(getattr(period, part) for period in periods)
            for part in ("services", "database", "devices")
        ]
        rate = statistics.median(period.rate for period in periods)
        print(f"{name:<8}{rate:>12,.0f}" + "".join(f"{part:>9.0f} us" for part in row))
    ratio = statistics.median(two.rate / single.rate for single, two in pairs)
    apart = statistics.median(
        2.0 * single.services / two.services for single, two in pairs
    )
    print(f"two / one: {ratio:.2f}; apart: {apart:.2f}")


if __name__ == "__main__":
    main()
