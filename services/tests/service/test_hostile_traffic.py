"""What somebody hostile would try: races, floods, slow bodies, lengths, lost files."""

import ast
import asyncio
import contextlib
import errno
import json
import os
import resource
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import analyst_parties
import httpx
import pytest
from live_collection import (
    close,
    deliver,
    one_value_epoch,
    operate,
    people_of,
    status_of,
    task_for,
    until,
)
from live_services import Kill, Running, pair
from service_parties import allowed_plan
from service_parties import parties as stranger_parties
from shuffler_parties import (
    Analyst,
    Client,
    Parties,
    StoreMaker,
    parties,
    reason,
    upload,
)
from whole_batches import split

import shuffledp_services
from shuffledp.errors import InvalidInputError
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.analyst.analyst_host import AnalystHost
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.wire.command import Action
from shuffledp_services.wire.step import Step

pytest_plugins = ["store_fixtures"]


def post(client: Client, who: Parties, body: bytes) -> httpx.Response:
    return client.post(who.path("/reports"), content=body)


def delivered(client: Client, who: Parties) -> dict[str, Any]:
    for _ in range(500):
        status: dict[str, Any] = client.get(who.path()).json()
        if status["phase"] == "delivered":
            return status
        time.sleep(0.01)
    raise AssertionError(f"It was not delivered: {status}")


def test_of_many_closes_at_one_moment_one_is_done(make_store: StoreMaker) -> None:
    who = parties()
    analyst = Analyst(who)

    with Client(who.app(make_store(), analyst)) as client:
        post(client, who, upload(who.step(), who.tokens(9)))
        with ThreadPoolExecutor(8) as pool:
            answers = list(
                pool.map(
                    lambda _: who.order(client, "close"),
                    range(8),
                )
            )
        delivered(client, who)

    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 7}
    assert {reason(a) for a in answers if a.status_code == 409} == {"not-open"}
    assert len(analyst.bodies) == 1


def test_a_close_during_uploads_takes_what_has_a_receipt_and_nothing_else(
    make_store: StoreMaker,
) -> None:
    who = parties(minimum=10)
    analyst, step = Analyst(who), who.step()
    bodies = [upload(step, who.tokens(6)) for _ in range(60)]

    with Client(who.app(make_store(), analyst)) as client:
        with ThreadPoolExecutor(9) as pool:
            answers = pool.map(lambda body: post(client, who, body), bodies)
            while who.order(client, "close").is_error:
                time.sleep(0.002)
            receipts = [answer for answer in answers if answer.is_success]
        status = delivered(client, who)

    accepted = sum(answer.json()["accepted"] for answer in receipts)
    [(header, content)] = analyst.received
    assert sum(header.people) == accepted >= 30
    assert len(content) == accepted * step.sealed_size
    # What is shown is what was handed over, too.
    assert status["people"] == list(header.people)


def test_an_upload_that_is_sent_many_times_at_once_counts_once(
    make_store: StoreMaker,
) -> None:
    who = parties()
    analyst = Analyst(who)
    body = upload(who.step(), who.tokens(9))

    with Client(who.app(make_store(), analyst)) as client:
        with ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(lambda _: post(client, who, body), range(12)))
        who.order(client, "close")
        delivered(client, who)

    assert sorted(answer.json()["accepted"] for answer in answers) == [0] * 11 + [9]
    assert [header.people for header, _ in analyst.received] == [(3, 3, 3)]


def test_a_close_that_is_repeated_does_not_close_the_next_step(
    sqlite_store: SqliteStore,
) -> None:
    who = parties("items")
    analyst, tokens = Analyst(who), who.tokens(6)
    answers = Step(who.task, 1, EpochStage.ANSWER, allowed_plan(who.task))
    with Client(who.app(sqlite_store, analyst)) as client:
        post(client, who, upload(who.step(), tokens))
        close = {"content": who.next_command(client, "close")}
        first = client.post(who.path("/commands"), **close)
        while client.get(who.path()).json()["stage"] != "answer":
            time.sleep(0.01)
        post(client, who, upload(answers, tokens))
        repeated = client.post(who.path("/commands"), **close)
        status = client.get(who.path()).json()

    assert first.status_code == 200
    assert reason(repeated) == "not-open"
    assert (status["stage"], status["phase"]) == ("answer", "open")


def test_a_step_that_was_due_before_a_crash_closes_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = parties()
    monkeypatch.setattr("shuffledp_services.shuffler.shuffler_app._TEND_SECONDS", 0.01)
    with Client(who.app(SqliteStore(tmp_path / "db"), Analyst(who))) as client:
        post(client, who, upload(who.step(), who.tokens(9)))

    analyst = Analyst(who)
    with Client(who.app(SqliteStore(tmp_path / "db"), analyst, close_at=9)) as client:
        delivered(client, who)

    assert [header.people for header, _ in analyst.received] == [(3, 3, 3)]


def test_a_database_serves_another_task_without_touching_the_first(
    tmp_path: Path,
) -> None:
    one, other = parties(), parties()
    analyst = Analyst(one)

    with Client(one.app(SqliteStore(tmp_path / "db"), analyst)) as client:
        post(client, one, upload(one.step(), one.tokens(9)))
    with Client(other.app(SqliteStore(tmp_path / "db"), Analyst(other))) as client:
        unknown = post(client, one, upload(one.step(), one.tokens(1)))
        began = client.get(other.path()).json()
    with Client(one.app(SqliteStore(tmp_path / "db"), analyst)) as client:
        one.order(client, "close")
        delivered(client, one)

    assert reason(unknown) == "unknown-task"
    assert began["people"] == [0, 0, 0]
    assert [header.people for header, _ in analyst.received] == [(3, 3, 3)]


@pytest.mark.slow
def test_an_analyst_whose_database_is_gone_never_opens_a_later_epoch(
    tmp_path: Path,
) -> None:
    who = task_for("frequency")
    shuffler, analyst = pair(who, tmp_path)

    async def first() -> None:
        await one_value_epoch(shuffler, analyst, people_of(who, 1), 1)
        await operate(shuffler, Action.NEXT, lambda now: now["epoch"] == 2)

    async def second() -> None:
        await deliver(shuffler, people_of(who, 2))
        await close(shuffler, 2)
        await until(shuffler, lambda now: now["hand_over"]["refused"] is not None)
        status, hers = await status_of(shuffler), await status_of(analyst)
        assert status["hand_over"]["refused"] == "wrong-epoch"
        assert status["phase"] == "closed"
        assert (hers["epoch"], hers["phase"], hers["spent"]) == (
            1,
            "waiting",
            [0.0] * 3,
        )
        # Its epoch is over, but she waits for the first one for good.
        await operate(shuffler, Action.SKIP, lambda now: now["phase"] == "skipped")
        assert (await status_of(shuffler))["people"] == [0] * 3

    with shuffler, analyst:
        asyncio.run(first())
        for path in tmp_path.glob("analyst.db*"):
            if path.is_file():
                path.unlink()
        analyst.kill()
        while not analyst.deaths:
            time.sleep(0.01)
        analyst.wait()
        asyncio.run(second())

    assert not list((tmp_path / "analyst.db.batches").iterdir())


@pytest.mark.slow
def test_a_batch_that_is_dropped_is_gone_though_the_shuffler_dies(
    tmp_path: Path,
) -> None:
    who = task_for("frequency")
    kill = Kill("shuffler", "after skipping")
    shuffler, analyst = pair(who, tmp_path, kills=(kill,))

    async def first() -> None:
        await one_value_epoch(shuffler, analyst, people_of(who, 1), 1)
        await operate(shuffler, Action.NEXT, lambda now: now["epoch"] == 2)

    async def second() -> dict[str, Any]:
        await deliver(shuffler, people_of(who, 2))
        await close(shuffler, 2)
        await until(shuffler, lambda now: now["hand_over"]["refused"] is not None)
        await operate(shuffler, Action.SKIP, lambda now: now["phase"] == "skipped")
        return await status_of(shuffler)

    with shuffler, analyst:
        asyncio.run(first())
        # She forgets the first epoch, and refuses the second.
        for path in tmp_path.glob("analyst.db*"):
            if path.is_file():
                path.unlink()
        analyst.kill()
        while not analyst.deaths:
            time.sleep(0.01)
        analyst.wait()
        status = asyncio.run(second())

    assert shuffler.deaths == 1
    assert (status["epoch"], status["people"]) == (2, [0] * 3)


@pytest.mark.slow
def test_no_service_reads_the_time_of_day() -> None:
    # Whatever a clock says, nothing is accepted, refused or dropped for it, unless the
    # operator has signed a deadline: that is all that `clock.py` is asked for.
    folder = Path(shuffledp_services.__file__).parent
    apart = {folder / room for room in ("commands", "explore", "spark")}
    for path in sorted(folder.rglob("*.py")):
        if apart & set(path.parents):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {node.module or ""}
            elif isinstance(node, ast.Attribute):
                names = {node.attr}
            else:
                continue
            assert "datetime" not in names, path
            # The demo, an operator's command, an auditor who sends at random times and a
            # parent of processes wait. Bodies that
            # come too slowly are given up by a clock that knows no day: what they hold
            # comes again; so are idle connections, looks at a database, and waits for its
            # locks.
            # Lines of a log say when they were written, metrics how long commits take.
            known = {"local_parties", "shuffler_commands", "canary_uploads"}
            known |= {
                "body_timeout",
                "coalesced_refresh",
                "postgres_sessions",
                "postgres_presence",
            }
            known |= {"clock", "event_log", "collector", "deadline", "worker_processes"}
            assert "time" not in names or path.stem in known, path
        if "seconds_since_1970" in path.read_text():
            assert path.relative_to(folder).as_posix() in (
                "shuffler/shuffler_app.py",
                "shuffler/clock.py",
            )
        assert "now()" not in path.read_text().lower(), path


@pytest.mark.slow
def test_a_batch_that_stops_coming_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = analyst_parties.parties()
    monkeypatch.setattr("shuffledp_services.analyst.intake._GRACE_SECONDS", 0.1)
    batch = analyst_parties.usual_batch(who)
    manifest, [shard] = split(batch)

    async def scenario(service: analyst_parties.Service) -> list[Any]:
        async def stops(content: bytes, end: int) -> AsyncIterator[bytes]:
            yield content[:end]
            await asyncio.sleep(30)

        path = f"/tasks/{who.task.identity}/batches"
        found = [
            await service.client.post(path, content=stops(manifest, end))
            for end in (3, 200, len(manifest) - 1)
        ]
        assert (await service.client.post(path, content=manifest)).status_code == 202
        path += f"/{json.loads(manifest[9:])['batch_id']}/shards/0"
        found += [
            await service.client.put(path, content=stops(shard, end))
            for end in (3, 200, len(shard) - 1)
        ]
        assert (await service.post(batch)).is_success
        return [*found, await service.counted()]

    *answers, status = analyst_parties.serve(tmp_path, who, scenario)

    assert [answer.status_code for answer in answers] == [400] * 6
    assert status["phase"] == "published"
    # Of batches nothing is left but the public list of their messages' hashes.
    left = (tmp_path / "analyst.db.batches").iterdir()
    assert {path.suffix for path in left} == {".messages"}


def _raw(service: Running, request: bytes) -> bytes:
    """Returns what a service says to bytes that it may hang up on at any moment."""
    found = b""
    with (
        socket.create_connection(("127.0.0.1", service.setup.port), 10) as one,
        contextlib.suppress(ConnectionResetError, BrokenPipeError),
    ):
        one.sendall(request)
        try:
            one.shutdown(socket.SHUT_WR)
        except OSError as error:
            # The service hung up before the request ended.
            if error.errno != errno.ENOTCONN:
                raise
        while part := one.recv(4096):
            found += part
    return found


@pytest.mark.slow
def test_absurd_requests_are_refused_and_the_services_live_on(tmp_path: Path) -> None:
    who = task_for("frequency")
    shuffler, analyst = pair(who, tmp_path)
    lengths = ["99999999999999999999", "9" * 400, "-1", "1e3", "8388609", "0x10"]

    with shuffler, analyst:
        said = []
        for service, what in ((shuffler, "reports"), (analyst, "batches")):
            path = f"/tasks/{who.task.identity}/{what}"
            for length in lengths:
                head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}"
                said.append(_raw(service, f"{head}\r\n\r\nSDPR\x01".encode()))
            said.append(_raw(service, b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n"))
            said.append(_raw(service, os.urandom(5000)))
            said.append(
                _raw(
                    service,
                    f"POST {path} HTTP/1.1\r\nHost: x\r\n"
                    "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nx".encode(),
                )
            )
        memory = max(shuffler.peak_memory(), analyst.peak_memory())
        result = asyncio.run(one_value_epoch(shuffler, analyst, people_of(who, 1), 1))

    for answer in said:
        # Nothing, where no whole request ever came.
        assert answer == b"" or answer.startswith(b"HTTP/1.1 4"), answer[:100]
        assert b"Traceback" not in answer
    assert memory < 300
    assert result["people"] == [20, 20, 20]
    assert shuffler.deaths + analyst.deaths == 0


@pytest.mark.slow
def test_a_thousand_open_connections_do_not_stop_a_collection(tmp_path: Path) -> None:
    mine = resource.getrlimit(resource.RLIMIT_NOFILE)
    if mine[1] != resource.RLIM_INFINITY and mine[1] < 2_500:
        pytest.skip("This process may not open a thousand connections.")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2_500, mine[1]))
    who = task_for("frequency")
    shuffler, analyst = pair(who, tmp_path)
    begin = f"POST /tasks/{who.task.identity}/reports HTTP/1.1\r\nHost: x\r\n"

    try:
        with shuffler, analyst, ExitStack() as stack:
            # What most systems give a process.
            shuffler.limit(resource.RLIMIT_NOFILE, 1_024)
            for place in range(1_000):
                one = socket.create_connection(("127.0.0.1", shuffler.setup.port), 30)
                stack.enter_context(one)
                if place % 2:
                    one.sendall(f"{begin}Content-Length: 100000\r\n\r\nSDPR".encode())
            result = asyncio.run(
                one_value_epoch(shuffler, analyst, people_of(who, 1), 1)
            )
            memory = shuffler.peak_memory()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, mine)

    assert result["people"] == [20, 20, 20]
    assert memory < 300


@pytest.mark.slow
def test_more_connections_than_files_only_wait(tmp_path: Path) -> None:
    who = task_for("frequency")
    shuffler, analyst = pair(who, tmp_path)

    with shuffler, analyst:
        shuffler.limit(resource.RLIMIT_NOFILE, 64)
        crowd = [
            socket.create_connection(("127.0.0.1", shuffler.setup.port), 30)
            for _ in range(100)
        ]
        time.sleep(0.2)
        for one in crowd:
            one.close()
        result = asyncio.run(one_value_epoch(shuffler, analyst, people_of(who, 1), 1))

    assert result["people"] == [20, 20, 20]
    assert shuffler.deaths == 0


def test_keys_of_another_analyst_are_refused_at_the_start() -> None:
    one, other = stranger_parties(), stranger_parties()

    with pytest.raises(InvalidInputError, match="secret keys that belong"):
        AnalystHost(one.task, other.analyst)


@pytest.mark.slow
def test_what_is_sealed_for_another_key_is_never_published(tmp_path: Path) -> None:
    who, other = analyst_parties.parties(), analyst_parties.parties()
    step = Step(who.task, 1)
    levels = analyst_parties.crowd_levels()
    wrong = analyst_parties.Parties(other.hosted, who.shuffler_key, other.enroller)
    foreign = Step(other.task, 1)
    messages = analyst_parties.answers(foreign, levels)
    sealed = wrong.batch(foreign, messages, levels)[-step.sealed_size * levels.size :]

    def replace(rows: list[bytes]) -> None:
        size = step.sealed_size
        rows[:] = [sealed[at : at + size] for at in range(0, len(sealed), size)]

    batch = who.batch(step, messages, levels, spoil=replace)

    async def scenario(service: analyst_parties.Service) -> Any:
        await service.post(batch)
        return await service.counted(), await service.result()

    status, result = analyst_parties.serve(tmp_path, who, scenario)

    assert status["phase"] == "withheld"
    assert result.status_code == 409
