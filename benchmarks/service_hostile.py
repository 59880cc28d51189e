"""Throughput of uploads under floods: python benchmarks/service_hostile.py [CONNECTIONS]

An attacker without a token holds a number of connections to the shuffler (2,000 by
default): each until the service ends it, and then another one. Honest devices send one
report each, every one on a connection of its own, 200 at a time. Undisturbed and attacked
periods alternate, so that other load of the machine affects both alike; the share is the
number of reports taken per second under attack over that just before and after: the median
and the smallest of all turns. On a loaded machine, the share per second of the service's
own processor time is more reliable than that by wall-clock time; most reliable is the share
of the first core that an attack takes alone.

The service runs on the first core, devices and attackers on the others. An attack from the
same machine takes processor time there, too: so attacks have a rate, which is printed as
connections that the service ended per second. `FORGED_PER_SECOND` limits the rate of bodies
of 8 MiB with forged tokens.
"""

import multiprocessing
import os
import selectors
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path

import httpx
from machine import describe

sys.path.append(str(Path(__file__).parents[1] / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "services" / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "services" / "tests" / "service"))

from hostile_connections import Attack, Crowd, attacks, request
from live_services import peak_memory
from shuffler_parties import Analyst, Parties, parties, upload

from shuffledp_services.operator.server import run
from shuffledp_services.shuffler.sqlite_store import SqliteStore

TURNS = 5
SPELL_SECONDS = 5.0
WARM_UP_SECONDS = 10.0
MOST_PER_SECOND = 2_500
AT_ONCE = 200
FORGED_PER_SECOND = 20

_CONTEXT = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class AttackedPeriod:
    """Rates of a measured period, per second.

    Attributes:
        taken: Reports that devices got receipts for.
        busy: Seconds of the service's processor time.
        ended: Hostile connections that the service ended.
    """

    taken: float
    busy: float
    ended: float


def main() -> None:
    """Prints one row per attack."""
    connections = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    print(describe())
    print(f"{connections:,} hostile connections; {AT_ONCE} devices at a time")
    titles = (
        *("undisturbed", "attacked", "share", "least"),
        *("per CPU s", "alone", "ended/s", "MB"),
    )
    print(f"{'attack':<18}" + "".join(f"{title:>13}" for title in titles))
    middle = statistics.median
    for name in (*attacks(parties().step()), "mixed"):
        quiet, alone, loud, peak = measure(name, connections)
        around = [
            (before.taken + after.taken, before.busy + after.busy)
            for before, after in pairwise(quiet)
        ]
        by_clock = [2.0 * b.taken / a for (a, _), b in zip(around, loud, strict=True)]
        by_processor = [
            (b.taken / b.busy) / (a / busy)
            for (a, busy), b in zip(around, loud, strict=True)
        ]
        print(
            f"{name:<18}{middle(a.taken for a in quiet):>11,.0f}/s"
            f"{middle(b.taken for b in loud):>11,.0f}/s"
            f"{middle(by_clock):>13.3f}{min(by_clock):>13.3f}"
            f"{middle(by_processor):>13.3f}"
            f"{middle(a.busy for a in alone):>13.3f}"
            f"{middle(b.ended for b in loud):>13,.0f}{peak:>13.0f}",
            flush=True,
        )


def measure(
    name: str, connections: int
) -> tuple[list[AttackedPeriod], list[AttackedPeriod], list[AttackedPeriod], float]:
    """Measures devices alone, the attack alone and both; and the service's memory.

    The memory is the peak in MB.
    """
    who = parties(
        tokens=round(MOST_PER_SECOND * (1.0 + (2 * TURNS + 1) * SPELL_SECONDS))
    )
    known = attacks(who.step())
    kinds = list(known.values()) if name == "mixed" else [known[name]]
    chosen = [kinds[index % len(kinds)] for index in range(connections)]
    quiet, alone, loud = [], [], []
    with tempfile.TemporaryDirectory() as folder, serving(who, folder) as (pid, port):
        devices(who, port, pid, seconds=1.0)
        quiet.append(devices(who, port, pid))
        for _ in range(TURNS):
            with attacked(port, chosen) as attacker:
                alone.append(no_devices(pid, attacker))
                loud.append(devices(who, port, pid, attacker))
            # What is left of it ends by itself.
            time.sleep(2.0)
            quiet.append(devices(who, port, pid))
        return quiet, alone, loud, peak_memory(pid)


@contextmanager
def serving(who: Parties, folder: str) -> Iterator[tuple[int, int]]:
    """Runs the service on the first core; yields its process and port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    service = _CONTEXT.Process(target=_serve, args=(who, folder, port), daemon=True)
    service.start()
    assert service.pid is not None
    try:
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{port}/health")
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield service.pid, port
    finally:
        service.terminate()
        service.join()


def _serve(who: Parties, folder: str, port: int) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    store = SqliteStore(Path(folder) / "shuffler.db")
    run(who.app(store, Analyst(who)), host="127.0.0.1", port=port)


def devices(
    who: Parties,
    port: int,
    pid: int,
    attacker: Connection | None = None,
    *,
    seconds: float = SPELL_SECONDS,
) -> AttackedPeriod:
    """Measures a period with honest devices."""
    step = who.step()
    # More than there is time for.
    bodies = [
        upload(step, [token]) for token in who.tokens(round(MOST_PER_SECOND * seconds))
    ]
    requests = [request(who.path(), len(body)) + body for body in bodies]
    with _CONTEXT.Pool(1, _off_the_first_core) as pool:
        # Started before anything is measured.
        pool.apply(os.getpid)
        used, ended = _processor_seconds(pid), _ended(attacker)
        taken, took = pool.apply(_send, (port, requests, seconds))
        used, ended = _processor_seconds(pid) - used, _ended(attacker) - ended
    return AttackedPeriod(taken / took, used / took, ended / took)


def no_devices(pid: int, attacker: Connection) -> AttackedPeriod:
    """Measures a period without devices."""
    used, ended, begun = _processor_seconds(pid), _ended(attacker), time.perf_counter()
    time.sleep(SPELL_SECONDS)
    used, ended = _processor_seconds(pid) - used, _ended(attacker) - ended
    took = time.perf_counter() - begun
    return AttackedPeriod(0.0, used / took, ended / took)


def _ended(attacker: Connection | None) -> int:
    if attacker is None:
        return 0
    attacker.send(True)
    ended: int = attacker.recv()
    return ended


def _send(port: int, requests: list[bytes], seconds: float) -> tuple[int, float]:
    waiting, taken = iter(requests), 0
    selector = selectors.DefaultSelector()

    def begin() -> None:
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(next(waiting))
        selector.register(connection, selectors.EVENT_READ)

    for _ in range(AT_ONCE):
        begin()
    begun = time.perf_counter()
    while (now := time.perf_counter()) < begun + seconds:
        for key, _ in selector.select(1.0):
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            answer = connection.recv(4096)
            assert answer.startswith(b"HTTP/1.1 200"), answer
            selector.unregister(connection)
            connection.close()
            taken += 1
            begin()
    return taken, now - begun


@contextmanager
def attacked(port: int, chosen: list[Attack]) -> Iterator[Connection]:
    """Attacks in a process of its own, which reports the number of ended connections."""
    pipe, attacker_pipe = _CONTEXT.Pipe()
    attacker = _CONTEXT.Process(
        target=_attack, args=(port, chosen, attacker_pipe), daemon=True
    )
    attacker.start()
    try:
        # The attacker reports that all connections are open.
        pipe.recv()
        yield pipe
    finally:
        attacker.kill()
        attacker.join()


def _attack(port: int, chosen: list[Attack], pipe: Connection) -> None:
    _off_the_first_core()
    # Spread, as not to be ended all at one moment.
    begin = len(chosen) / WARM_UP_SECONDS
    crowd = Crowd(port, chosen, begin=begin, flood=FORGED_PER_SECOND)
    crowd.run(1.2 * WARM_UP_SECONDS)
    pipe.send(True)
    while True:
        crowd.run(0.1)
        if pipe.poll() and pipe.recv():
            pipe.send(crowd.ended)


def _off_the_first_core() -> None:
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[1:] or cores)


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
