"""Disks that are full for a while, and databases that stop in the middle."""

import asyncio
import errno
import os
import resource
import shutil
import sqlite3
import threading
from functools import partial
from pathlib import Path
from typing import Any

import analyst_parties
import httpx
import postgres_server
import pytest
import shuffler_parties
from analyst_parties import usual_batch
from cutting_proxy import Proxy
from live_collection import (
    close,
    deliver,
    estimate_of_one_value,
    one_value_epoch,
    operate,
    people_of,
    published,
    status_of,
    task_for,
    until,
)
from live_services import Running, pair
from service_parties import published_values
from whole_batches import split

from shuffledp_services.analyst.sqlite_analyst_store import SqliteAnalystStore
from shuffledp_services.operator.shuffler_commands import operate_with
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.shuffler.store import storage_refusal
from shuffledp_services.wire.command import Action
from shuffledp_services.wire.refusal import Reason, Refusal

pytest_plugins = ["store_fixtures"]

FULL, ROOM = 4096, None


def set_disk(service: Running, room: int | None) -> None:
    service.limit(resource.RLIMIT_FSIZE, room)


async def refused_for_room(shuffler: Running) -> None:
    """Closing says that there is no room, and changes nothing."""
    who = shuffler.setup.who
    with pytest.raises(Refusal) as caught:
        await operate_with(who.task, who.shuffler, shuffler.url, Action.CLOSE)
    assert caught.value.reason is Reason.STORAGE
    assert (await status_of(shuffler))["phase"] == "open"


@pytest.mark.slow
def test_a_collection_goes_on_when_there_is_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = task_for("stratified", 60)
    people = people_of(who, 1, 60)
    shuffler, analyst = pair(who, tmp_path)
    # Whoever asks does not wait long.
    monkeypatch.setattr("shuffledp_services.http.http_client.ATTEMPTS", 4)

    async def collect() -> dict[str, Any]:
        first, second = people.part(0, 90), people.part(90, 180)
        await deliver(shuffler, first)
        set_disk(shuffler, FULL)
        sending = asyncio.create_task(deliver(shuffler, second))
        await until(shuffler, lambda now: now["refused"].get("storage-full", 0) > 0)
        set_disk(shuffler, ROOM)
        delivery = await sending
        assert (delivery.accepted, delivery.refused) == (90, {})
        set_disk(shuffler, FULL)
        await refused_for_room(shuffler)
        set_disk(analyst, FULL)
        set_disk(shuffler, ROOM)
        await close(shuffler, 1)
        await until(shuffler, lambda now: now["hand_over"]["attempts"] > 2)
        assert (await status_of(shuffler))["hand_over"]["analyst_full"]
        assert (await status_of(analyst))["phase"] == "waiting"
        set_disk(shuffler, FULL)
        set_disk(analyst, ROOM)
        result = await published(analyst, 1)
        # She has it, but the shuffler cannot write down that it may forget.
        before = (await status_of(shuffler))["hand_over"]["attempts"]
        await until(shuffler, lambda now: now["hand_over"]["attempts"] > before)
        set_disk(shuffler, ROOM)
        await until(shuffler, lambda now: now["phase"] == "delivered")
        assert await published(analyst, 1) == result
        return result

    with shuffler, analyst:
        result = asyncio.run(collect())

    assert result["people"] == [60, 60, 60]
    assert shuffler.deaths + analyst.deaths == 0
    assert published_values(result) == estimate_of_one_value(who, people, 1)


@pytest.mark.slow
def test_a_result_that_could_not_be_written_is_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = analyst_parties.parties()
    finish, failures = SqliteAnalystStore.finish, ["full"] * 3

    def sometimes(store: SqliteAnalystStore, *arguments: Any) -> None:
        if failures:
            raise sqlite3.OperationalError(failures.pop())
        finish(store, *arguments)

    monkeypatch.setattr(SqliteAnalystStore, "finish", sometimes)
    monkeypatch.setattr("shuffledp_services.analyst.worker._FIRST_WAIT", 0.01)

    async def scenario(service: analyst_parties.Service) -> dict[str, Any]:
        await service.post(usual_batch(who))
        return await service.counted()

    status = analyst_parties.serve(tmp_path, who, scenario)

    assert not failures
    assert status["phase"] == "published"
    assert [epoch["epoch"] for epoch in status["epochs"]] == [1]


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was said of disks that are full."""
    return [text for text in caplog.messages if "storage-full" in text]


@pytest.mark.slow
def test_an_analyst_whose_disk_is_full_says_so_once_and_is_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="shuffledp_services")
    monkeypatch.setattr("shuffledp_services.analyst.analyst_app._LOOK_SECONDS", 0.01)
    who = analyst_parties.parties()
    batch, disk_usage, fsync = usual_batch(who), shutil.disk_usage, os.fsync
    manifest, [shard] = split(batch)
    is_full, room = [True], [0]

    def write(file: int) -> None:
        if is_full[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(file)

    def usage(_path: Path) -> Any:
        return disk_usage(tmp_path)._replace(free=room[0])

    monkeypatch.setattr(os, "fsync", write)
    monkeypatch.setattr(shutil, "disk_usage", usage)

    async def ready(service: analyst_parties.Service) -> httpx.Response:
        # Long enough for several looks.
        await asyncio.sleep(0.2)
        return await service.client.get("/ready")

    async def scenario(service: analyst_parties.Service) -> Any:
        lines, answers, statuses = [], [], []
        room[0] = -1
        statuses += [(await service.post(batch)).status_code for _ in range(2)]
        lines.append(len(told(caplog)))
        answers.append(await ready(service))
        room[0] = 0
        answers.append(await ready(service))

        is_full[0] = False
        path = f"/tasks/{who.task.identity}/batches"
        statuses.append((await service.client.post(path, content=manifest)).status_code)
        is_full[0] = True
        for _ in range(2):
            put = await service.put(manifest, 0, shard)
            statuses.append(put.status_code)
        lines.append(len(told(caplog)))
        # There is room for one write, but not for all that is missing.
        room[0] = len(shard) - 1
        answers.append(await ready(service))
        room[0] = len(shard)
        answers.append(await ready(service))
        is_full[0] = False
        statuses.append((await service.post(batch)).status_code)
        await service.counted()
        return lines, answers, statuses

    lines, answers, statuses = analyst_parties.serve(tmp_path, who, scenario)

    assert statuses == [507, 507, 202, 507, 507, 200]
    assert lines == [1, 2]
    assert told(caplog) == [f"storage-full task={who.task.identity}"] * 2
    assert [answer.status_code for answer in answers] == [503, 200, 503, 200]
    assert answers[0].json()["reason"] == "there is no room for a batch"


@pytest.mark.parametrize("full_by", ["writing", "measure"])
def test_a_service_whose_disk_is_full_is_not_ready_before_anybody_asks(
    full_by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp_services.shuffler.shuffler_app._TEND_SECONDS", 0.01)
    monkeypatch.setattr("shuffledp_services.analyst.analyst_app._LOOK_SECONDS", 0.01)
    disk_usage, is_full = os.statvfs, [False]

    def measured(path: Path) -> Any:
        found = list(disk_usage(path))
        if is_full[0] and full_by == "measure":
            found[4] = 0
        return os.statvfs_result(found)

    class Full(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if sql.startswith("PRAGMA user_version = ") and is_full[0]:
                assert self.in_transaction
                if full_by == "writing":
                    raise sqlite3.OperationalError("database or disk is full")
            return super().execute(sql, *values)

    connect = sqlite3.connect
    monkeypatch.setattr(os, "statvfs", measured)
    monkeypatch.setattr("sqlite3.connect", partial(connect, factory=Full))

    async def until_ready(client: httpx.AsyncClient, status: int) -> httpx.Response:
        while (answer := await client.get("/ready")).status_code != status:
            await asyncio.sleep(0.01)
        return answer

    async def follow(client: httpx.AsyncClient) -> str:
        await until_ready(client, 200)
        is_full[0] = True
        answer = await until_ready(client, 503)
        is_full[0] = False
        await until_ready(client, 200)
        reason: str = answer.json()["reason"]
        return reason

    async def at_shuffler() -> str:
        who = shuffler_parties.parties()
        store = SqliteStore(tmp_path / "shuffler.db")
        app = who.app(store, shuffler_parties.Analyst(who))
        transport = httpx.ASGITransport(app)
        client = httpx.AsyncClient(transport=transport, base_url="http://shuffler")
        async with app.router.lifespan_context(app), client:
            return await follow(client)

    async def at_analyst(service: analyst_parties.Service) -> str:
        return await follow(service.client)

    reasons = [asyncio.run(asyncio.wait_for(at_shuffler(), 60.0))]
    who = analyst_parties.parties()
    reasons.append(analyst_parties.serve(tmp_path, who, at_analyst))

    assert reasons == ["the database cannot be used"] * 2


def test_a_shard_whose_batch_is_gone_is_no_full_disk(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="shuffledp_services")
    who = analyst_parties.parties()
    manifest, [shard] = split(usual_batch(who))

    async def scenario(service: analyst_parties.Service) -> tuple[int, str]:
        path = f"/tasks/{who.task.identity}/batches"
        await service.client.post(path, content=manifest)
        [kept] = (tmp_path / "analyst.db.batches").iterdir()
        shutil.rmtree(kept)
        answer = await service.put(manifest, 0, shard)
        return answer.status_code, answer.json()["type"].rpartition(":")[2]

    status, reason = analyst_parties.serve(tmp_path, who, scenario)

    assert status < 500
    assert reason == "not-open"
    assert told(caplog) == []


def test_a_shuffler_says_once_that_the_analysts_disk_is_full(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="shuffledp_services")
    who = shuffler_parties.parties()
    full_disk = [lambda: httpx.Response(507)] * 4
    analyst, shown = shuffler_parties.Analyst(who, full_disk), list[bool]()

    with shuffler_parties.Client(
        who.app(SqliteStore(tmp_path / "db"), analyst)
    ) as client:
        body = shuffler_parties.upload(who.step(), who.tokens(6))
        assert client.post(who.path("/reports"), content=body).is_success
        who.order(client, "close")
        while (now := client.get(who.path()).json())["phase"] != "delivered":
            shown.append(now["hand_over"]["analyst_full"])

    assert any(shown)
    assert now["hand_over"]["analyst_full"] is False
    [line] = told(caplog)
    assert line.startswith("unanswered ")
    assert line.endswith(" reason=storage-full")


class Failing(sqlite3.Connection):
    """A database that cannot write what it was told to keep, once in a while."""

    failures = 0

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if sql == "COMMIT" and Failing.failures:
            Failing.failures -= 1
            raise sqlite3.OperationalError("disk I/O error")
        return super().execute(sql, *values)


@pytest.mark.slow
def test_a_batch_is_not_acknowledged_while_its_commit_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = analyst_parties.parties()
    batch, connect = usual_batch(who), sqlite3.connect

    def failing(*arguments: Any, **options: Any) -> Any:
        return connect(*arguments, factory=Failing, **options)

    async def scenario(service: analyst_parties.Service) -> tuple[Any, ...]:
        monkeypatch.setattr(Failing, "failures", 2)
        statuses = [(await service.post(batch)).status_code for _ in range(3)]
        return statuses, await service.counted()

    monkeypatch.setattr("sqlite3.connect", failing)
    statuses, status = analyst_parties.serve(tmp_path, who, scenario)

    assert statuses == [507, 507, 200]
    assert (status["phase"], status["people"]) == ("published", [60, 60, 60])


class Forgetful(SqliteStore):
    """Does what it is asked to, and then says that it could not, for a while."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(path)
        self._what, self._silent, self.lies = what, 0, 0

    async def load(self, state: Any, former: Any = None) -> Any:
        if self._silent:
            self._silent -= 1
            raise storage_refusal()
        return await super().load(state, former)

    async def add(self, *arguments: Any) -> Any:
        return self._said("add", await super().add(*arguments))

    async def seal_batch(self, *arguments: Any) -> Any:
        return self._said("seal_batch", await super().seal_batch(*arguments))

    async def change_state(self, *arguments: Any, **named: Any) -> Any:
        await super().change_state(*arguments, **named)
        self._said("change_state", None)

    def _said(self, what: str, result: Any) -> Any:
        if what == self._what and self.lies:
            self.lies -= 1
            self._silent = 1
            raise storage_refusal()
        return result


@pytest.mark.parametrize("what", ["add", "seal_batch", "change_state"])
def test_a_commit_whose_answer_was_lost_counts_once(tmp_path: Path, what: str) -> None:
    who = shuffler_parties.parties()
    analyst, step = shuffler_parties.Analyst(who), who.step()
    bodies = [shuffler_parties.upload(step, who.tokens(6)) for _ in range(4)]
    store = Forgetful(tmp_path / "db", what)

    with shuffler_parties.Client(who.app(store, analyst)) as client:
        store.lies = 2
        for body in bodies:
            answers = [client.post(who.path("/reports"), content=body)]
            while answers[-1].status_code != 200:
                assert answers[-1].status_code == 507
                answers.append(client.post(who.path("/reports"), content=body))
            assert answers[-1].json()["accepted"] == (6 if len(answers) == 1 else 0)
        for _ in range(500):
            who.order(client, "close")
            status = client.get(who.path()).json()
            if status["phase"] == "delivered":
                break

    assert status["people"] == [8, 8, 8]
    assert analyst.received[0][0].people == (8, 8, 8)
    assert len(set(analyst.bodies)) == 1
    assert status["hand_over"]["refused"] is None


@pytest.mark.slow
@pytest.mark.parametrize("crash", [False, True], ids=["stops", "crashes"])
def test_postgres_that_ends_in_the_middle_of_uploads_loses_none(
    tmp_path: Path, postgres: postgres_server.Server, crash: bool
) -> None:
    who = task_for("frequency", 80)
    people = people_of(who, 1, 80)
    shuffler, analyst = pair(who, tmp_path, database=postgres.address)
    stopped = asyncio.Event()

    def progress(done: int, _total: int) -> None:
        if done >= 60:
            stopped.set()

    async def collect() -> dict[str, Any]:
        sending = asyncio.create_task(deliver(shuffler, people, progress=progress))
        await stopped.wait()
        await asyncio.to_thread(partial(postgres.stop, crash=crash))
        await asyncio.sleep(0.3)
        await asyncio.to_thread(postgres.start)
        delivery = await sending
        assert (delivery.accepted, delivery.refused) == (240, {})
        await close(shuffler, 1)
        return await published(analyst, 1)

    with shuffler, analyst:
        result = asyncio.run(collect())

    assert result["people"] == [80, 80, 80]


@pytest.mark.slow
def test_postgres_that_stops_in_the_middle_of_the_hand_over_hands_over_once(
    tmp_path: Path, postgres: postgres_server.Server
) -> None:
    who = task_for("frequency")
    people = people_of(who, 1)

    with Proxy() as proxy:
        shuffler, analyst = pair(
            who, tmp_path, database=postgres.address, between=proxy.before
        )

        stopped = threading.Event()

        def stop(part: bytes) -> None:
            # She has acknowledged; the shuffler has not heard it yet.
            if b"signature" in part:
                proxy.on_response = lambda _part: None
                postgres.stop()
                stopped.set()

        proxy.on_response = stop

        async def collect() -> dict[str, Any]:
            await deliver(shuffler, people)
            await close(shuffler, 1)
            result = await published(analyst, 1)
            assert await asyncio.to_thread(stopped.wait, 60.0)
            # Whether it tries again is its own business: without a database it may be
            # another process's turn.
            assert (await status_of(shuffler))["phase"] == "closed"
            await asyncio.to_thread(postgres.start)
            await until(shuffler, lambda now: now["phase"] == "delivered")
            await operate(shuffler, Action.NEXT, lambda now: now["epoch"] == 2)
            return result

        with shuffler, analyst:
            result = asyncio.run(collect())
            # What follows is not disturbed by what was repeated.
            again = asyncio.run(
                one_value_epoch(shuffler, analyst, people_of(who, 2), 2)
            )

    assert result["people"] == again["people"] == [20, 20, 20]
    assert published_values(result) != published_values(again)
