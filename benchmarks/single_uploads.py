"""Simulated devices that send one report each, directly or as a proxy passes them on."""

import os
import selectors
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "services" / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "services" / "tests" / "service"))

from hostile_connections import request
from shuffler_parties import Parties, upload

AT_ONCE = 200


def requests_of(who: Parties, count: int) -> list[bytes]:
    """Returns complete requests, each with its own token."""
    step = who.step()
    bodies = [upload(step, [token]) for token in who.tokens(count)]
    return [request(who.path(), len(body)) + body for body in bodies]


def send_all(ports: Sequence[int], requests: Sequence[bytes]) -> float:
    """Sends all requests, `AT_ONCE` at a time and to ports in turn; returns seconds."""
    waiting, selector = iter(enumerate(requests)), selectors.DefaultSelector()
    begun, under_way = time.perf_counter(), 0

    def begin() -> Iterator[None]:
        for index, content in waiting:
            connection = socket.create_connection(
                ("127.0.0.1", ports[index % len(ports)])
            )
            connection.sendall(content)
            selector.register(connection, selectors.EVENT_READ)
            yield

    starting = begin()
    for _ in range(AT_ONCE):
        under_way += next(starting, 0) is None
    while under_way:
        for key, _ in selector.select(10.0):
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            answer = connection.recv(4096)
            assert answer.startswith(b"HTTP/1.1 200"), answer
            selector.unregister(connection)
            connection.close()
            under_way -= next(starting, 0) is not None
    selector.close()
    return time.perf_counter() - begun


def send_kept(port: int, requests: Sequence[bytes]) -> None:
    """Sends all requests over `AT_ONCE` connections, as a proxy that keeps them does."""
    waiting, selector = iter(requests), selectors.DefaultSelector()
    for _, content in zip(range(AT_ONCE), waiting, strict=False):
        begun = socket.create_connection(("127.0.0.1", port))
        begun.sendall(content)
        selector.register(begun, selectors.EVENT_READ)
    while selector.get_map():
        for key, _ in selector.select(10.0):
            kept = key.fileobj
            assert isinstance(kept, socket.socket)
            answer = kept.recv(4096)
            assert answer.startswith(b"HTTP/1.1 200"), answer
            content = next(waiting, b"")
            if content:
                kept.sendall(content)
            else:
                selector.unregister(kept)
                kept.close()
    selector.close()


def stay_on(*cores: int) -> None:
    """Binds this process to some cores, and leaves the others to other processes."""
    # Those of the process that started this one may be others.
    number = os.cpu_count() or 1
    os.sched_setaffinity(0, {core % number for core in cores})
