"""One shuffler process and two, over one PostgreSQL: python benchmarks/service_workers.py

Devices send one report each, on a connection of its own each, 200 at a time; with two
processes, to each in turn. Spells of one and of two processes take turns, so that whatever
else the machine does meets both alike; the ratio is the median of those of neighbors.
Beside it stands what every part of it used of the processors, per upload: where devices,
services and the database share two cores, their sum is the limit, and not the number of
processes. "Apart" is how many uploads a second two processes could take if devices and the
database were elsewhere, as their own use of processors says, relative to one.
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

sys.path.append(str(Path(__file__).parents[1] / "tests" / "service"))

import postgres_server
from shuffler_parties import Analyst, Parties, parties

from shuffledp.service.operator.server import run
from shuffledp.service.shuffler.postgres_store import PostgresStore

UPLOADS = 4_000
TURNS = 5

_CONTEXT = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Spell:
    """What happened while all uploads were sent.

    Attributes:
        rate: Uploads per second.
        services: Seconds of processors per upload, of all processes of the shuffler.
        database: The same of PostgreSQL.
        devices: The same of what stands for devices.
    """

    rate: float
    services: float
    database: float
    devices: float


def serve(who: Parties, database: str, pipe: Connection) -> None:
    """Runs one process of the shuffler; says where it listens."""
    app = who.app(PostgresStore(database), Analyst(who))
    run(app, host="127.0.0.1", port=0, started=pipe.send)


def spell(who: Parties, services: dict[int, int], postmaster: int) -> Spell:
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
    return Spell(UPLOADS / seconds, *used)


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
    print(f"{UPLOADS:,} uploads a spell, {TURNS} turns, {AT_ONCE} devices at a time")
    who = parties(tokens=(2 * TURNS + 1) * UPLOADS, minimum=10**6)
    with ExitStack() as stack:
        server = stack.enter_context(postgres_server.server())
        lines = (server.folder / "data" / "postmaster.pid").read_text().splitlines()
        services = dict[int, int]()
        for _ in range(2):
            here, there = _CONTEXT.Pipe()
            process = _CONTEXT.Process(target=serve, args=(who, server.address, there))
            process.start()
            stack.callback(process.join, 60)
            stack.callback(process.terminate)
            port = httpx.URL(here.recv()).port
            assert port is not None
            assert process.pid is not None
            services[process.pid] = port
        first = dict(list(services.items())[:1])
        spell(who, services, int(lines[0]))
        pairs = [
            (
                spell(who, first, int(lines[0])),
                spell(who, services, int(lines[0])),
            )
            for _ in range(TURNS)
        ]
    print(f"{'':<8}{'uploads/s':>12}{'services':>12}{'database':>12}{'devices':>12}")
    for name, spells in zip(("one", "two"), zip(*pairs, strict=True), strict=True):
        row = [
            1e6 * statistics.median(getattr(one, part) for one in spells)
            for part in ("services", "database", "devices")
        ]
        rate = statistics.median(one.rate for one in spells)
        print(f"{name:<8}{rate:>12,.0f}" + "".join(f"{part:>9.0f} us" for part in row))
    ratio = statistics.median(two.rate / one.rate for one, two in pairs)
    apart = statistics.median(2.0 * one.services / two.services for one, two in pairs)
    print(f"two / one: {ratio:.2f}; apart: {apart:.2f}")


if __name__ == "__main__":
    main()
