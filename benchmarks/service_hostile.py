"""What floods cost honest people: python benchmarks/service_hostile.py [CONNECTIONS]

Somebody without a token holds so many connections to the shuffler (2,000 if no number is
given): each until the service ends it, and then another one. Honest devices send one report
each, every one on a connection of its own, eight at a time. Undisturbed and attacked spells
take turns, so that whatever else the machine does meets both alike; the share is that of
reports taken per second under attack to those taken undisturbed.

The service runs on the first core, devices and attackers on the others. Whoever attacks
from the same machine pays for it there, too: so attacks have a rate, which is printed as
connections that the service ended per second. Bodies of 8 MiB with forged tokens begin at
most so many times per second as `FORGED_PER_SECOND` says.
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
from multiprocessing.connection import Connection
from pathlib import Path

import httpx
from machine import describe

sys.path.append(str(Path(__file__).parents[1] / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "tests" / "service"))

from hostile_connections import Attack, Crowd, attacks, request
from shuffler_parties import Analyst, Parties, parties, upload

from shuffledp.service.run import run
from shuffledp.service.shuffler.sqlite_store import SqliteStore

TURNS = 3
SPELL_SECONDS = 5.0
WARM_UP_SECONDS = 10.0
AT_ONCE = 8
FORGED_PER_SECOND = 20

_CONTEXT = multiprocessing.get_context("spawn")


def main() -> None:
    """Prints one row per attack."""
    connections = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    print(describe())
    print(f"{connections:,} hostile connections; {AT_ONCE} devices at a time")
    titles = ("undisturbed", "attacked", "share", "ended/s", "CPU", "peak MB")
    print(f"{'attack':<18}" + "".join(f"{title:>13}" for title in titles))
    for name in (*attacks(parties().step()), "mixed"):
        row = measure(name, connections)
        quiet, attacked, share, ended, busy, peak = row
        print(
            f"{name:<18}{quiet:>11,.0f}/s{attacked:>11,.0f}/s{share:>13.3f}"
            f"{ended:>13,.0f}{busy:>13.2f}{peak:>13.0f}"
        )


def measure(name: str, connections: int) -> tuple[float, ...]:
    """Returns reports per second undisturbed and attacked, the median of their ratios over
    all turns, hostile connections that ended per second, the service's share of its core
    under attack, and its largest memory in MB.
    """
    who = parties()
    known = attacks(who.step())
    kinds = list(known.values()) if name == "mixed" else [known[name]]
    chosen = [kinds[place % len(kinds)] for place in range(connections)]
    quiet, loud, ended, busy = [], [], [], []
    with tempfile.TemporaryDirectory() as folder, serving(who, folder) as (pid, port):
        devices(who, port, seconds=1.0)
        for _ in range(TURNS):
            quiet.append(devices(who, port))
            with attacked(port, chosen) as pipe:
                begun, used, before = _state(pid, pipe)
                loud.append(devices(who, port))
                now, total, after = _state(pid, pipe)
                ended.append((after - before) / (now - begun))
                busy.append((total - used) / (now - begun))
            # What is left of it ends by itself.
            time.sleep(2.0)
        peak = _peak_megabytes(pid)
    ratios = [b / a for a, b in zip(quiet, loud, strict=True)]
    middle = statistics.median
    return (*map(middle, (quiet, loud, ratios, ended, busy)), peak)


def _state(pid: int, attacker: Connection) -> tuple[float, float, int]:
    attacker.send(True)
    return time.perf_counter(), _processor_seconds(pid), attacker.recv()


@contextmanager
def serving(who: Parties, folder: str) -> Iterator[tuple[int, int]]:
    """Runs the service on the first core; gives its process and port."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
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


def devices(who: Parties, port: int, seconds: float = SPELL_SECONDS) -> float:
    """Returns the reports that honest devices had receipts for, per second."""
    step = who.step()
    # More than there is time for.
    bodies = [upload(step, [token]) for token in who.tokens(int(3_000 * seconds))]
    requests = [request(who.path(), len(body)) + body for body in bodies]
    with _CONTEXT.Pool(1, _off_the_first_core) as pool:
        return pool.apply(_send, (port, requests, seconds))


def _send(port: int, requests: list[bytes], seconds: float) -> float:
    waiting, taken = iter(requests), 0
    selector = selectors.DefaultSelector()

    def begin() -> None:
        one = socket.create_connection(("127.0.0.1", port))
        one.sendall(next(waiting))
        selector.register(one, selectors.EVENT_READ)

    for _ in range(AT_ONCE):
        begin()
    begun = time.perf_counter()
    while (now := time.perf_counter()) < begun + seconds:
        for key, _ in selector.select(1.0):
            one = key.fileobj
            assert isinstance(one, socket.socket)
            answer = one.recv(4096)
            assert answer.startswith(b"HTTP/1.1 200"), answer
            selector.unregister(one)
            one.close()
            taken += 1
            begin()
    return taken / (now - begun)


@contextmanager
def attacked(port: int, chosen: list[Attack]) -> Iterator[Connection]:
    """Attacks in a process of its own, which says how many connections ended so far."""
    here, there = _CONTEXT.Pipe()
    attacker = _CONTEXT.Process(target=_attack, args=(port, chosen, there), daemon=True)
    attacker.start()
    try:
        # All are there.
        here.recv()
        yield here
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


def _peak_megabytes(pid: int) -> float:
    [line] = [
        row
        for row in Path(f"/proc/{pid}/status").read_text().splitlines()
        if row.startswith("VmHWM")
    ]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
