"""Plain requests are answered without h11, with the very bytes that it would write."""

import asyncio
import contextlib
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from shuffler_parties import Analyst, Parties, parties, upload

from shuffledp_services.http.connection_limits import ConnectionLimits
from shuffledp_services.http.guarded_connection import GuardedConnection
from shuffledp_services.http.paced_answers import PacedAnswers
from shuffledp_services.http.plain_requests import (
    PlainRequest,
    PlainResponder,
    parse_plain_request,
)
from shuffledp_services.shuffler import page_files
from shuffledp_services.shuffler.sqlite_store import SqliteStore

HOST = b"Host: x\r\n"
LAST = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
FILES = {"index.html": 900, "page.js": 80_000, "large.js": 1_000_000, "empty.js": 0}


def nothing() -> None:
    """Proves nobody."""


@dataclass
class Ways:
    """The same service twice: connections ask first, or leave all to h11.

    Attributes:
        plain: Whether each request that was read here was answered here.
    """

    who: Parties
    ports: tuple[int, int] = (0, 0)
    plain: list[bool] = field(default_factory=list)
    open: list[ConnectionLimits] = field(default_factory=list)

    async def heard(self, port: int, first: bytes, then: bytes = b"") -> bytes:
        """All that is said to a request, and to another one behind its answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        found = b""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            writer.write(first)
            if then:
                await asyncio.sleep(0.02)
                writer.write(then)
            found = head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head)
            if length is not None and not first.startswith(b"HEAD"):
                found += await reader.readexactly(int(length[1]))
            writer.write(LAST)
            found += await reader.read(-1)
        writer.close()
        return found

    async def both(self, first: bytes, then: bytes = b"") -> list[bytes]:
        """The same of both ways."""
        return [await self.heard(port, first, then) for port in self.ports]


def run(
    folder: Path,
    scenario: Callable[[Ways], Coroutine[Any, Any, Any]],
    **options: Any,
) -> Any:
    """Plays a scenario with a service that listens twice."""
    who = parties()
    app = who.app(SqliteStore(folder / "db"), Analyst(who), **options)
    ways = Ways(who)

    def noted(request: PlainRequest) -> Any:
        answer = app.state.answer_plain(request)
        ways.plain.append(answer is not None)
        return answer

    async def listen(ask: PlainResponder) -> asyncio.Server:
        # An end of idle connections that is not the service's own would be seen.
        config = uvicorn.Config(
            PacedAnswers(app, ask), log_config=None, ws="none", timeout_keep_alive=0
        )
        config.load()
        limits = ConnectionLimits(100)
        ways.open.append(limits)
        loop = asyncio.get_running_loop()
        return await loop.create_server(
            lambda: GuardedConnection(config, limits, {}), "127.0.0.1", 0
        )

    async def play() -> Any:
        async with app.router.lifespan_context(app):
            servers = [await listen(noted), await listen(lambda _request: None)]
            first, second = (server.sockets[0].getsockname()[1] for server in servers)
            ways.ports = first, second
            try:
                return await scenario(ways)
            finally:
                for server in servers:
                    server.close()

    return asyncio.run(play())


@pytest.fixture(autouse=True)
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page whose files are small, large and empty; short patience."""
    folder = tmp_path / "built"
    folder.mkdir()
    for name, size in FILES.items():
        (folder / name).write_bytes(bytes(range(256)) * (size // 256))
    monkeypatch.setattr(page_files, "page_folder", lambda: folder)
    monkeypatch.setattr(
        "shuffledp_services.http.guarded_connection._HEADER_SECONDS", 0.5
    )


def asked(line: str, headers: bytes = HOST, body: bytes = b"") -> bytes:
    return f"{line} HTTP/1.1\r\n".encode() + headers + b"\r\n" + body


def posted(who: Parties, body: bytes, headers: bytes = HOST) -> bytes:
    length = b"Content-Length: %d\r\n" % len(body)
    return asked(f"POST {who.path('/reports')}", headers + length, body)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_what_is_asked_for_most_is_the_same_both_ways(
    method: str, tmp_path: Path
) -> None:
    browser = (
        HOST + b"Connection: keep-alive\r\nAccept: text/html, */*;q=0.8\r\n"
        b'If-None-Match: "abc"\r\nIf-Modified-Since: Mon, 23 Nov 2026 00:00:00 GMT\r\n'
        b"Range: bytes=0-1\r\nCookie: a=b; c\r\nX-Forwarded-For: 1.2.3.4\r\n"
    )

    async def scenario(ways: Ways) -> list[list[bytes]]:
        paths = [ways.who.path(), ways.who.path("/take-part")]
        paths += [f"/take-part/{name}" for name in FILES]
        return [
            await ways.both(asked(f"{method} {path}", headers))
            for path in paths
            for headers in (HOST, browser)
        ] + [[str(ways.plain).encode()]]

    *answers, [plain] = run(tmp_path, scenario)

    for short, usual in answers:
        assert short == usual
        assert short.startswith(b"HTTP/1.1 200 OK\r\n")
        # The connection was kept.
        assert short.endswith(b'{"status":"ok"}')
    assert plain == str([True] * len(answers)).encode()
    assert len(answers[6][0]) > (70_000 if method == "GET" else 300)


ODD = {
    "no host": b"",
    "two hosts": HOST + HOST,
    "a length": HOST + b"Content-Length: 0\r\n",
    "two lengths": HOST + b"Content-Length: 0\r\nContent-Length: 0\r\n",
    "other lengths": HOST + b"Content-Length: 0\r\nContent-Length: 1\r\n",
    "a signed length": HOST + b"Content-Length: +0\r\n",
    "listed lengths": HOST + b"Content-Length: 0, 0\r\n",
    "chunked": HOST + b"Transfer-Encoding: chunked\r\n",
    "chunked and a length": HOST
    + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
    "hidden chunks": HOST + b"Transfer-Encoding:\x0bchunked\r\n",
    "spaced chunks": HOST + b"Transfer-Encoding : chunked\r\n",
    "strange chunks": HOST + b"tRANSFER-eNCODING: xchunked\r\n",
    "folded": HOST + b"A: b\r\n c\r\n",
    "folded first": b" a: b\r\n" + HOST,
    "bare line feed": HOST + b"A: b\nC: d\r\n",
    "bare line ends": b"Host: x\nA: b\n",
    "bare return": HOST + b"A: b\rC: d\r\n",
    "zero": HOST + b"A: b\0\r\n",
    "no space": b"Host:x\r\n",
    "two spaces": b"Host:  x\r\n",
    "a tab": b"Host:\tx\r\n",
    "a space behind": b"Host: x \r\n",
    "nothing": HOST + b"A: \r\n",
    "no colon": HOST + b"A\r\n",
    "no name": HOST + b": b\r\n",
    "high": HOST + b"A: \xff\r\n",
    "underscored": HOST + b"Content_Length: 3\r\n",
    "closing": HOST + b"Connection: close\r\n",
    "closing twice": HOST + b"Connection: keep-alive\r\nConnection: close\r\n",
    "upgrade": HOST + b"Connection: upgrade\r\nUpgrade: h2c\r\n",
    "expecting": HOST + b"Expect: 100-continue\r\n",
    "trailing": HOST + b"TE: trailers\r\n",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_headers_are_for_h11(name: str) -> None:
    for line in ("GET /tasks/a", "HEAD /tasks/a", "POST /tasks/a/reports"):
        for body in (b"", b"0\r\n\r\n"):
            found = parse_plain_request(asked(line, ODD[name], body), nothing)
            # An upload of nothing is not odd.
            assert found is None or (found.method, name) == ("POST", "a length")


@pytest.mark.parametrize(
    "line",
    [
        *("get /tasks/a", "PUT /tasks/a", "OPTIONS *", "GET tasks/a", "GET  /tasks/a"),
        *("GET /tasks/a?b", "GET /tasks/%61", "GET http://x/tasks/a", "GET /a\\b"),
        *("GET /tasks/a HTTP/1.1", "GET /tasks/a#b", "GET /tasks/\u00e4", " GET /"),
    ],
)
def test_odd_request_lines_are_for_h11(line: str) -> None:
    assert parse_plain_request(asked(line), nothing) is None


def test_only_a_whole_request_and_nothing_else_is_plain() -> None:
    get, post = asked("GET /a"), asked("POST /a", HOST + b"Content-Length: 5\r\n")
    plain = parse_plain_request(get, nothing)
    whole = parse_plain_request(post + b"12345", nothing)

    assert plain == ("GET", "/a", b"", nothing)
    assert whole == ("POST", "/a", b"12345", nothing)
    for said in (
        *(
            get + get,
            get + b"\r\n",
            get[:-1],
            b"\r\n" + get,
            get.replace(b"1.1", b"1.0"),
        ),
        *(post, post + b"1234", post + b"123456", asked("POST /a")),
        *(post.replace(b"5", each) + b"12345" for each in (b"05", b"5,5", b"0x5")),
        asked("GET /a", HOST + b"A: %b\r\n" % (b"a" * 2**14)),
    ):
        assert parse_plain_request(said, nothing) is None, said


def test_odd_requests_are_answered_as_ever(tmp_path: Path) -> None:
    async def scenario(ways: Ways) -> list[list[bytes]]:
        path, other = ways.who.path(), "/tasks/other"
        get = asked(f"GET {path}")
        said = [asked(f"GET {path}", each, b"0\r\n\r\n") for each in ODD.values()]
        said += [
            *(get + get, get + b"nonsense\r\n\r\n", get.replace(b"1.1", b"1.0")),
            *(asked(f"GET {path}?a"), asked(f"GET {path}%2f"), asked(f"GET {path}/")),
            *(
                asked(f"GET {other}"),
                asked(f"HEAD {other}"),
                asked("GET /take-part/no"),
            ),
            asked(f"GET {path}/reports"),
            asked(f"POST {path}", HOST + b"Content-Length: 0\r\n"),
            asked(f"POST {other}/reports", HOST + b"Content-Length: 0\r\n"),
            posted(ways.who, b""),
            posted(ways.who, b"short"),
            posted(ways.who, upload(ways.who.step(), [bytes(32)])),
            posted(ways.who, upload(ways.who.step(), [bytes(32)]), HOST + HOST),
            posted(ways.who, upload(ways.who.step(), [bytes(32)])) + get,
        ]
        # Refusals change what is said of the task.
        return [await ways.both(each) for each in said]

    answers = run(tmp_path, scenario)

    assert [short for short, _ in answers] == [usual for _, usual in answers]


def test_uploads_are_taken_both_ways_and_their_connections_kept(
    tmp_path: Path,
) -> None:
    async def scenario(ways: Ways) -> tuple[list[bytes], list[bytes], list[bool]]:
        bodies = [upload(ways.who.step(), [each]) for each in ways.who.tokens(2)]
        taken = [
            await ways.heard(port, posted(ways.who, body))
            for port, body in zip(ways.ports, bodies, strict=True)
        ]
        spent = upload(ways.who.step(), ways.who.tokens(1))
        await ways.both(posted(ways.who, spent))
        again = await ways.both(posted(ways.who, spent))
        return taken, again, ways.plain

    taken, again, plain = run(tmp_path, scenario)

    for answer in taken:
        head, _, rest = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\ncontent-length: ")
        assert b'"accepted":1' in rest
        assert rest.endswith(b'{"status":"ok"}')
    assert again[0] == again[1]
    assert again[0].startswith(b"HTTP/1.1 409 Conflict\r\n")
    assert plain == [True] * 3


def test_who_asks_on_before_a_receipt_gets_it_and_no_more(tmp_path: Path) -> None:
    async def scenario(ways: Ways) -> list[bytes]:
        return [
            await ways.heard(
                port,
                posted(ways.who, upload(ways.who.step(), ways.who.tokens(1))),
                asked(f"GET {ways.who.path()}"),
            )
            for port in ways.ports
        ]

    for answer in run(tmp_path, scenario):
        assert answer.count(b"HTTP/1.1") == 1
        assert b'"accepted":1' in answer


def test_a_stop_waits_for_a_receipt(tmp_path: Path) -> None:
    stopped = list[Callable[[], object]]()

    def reached(name: str) -> None:
        if name == "before upload":
            stopped.pop()()

    async def scenario(ways: Ways) -> tuple[bytes, bool]:
        def stop() -> None:
            for each in [*ways.open[0].connections]:
                each.shutdown()

        stopped.append(stop)
        body = upload(ways.who.step(), ways.who.tokens(1))
        heard = await ways.heard(ways.ports[0], posted(ways.who, body))
        return heard, ways.plain == [True]

    heard, plain = run(tmp_path, scenario, reached=reached)

    assert plain
    assert b'"accepted":1' in heard
    assert heard.count(b"HTTP/1.1") == 1


def test_who_does_not_take_an_answer_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "shuffledp_services.http.guarded_connection._WRITE_SECONDS", 0.2
    )

    async def scenario(ways: Ways) -> int:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", ways.ports[0], limit=2**10
        )
        del reader
        writer.write(asked("GET /take-part/large.js"))
        while not ways.open[0].connections:
            await asyncio.sleep(0.01)
        while ways.open[0].connections:
            await asyncio.sleep(0.01)
        writer.close()
        return len(ways.plain)

    assert run(tmp_path, scenario) == 1


def test_a_first_token_takes_the_place_of_a_body_on_its_way(tmp_path: Path) -> None:
    async def scenario(ways: Ways) -> tuple[bytes, bytes]:
        tokens = ways.who.tokens(2)
        long = posted(ways.who, upload(ways.who.step(), tokens))
        short = posted(ways.who, upload(ways.who.step(), tokens[:1]))
        reader, writer = await asyncio.open_connection("127.0.0.1", ways.ports[0])
        writer.write(long[:-1])
        await asyncio.sleep(0.1)
        taken = await ways.heard(ways.ports[0], short)
        dropped = await reader.read(-1)
        writer.close()
        return taken, dropped

    taken, dropped = run(tmp_path, scenario)

    assert b'"accepted":1' in taken
    assert b"storage-full" in dropped
