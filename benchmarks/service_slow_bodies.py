"""Honest uploads under slow bodies: python benchmarks/service_slow_bodies.py

An attacker has 17 spent tokens, and with each of them sends a body: at once as much that
fewer bytes than a report's are left of all bodies' 128 MiB, and then a byte every few
seconds. A body that the service ends begins again a second later. Meanwhile devices report,
one by one, five a second. The same runs through the documented nginx, where all come from
one address. At the analyst nine attackers fill 64 MiB with manifests, while a shuffler
offers its own. Printed are the number of 100 that were taken at the first attempt, and all
other answers.
"""

import contextlib
import multiprocessing
import os
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from machine import describe

sys.path.append(str(Path(__file__).parents[1] / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "services" / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "services" / "tests" / "service"))

import analyst_parties
import documented_proxy
import shuffler_parties
from hostile_connections import request
from whole_batches import split

from shuffledp_services.analyst.analyst_app import create_analyst
from shuffledp_services.analyst.sqlite_analyst_store import SqliteAnalystStore
from shuffledp_services.operator.server import run
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.wire.batch import MAGIC, MAX_HEADER, PREFIX_SIZE
from shuffledp_services.wire.tokens import TOKEN_SIZE
from shuffledp_services.wire.upload_format import HEADER_SIZE, MAX_BODY, write_header

HONEST = 100
PAUSE_SECONDS = 0.2
SLOW_UPLOADS, SLOW_MANIFESTS = 17, 9
BEGIN_OF_UPLOAD = HEADER_SIZE + TOKEN_SIZE
# Of a slow body: what came in time before earns patience for minutes.
HELD_BACK = 2**17
DRIP_SECONDS = 6.0
# Bytes that slow bodies leave of the room: fewer than a report, or a manifest, and more
# than they drip meanwhile.
LEFT_BY_UPLOADS, LEFT_BY_MANIFESTS = 85, 500

_CONTEXT = multiprocessing.get_context("fork")


def main() -> None:
    """Prints one row per attacked service."""
    print(describe())
    print(f"{'attacked':<24}{'taken':>10}  other answers")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _print("shuffler", under_slow_uploads(folder, through_nginx=False))
        _print("shuffler behind nginx", under_slow_uploads(folder, through_nginx=True))
        _print("analyst", under_slow_manifests(folder))


def under_slow_uploads(folder: Path, *, through_nginx: bool) -> Counter[str]:
    """Counts the answers that devices got."""
    who = shuffler_parties.parties()
    step, path = who.step(), who.path()
    database = folder / f"shuffler-{through_nginx}.db"

    def serve(port: int) -> None:
        app = who.app(SqliteStore(database), shuffler_parties.Analyst(who))
        run(app, host="127.0.0.1", port=port)

    spent = who.tokens(SLOW_UPLOADS)
    size = MAX_BODY - 1
    sizes = _first_parts(SLOW_UPLOADS, MAX_BODY, LEFT_BY_UPLOADS)
    begins = [
        (request(path, size) + write_header(step) + token, part - BEGIN_OF_UPLOAD)
        for token, part in zip(spent, sizes, strict=True)
    ]
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(_serving(serve))
        if through_nginx:
            port = stack.enter_context(documented_proxy.nginx(folder, port))
        url = f"http://127.0.0.1:{port}{path}/reports"
        first = shuffler_parties.upload(step, spent)
        assert httpx.post(url, content=first, trust_env=False).is_success
        stack.enter_context(_slow(port, begins))
        bodies = [shuffler_parties.upload(step, [t]) for t in who.tokens(HONEST)]
        return _answers(url, bodies, httpx.codes.OK)


def under_slow_manifests(folder: Path) -> Counter[str]:
    """Counts the answers that the shuffler got."""
    who = analyst_parties.parties()

    def serve(port: int) -> None:
        store = SqliteAnalystStore(folder / "analyst.db")
        tasks = {who.task.identity: who.hosted}
        run(
            create_analyst(tasks, store, shuffler_url=None), host="127.0.0.1", port=port
        )

    path = f"/tasks/{who.task.identity}/batches"
    headers = request("", PREFIX_SIZE + MAX_HEADER).replace(b"/reports", path.encode())
    begin = headers + MAGIC + MAX_HEADER.to_bytes(4, "big")
    manifest, _ = split(analyst_parties.usual_batch(who))
    sizes = _first_parts(SLOW_MANIFESTS, MAX_HEADER, LEFT_BY_MANIFESTS)
    begins = [(begin, part - PREFIX_SIZE) for part in sizes]
    with _serving(serve) as port, _slow(port, begins):
        url = f"http://127.0.0.1:{port}{path}"
        return _answers(url, [manifest] * HONEST, httpx.codes.ACCEPTED)


def _first_parts(count: int, largest: int, left: int) -> list[int]:
    """Returns the bytes that each body sends at once, to fill all room except `left`."""
    return [largest - HELD_BACK] * (count - 1) + [(count - 1) * HELD_BACK - left]


def _answers(url: str, bodies: list[bytes], good: int) -> Counter[str]:
    answers = Counter[str]()
    for body in bodies:
        time.sleep(PAUSE_SECONDS)
        try:
            answer = httpx.post(url, content=body, trust_env=False, timeout=10.0)
        except httpx.TransportError as error:
            answers[type(error).__name__] += 1
            continue
        status = answer.status_code
        answers["taken" if status == good else str(status)] += 1
    return answers


@contextmanager
def _serving(serve: Callable[[int], None]) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    service = _CONTEXT.Process(target=serve, args=(port,), daemon=True)
    service.start()
    try:
        while True:
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False)
                break
            time.sleep(0.05)
        yield port
    finally:
        service.terminate()
        service.join()


@contextmanager
def _slow(port: int, begins: list[tuple[bytes, int]]) -> Iterator[None]:
    """Sends slow bodies repeatedly; returns when all have begun."""
    over = threading.Event()
    senders = [
        threading.Thread(target=_send_slowly, args=(port, begin, size, over))
        for begin, size in begins
    ]
    for sender in senders:
        sender.start()
    time.sleep(5.0)
    try:
        yield
    finally:
        over.set()
        for sender in senders:
            sender.join()


def _send_slowly(port: int, begin: bytes, size: int, over: threading.Event) -> None:
    while not over.is_set():
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", port), 10.0) as connection,
        ):
            connection.sendall(begin + os.urandom(size))
            while not over.wait(DRIP_SECONDS):
                connection.sendall(bytes(1))
        over.wait(1.0)


def _print(name: str, answers: Counter[str]) -> None:
    taken = answers.pop("taken", 0)
    others = ", ".join(f"{what}: {count}" for what, count in answers.items())
    print(f"{name:<24}{taken:>6}/{HONEST}  {others}", flush=True)


if __name__ == "__main__":
    main()
