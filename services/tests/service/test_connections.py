"""Connections and bodies that are only in the way, at a service with shorter limits."""

import asyncio
import contextlib
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

import httpx
import numpy as np
import pytest
from hostile_connections import Crowd, attacks, request
from live_services import PROCESSES, free_ports, peak_memory
from shuffler_parties import Analyst, Client, Parties, exact, parties, reason, upload
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shuffledp_services.http import guarded_connection
from shuffledp_services.http.body_timeout import TimedBody
from shuffledp_services.operator import server
from shuffledp_services.shuffler import upload_bodies
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.wire.tokens import TOKEN_SIZE
from shuffledp_services.wire.upload_format import (
    max_reports,
    report_size,
    write_header,
)

# Of headers and bodies, in place of ten seconds.
_SECONDS = 0.5
_PATIENCE = 20.0
# As large as a page and what it needs.
_LARGE = np.arange(2**15 + 1).tobytes()


@dataclass(frozen=True)
class Service:
    """A shuffler in a process of its own."""

    who: Parties
    port: int
    folder: Path
    process: BaseProcess

    def connect(self, said: bytes = b"") -> socket.socket:
        one = socket.create_connection(("127.0.0.1", self.port), _PATIENCE)
        one.sendall(said)
        return one

    def post(self, content: bytes) -> httpx.Response:
        url = f"http://127.0.0.1:{self.port}{self.who.path('/reports')}"
        return httpx.post(url, content=content, trust_env=False, timeout=_PATIENCE)

    def begin_upload(self, content: bytes, sent: int) -> socket.socket:
        """Announces an upload, and sends only so many bytes of it."""
        return self.connect(request(self.who.path(), len(content)) + content[:sent])


async def _large(_request: Request) -> Response:
    return Response(_LARGE)


def _serve(who: Parties, port: int, folder: Path, files: int, seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(files, 64), files))
    guarded_connection._HEADER_SECONDS = guarded_connection._WRITE_SECONDS = seconds
    guarded_connection._LINGER_SECONDS = 0.2
    upload_bodies._GRACE_SECONDS = upload_bodies._SHORT_SECONDS = seconds
    server._LAST_SECONDS = 1
    app = who.app(SqliteStore(folder / "shuffler.db"), Analyst(who))
    app.router.routes.append(Route("/large", _large))
    server.run(app, host="127.0.0.1", port=port)


@contextmanager
def service(
    folder: Path, *, files: int = 2_000, seconds: float = _SECONDS
) -> Iterator[Service]:
    who, [port] = parties(), free_ports(1)
    setup = (who, port, folder, files, seconds)
    process = PROCESSES.Process(target=_serve, args=setup)
    process.start()
    try:
        for _ in range(1_000):
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False)
                break
            time.sleep(0.01)
        yield Service(who, port, folder, process)
    finally:
        process.kill()
        process.join()


def heard(one: socket.socket) -> bytes:
    """Everything that is said before the connection ends, however that is."""
    found = b""
    with one, contextlib.suppress(ConnectionError):
        while part := one.recv(4096):
            found += part
    return found


def ends(one: socket.socket) -> float:
    """Seconds until the connection is ended."""
    begun = time.monotonic()
    heard(one)
    return time.monotonic() - begun


def forged(who: Parties, *, first: bytes = b"") -> bytes:
    """As many reports as fit, with forged tokens, or one that is not."""
    step, rng = who.step(), np.random.default_rng(1)
    shape = (max_reports(step), report_size(step))
    rows = rng.integers(0, 256, shape, dtype=np.uint8)
    # Levels that are offered.
    rows[:, TOKEN_SIZE : TOKEN_SIZE + 2] = 0
    content = rows.tobytes()
    return write_header(step) + first + content[len(first) :]


@pytest.mark.slow
def test_headers_are_whole_in_time_or_the_connection_is_ended(tmp_path: Path) -> None:
    get = b"GET /health HTTP/1.1\r\nHost: x\r\n"
    with service(tmp_path) as one:
        silent, partial = one.connect(), one.connect(get)
        idle, again = one.connect(get + b"\r\n"), one.connect(get + b"\r\n" + get)
        found = [ends(each) for each in (silent, partial, idle, again)]
        whole = heard(one.connect(get + b"Connection: close\r\n\r\n"))

    assert max(found) < 2.0
    assert whole.startswith(b"HTTP/1.1 200")


def test_headers_byte_by_byte_gain_no_time(tmp_path: Path) -> None:
    with service(tmp_path) as one:
        slow, sent = one.connect(b"GET / HTTP/1.1\r\n"), 0
        begun = time.monotonic()
        with slow, contextlib.suppress(ConnectionError):
            while time.monotonic() < begun + 5.0:
                slow.sendall(b"a")
                sent += 1
                time.sleep(0.05)

    assert 5 <= sent <= 40


@pytest.mark.slow
def test_one_connection_with_endless_headers_takes_no_memory(tmp_path: Path) -> None:
    with service(tmp_path) as one:
        before = peak_memory(one.process.pid)
        for what in (b"X-A: " + b"a" * 2**20, b"X-A: b\r\n" * 2**17):
            endless = one.connect(b"GET / HTTP/1.1\r\nHost: x\r\n")
            with contextlib.suppress(ConnectionError):
                for _ in range(64):
                    endless.sendall(what)
            said = heard(endless)
            assert said == b"" or said.startswith(b"HTTP/1.1 4"), said[:100]
        after = peak_memory(one.process.pid)

    # It was given 128 MiB.
    assert after - before < 5.0


def test_no_extra_that_is_installed_changes_how_requests_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    configs = []

    class Server(server._Server):
        def run(self, sockets: list[socket.socket] | None = None) -> None:
            self.config.load()
            configs.append(self.config)

    monkeypatch.setattr(server, "_Server", Server)
    who = parties()
    server.run(who.app(SqliteStore(tmp_path / "db"), Analyst(who)), host="::1", port=0)

    [config] = configs
    assert config.http_protocol_class is guarded_connection.GuardedConnection
    assert config.ws_protocol_class is None
    assert config.loop == "asyncio"
    assert config.h11_max_incomplete_event_size == 2**14


def test_a_first_token_is_looked_at_before_anything_else_is_sent(
    tmp_path: Path,
) -> None:
    with service(tmp_path) as one:
        content = forged(one.who)
        other = write_header(parties().step()) + content[26:]
        begun = time.monotonic()
        answers = [
            heard(one.begin_upload(content, 58)),
            heard(one.begin_upload(other, 58)),
            # And of what is sent all the same nothing is kept.
            heard(one.begin_upload(content, 2**19)),
        ]
        took = time.monotonic() - begun
        whole = one.post(content)

    for answer, status in zip(answers, (403, 404, 403), strict=True):
        assert answer.startswith(f"HTTP/1.1 {status}".encode()), answer
        assert len(answer) < 1_000
    assert took < 2.0
    # Somebody honest with an old token hears why.
    assert reason(whole) == "token-forged"


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_an_answer_arrives_though_its_request_is_still_on_the_way(
    version: str, tmp_path: Path
) -> None:
    # Proxies give up an answer if they cannot write the rest of its request.
    with service(tmp_path) as one:
        content = forged(one.who)
        headers = request(one.who.path(), len(content)).replace(
            b"1.1\r\n", f"{version}\r\nConnection: close\r\n".encode()
        )
        early = one.connect(headers + content[:58])
        begin = early.recv(12)
        for _ in range(8):
            early.sendall(bytes(2**16))
            time.sleep(0.01)
        end = heard(early)

    assert begin == b"HTTP/1.1 403"
    assert b"token-forged" in end


def test_bodies_without_a_token_hold_nothing(tmp_path: Path) -> None:
    with service(tmp_path) as one:
        content = forged(one.who)
        before = peak_memory(one.process.pid)
        stalled = [one.begin_upload(content, 57) for _ in range(40)]
        answer = one.post(upload(one.who.step(), one.who.tokens(3)))
        said = [heard(each) for each in stalled]
        after = peak_memory(one.process.pid)

    assert answer.json()["accepted"] == 3
    # Not even an answer.
    assert said == [b""] * 40
    assert after - before < 10.0


def test_forged_reports_behind_a_good_one_are_refused_in_few_words(
    tmp_path: Path,
) -> None:
    who = parties()
    step, [good] = who.step(), who.tokens(1)
    mostly_forged = forged(who, first=good)
    rows = np.frombuffer(mostly_forged[26:], np.uint8).reshape(-1, report_size(step))
    repeated, elsewhere = rows.copy(), rows.copy()
    repeated[:, :TOKEN_SIZE] = rows[0, :TOKEN_SIZE]
    elsewhere[1:, TOKEN_SIZE : TOKEN_SIZE + 2] = 255
    bodies = {
        "token-forged": mostly_forged,
        "token-spent": write_header(step) + repeated.tobytes(),
        "unknown-level": write_header(step) + elsewhere.tobytes(),
    }

    with Client(who.app(SqliteStore(tmp_path / "db"), Analyst(who))) as client:
        begun = time.process_time()
        answers = {
            name: client.post(who.path("/reports"), content=content)
            for name, content in bodies.items()
        }
        took = time.process_time() - begun
        status = client.get(who.path()).json()
        fine = client.post(who.path("/reports"), content=upload(step, [good]))

    for name, answer in answers.items():
        assert reason(answer) == name
        assert len(answer.content) < 500
    assert status["refused"] == dict.fromkeys(sorted(bodies), 1)
    assert sum(status["people"]) == 0
    # Nothing of the first token was spent.
    assert fine.json()["accepted"] == 1
    assert took < 1.5


@pytest.mark.slow
def test_a_body_that_comes_too_slowly_is_given_up_and_holds_up_nobody(
    tmp_path: Path,
) -> None:
    with service(tmp_path) as one:
        content = upload(one.who.step(), one.who.tokens(9))
        slow, sent = one.begin_upload(content, 58), 58
        quick = one.post(upload(one.who.step(), one.who.tokens(9)))
        with contextlib.suppress(ConnectionError):
            while sent < len(content):
                slow.sendall(content[sent : sent + 1])
                sent += 1
                time.sleep(0.05)
        answer = heard(slow)
        again = one.post(content)

    assert quick.json()["accepted"] == 9
    assert sent < len(content)
    assert b"malformed" in answer or answer == b""
    assert again.json()["accepted"] == 9


@pytest.mark.slow
def test_a_command_that_is_slow_or_long_is_given_up_whoever_sends_it(
    tmp_path: Path,
) -> None:
    with service(tmp_path, seconds=0.5) as one:
        root = f"http://127.0.0.1:{one.port}"
        with httpx.Client(base_url=root, trust_env=False) as client:
            command = one.who.next_command(client, "status")
        begin = (
            f"POST {one.who.path('/commands')} HTTP/1.1\r\nHost: x\r\n"
            f"Content-Length: {len(command)}\r\n\r\n"
        ).encode()
        took = ends(one.connect(begin + command[:100]))
        url = f"http://127.0.0.1:{one.port}{one.who.path('/commands')}"
        long = httpx.post(url, content=bytes(10_000), trust_env=False)
        whole = httpx.post(url, content=command, trust_env=False)

    assert took < 5.0
    assert (long.status_code, whole.status_code) == (413, 200)


def test_a_body_has_to_keep_its_pace() -> None:
    async def seconds(sizes: list[int], pause: float) -> float:
        async def parts() -> AsyncIterator[bytes]:
            for size in sizes:
                yield bytes(size)
                await asyncio.sleep(pause)

        loop = asyncio.get_running_loop()
        begun = loop.time()
        with contextlib.suppress(TimeoutError):
            async for _ in TimedBody(parts(), grace=0.2, rate=1_000):
                # What the receiver takes does not count.
                await asyncio.sleep(0.02)
            return 0.0
        return loop.time() - begun

    async def all_of_them() -> tuple[float, float, float]:
        return await asyncio.gather(
            seconds([100] * 5, 0.05),
            seconds([10] * 100, 0.05),
            seconds([10_000] * 2, 1.0),
        )

    quick, slow, stalled = asyncio.run(all_of_them())

    assert quick == 0.0
    # It earns 0.01 s per part, and needs 0.05.
    assert 0.2 < slow < 1.0
    # What came before buys no longer silence.
    assert 0.2 <= stalled < 0.5


@pytest.mark.slow
def test_newcomers_get_in_however_many_strangers_are_there(tmp_path: Path) -> None:
    # So few files that there are 50 places.
    with service(tmp_path, files=200) as one:
        known = attacks(one.who.step())
        kinds = [known["partial headers"], known["stalled bodies"]]
        crowd = Crowd(one.port, kinds * 100, begin=2_000.0)
        held = one.begin_upload(upload(one.who.step(), one.who.tokens(2)), 100)
        flood = threading.Thread(target=crowd.run, args=(3.0,))
        flood.start()
        time.sleep(0.2)
        ended = [
            _asked_again(one, upload(one.who.step(), one.who.tokens(1)))
            for _ in range(20)
        ]
        # Whoever began with a good token is no stranger, and keeps her place.
        held_out = heard(held)
        flood.join()
        crowd.close()
        memory = peak_memory(one.process.pid)

    assert [answer.status_code for answer in ended] == [200] * 20
    assert crowd.ended > 200
    assert held_out.startswith(b"HTTP/1.1 400")
    assert memory < 150


def _asked_again(one: Service, content: bytes) -> httpx.Response:
    """Posts as devices do: once more, if the connection ends without an answer."""
    # On a busy machine a newcomer's place may be given away before its first byte arrives.
    for _ in range(2):
        with contextlib.suppress(httpx.TransportError):
            return one.post(content)
    return one.post(content)


def _unread(one: Service, count: int = 5) -> list[socket.socket]:
    """Connections that ask for something large, and do not take it."""
    greedy = [socket.socket() for _ in range(count)]
    for each in greedy:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        each.connect(("127.0.0.1", one.port))
        each.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    return greedy


@pytest.mark.slow
def test_answers_that_nobody_takes_do_not_pile_up(tmp_path: Path) -> None:
    with service(tmp_path) as one:
        ask = b"GET /large HTTP/1.0\r\n\r\n"
        # All of it comes to whoever takes it.
        whole = heard(one.connect(ask)).partition(b"\r\n\r\n")[2]
        before = peak_memory(one.process.pid)
        greedy = _unread(one, 500)
        time.sleep(4 * _SECONDS)
        after = peak_memory(one.process.pid)
        taken = [len(heard(each)) for each in greedy]

    assert whole == _LARGE
    # So many may wait, where the machine is too busy to have ended them by now.
    assert sum(size < len(_LARGE) for size in taken) >= 500 - 128
    # 125 MiB were asked for.
    assert after - before < 40.0


def test_whoever_asks_on_without_taking_answers_is_left_alone(tmp_path: Path) -> None:
    ask = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    with service(tmp_path) as one:
        many = heard(one.connect(ask * 100))
        patient, answers = one.connect(), []
        for _ in range(3):
            patient.sendall(ask)
            answers.append(b"")
            while not answers[-1].endswith(b"}"):
                answers[-1] += patient.recv(4_096)
        patient.close()

    assert many.count(b"HTTP/1.1") == 1
    assert all(answer.startswith(b"HTTP/1.1 200") for answer in answers)


@pytest.mark.slow
def test_thousands_of_empty_headers_are_not_read(tmp_path: Path) -> None:
    with service(tmp_path) as one:
        lines = [b"a:\r\n" * count for count in (90, 4_000)]
        few, many = (
            heard(one.connect(b"GET /health HTTP/1.0\r\n" + line + b"\r\n"))
            for line in lines
        )

    assert few.startswith(b"HTTP/1.1 200")
    assert many == b""


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n\0\0\0\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
        b"Connection: upgrade\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nx",
        b"POST /health HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
        b"Content-Length: 5\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_nonsense_is_ended_soon_and_leaves_nothing(said: bytes, tmp_path: Path) -> None:
    with service(tmp_path) as one:
        seconds = [ends(one.connect(said)) for _ in range(3)]
        answer = one.post(upload(one.who.step(), one.who.tokens(1)))

    assert max(seconds) < 2.0
    assert answer.json()["accepted"] == 1


def _stalled(one: Service) -> list[socket.socket]:
    content = upload(one.who.step(), one.who.tokens(50))
    return [one.begin_upload(content, 1_000) for _ in range(5)]


@pytest.mark.slow
@pytest.mark.parametrize("busy", [_stalled, _unread])
def test_a_stop_comes_soon_and_keeps_what_has_a_receipt(
    busy: Callable[[Service], list[socket.socket]], tmp_path: Path
) -> None:
    # No connection ends by itself.
    with service(tmp_path, seconds=60.0) as one:
        receipts = [
            one.post(upload(one.who.step(), one.who.tokens(2))).json() for _ in range(3)
        ]
        held = [*busy(one), one.connect(b"GET / HT"), one.connect()]
        begun = time.monotonic()
        assert one.process.pid is not None
        os.kill(one.process.pid, signal.SIGTERM)
        one.process.join(_PATIENCE)
        took = time.monotonic() - begun
        for each in held:
            each.close()
    with Client(
        one.who.app(SqliteStore(tmp_path / "shuffler.db"), Analyst(one.who))
    ) as client:
        status = exact(client, one.who)

    # A second is what requests under way are given here.
    assert took < 3.0
    assert one.process.exitcode == -signal.SIGTERM
    assert sum(status["people"]) == sum(each["accepted"] for each in receipts) == 6
