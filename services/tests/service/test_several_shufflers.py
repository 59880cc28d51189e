"""Several processes of one shuffler over one database: what one does, all do."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import httpx
import postgres_server
import pytest
from shuffler_parties import (
    Analyst,
    Client,
    Parties,
    exact,
    parties,
    reason,
    upload,
)

from shuffledp_services.shuffler import postgres_presence
from shuffledp_services.shuffler.postgres_sessions import lock_step
from shuffledp_services.shuffler.postgres_store import PostgresStore
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.tokens import TOKEN_SIZE

pytest_plugins = ["store_fixtures"]
pytestmark = pytest.mark.slow

Pair = tuple[Client, Client]


@pytest.fixture
def database(postgres: postgres_server.Server) -> Iterator[str]:
    with postgres.lent() as address:
        yield address


@contextmanager
def both(
    who: Parties, database: str, *analysts: Analyst, reached: object = None
) -> Iterator[Pair]:
    """Two services, the first of which tends."""
    first, second = analysts or (Analyst(who), Analyst(who))
    options = {} if reached is None else {"reached": reached}
    with (
        Client(who.app(PostgresStore(database), first, **options)) as one,
        Client(who.app(PostgresStore(database), second, **options)) as other,
    ):
        yield one, other


def post(client: Client, who: Parties, body: bytes) -> httpx.Response:
    return client.post(who.path("/reports"), content=body)


def wait_for(client: Client, who: Parties, **expected: object) -> dict[str, object]:
    end = time.monotonic() + 15
    while time.monotonic() < end:
        status: dict[str, object] = client.get(who.path()).json()
        if all(status[name] == value for name, value in expected.items()):
            return status
        time.sleep(0.02)
    raise AssertionError(f"{expected} did not come: {status}")


def refuse(name: str) -> Callable[[], httpx.Response]:
    problem = {"type": f"urn:shuffledp:problem:{name}"}
    return lambda: httpx.Response(409, json=problem)


def change(database: str, statement: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(database)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(run())


def test_a_token_that_two_processes_get_at_once_counts_once(database: str) -> None:
    who, barrier, met = parties(), threading.Barrier(2), list[str]()

    def reached(name: str) -> None:
        # Both have looked at what is known, and neither has stored anything.
        if name == "in upload":
            met.append(name)
            if len(met) <= 2:
                barrier.wait(30)

    shared, [mine, hers] = who.tokens(20), who.tokens(2)
    bodies = [upload(who.step(), [*shared, own]) for own in (mine, hers)]
    with (
        both(who, database, reached=reached) as clients,
        ThreadPoolExecutor(2) as pool,
    ):
        answers = list(
            pool.map(
                lambda pair: post(pair[0], who, pair[1]).json(),
                zip(clients, bodies, strict=True),
            )
        )
        people = [exact(client, who)["people"] for client in clients]

    # Twenty are refused of one of them, or some of each if they went on one by one.
    assert sorted(answer["accepted"] for answer in answers) == [1, 21]
    assert {why for answer in answers for _, why in answer["refused"]} == {
        "token-spent"
    }
    assert len(met) == 3
    assert [sum(each) for each in people] == [22, 22]


def test_what_comes_to_either_is_closed_by_either_and_handed_over_once(
    database: str,
) -> None:
    who = parties()
    analysts = Analyst(who), Analyst(who)

    with both(who, database, *analysts) as (one, other):
        post(one, who, upload(who.step(), who.tokens(5)))
        post(other, who, upload(who.step(), who.tokens(4)))
        post(other, who, upload(who.step(), [os.urandom(TOKEN_SIZE)]))
        closed = who.order(other, "close")
        late = post(one, who, upload(who.step(), who.tokens(1)))
        again = who.order(one, "close")
        wait_for(other, who, phase="delivered")
        refused = {"token-forged": 1, "not-open": 1}
        status = wait_for(one, who, phase="delivered", refused=refused)
        begun = who.order(other, "next")
        following = post(
            one, who, upload(who.step(epoch=2), who.tokens(3, epoch=2))
        ).json()
        former = post(one, who, upload(who.step(), who.tokens(1)))

    assert (closed.status_code, begun.status_code) == (200, 200)
    assert [reason(late), reason(again)] == ["not-open"] * 2
    assert status["people"] == [4, 3, 2]
    # The first of them is the one that hands over.
    assert [len(each.received) for each in analysts] == [1, 0]
    assert analysts[0].received[0][0].people == (4, 3, 2)
    assert following["accepted"] == 3
    assert reason(former) == "wrong-epoch"


def test_another_process_hands_over_when_the_one_that_did_is_gone(
    database: str,
) -> None:
    who = parties()
    silent, analyst = Analyst(who, [lambda: httpx.Response(503)] * 10**6), Analyst(who)

    with ExitStack() as stack:
        one = ExitStack()
        first = one.enter_context(Client(who.app(PostgresStore(database), silent)))
        app = who.app(PostgresStore(database), analyst)
        other = stack.enter_context(Client(app))
        with one:
            post(other, who, upload(who.step(), who.tokens(9)))
            who.order(first, "close")
            while not silent.bodies:
                time.sleep(0.02)
            waiting = wait_for(other, who, phase="closed")
        begun = time.monotonic()
        wait_for(other, who, phase="delivered")
        took = time.monotonic() - begun

    assert waiting["people"] == [3, 3, 3]
    assert set(silent.bodies) == set(analyst.bodies)
    assert len(analyst.bodies) == 1
    assert took < 5.0


def test_a_command_is_good_once_for_all_processes(database: str) -> None:
    who = parties()

    with both(who, database) as (one, other):
        shown = [client.get(who.path()).json()["challenge"] for client in (one, other)]
        recorded = who.next_command(one, "status")
        first = one.post(who.path("/commands"), content=recorded)
        replayed = other.post(who.path("/commands"), content=recorded)
        fresh = who.order(other, "status")

    assert shown[0] == shown[1]
    assert (first.status_code, fresh.status_code) == (200, 200)
    assert reason(replayed) == "not-open"


def test_a_batch_that_was_refused_is_dropped_by_another_process(database: str) -> None:
    who = parties()
    analyst = Analyst(who, [refuse("allowance-spent")] * 10**6)

    with both(who, database, analyst, Analyst(who)) as (one, other):
        post(one, who, upload(who.step(), who.tokens(9)))
        who.order(one, "close")
        while wait_for(other, who)["hand_over"]["refused"] is None:  # type: ignore[index]
            time.sleep(0.02)
        dropped = who.order(other, "skip").json()
        seen = exact(one, who)

    for status in (dropped, seen):
        assert (status["phase"], status["people"]) == ("skipped", [0, 0, 0])
        assert status["hand_over"] == {
            "attempts": 0,
            "refused": None,
            "analyst_full": False,
        }


def test_a_batch_is_not_dropped_if_nobody_knows_how_an_attempt_ended(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As a process leaves it that is killed while it hands over, after a refusal.
    who = parties()
    app = who.app(PostgresStore(database), Analyst(who, [refuse("wrong-epoch")] * 99))
    monkeypatch.setattr("shuffledp_services.shuffler.shuffler_app._TEND_SECONDS", 60.0)
    with Client(app) as client:
        post(client, who, upload(who.step(), who.tokens(9)))
        who.order(client, "close")
        while wait_for(client, who)["hand_over"]["refused"] is None:  # type: ignore[index]
            time.sleep(0.02)
    change(database, "UPDATE task SET attempts = '[1, \"wrong-epoch\", true, false]'")
    holder = PostgresStore(database)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(holder.open([who.task]))
    assert loop.run_until_complete(holder.try_lead())

    try:
        with Client(who.app(PostgresStore(database), Analyst(who))) as client:
            refused = who.order(client, "skip")
            status = client.get(who.path()).json()
    finally:
        loop.run_until_complete(holder.close())
        loop.close()

    assert reason(refused) == "not-open"
    assert (status["phase"], status["people"]) == ("closed", [3, 3, 3])


class Slow(PostgresStore):
    """Says late where a task stands."""

    seconds = 0.0

    async def load(self, *arguments: Any) -> Any:
        record = await super().load(*arguments)
        await asyncio.sleep(self.seconds)
        return record


@pytest.mark.parametrize("patience", [10.0, 0.1])
def test_nothing_is_refused_for_what_a_process_has_not_heard(
    patience: float, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp_services.shuffler.shuffler_app._TEND_SECONDS", 0.01)
    who, slow = parties(), Slow(database)

    with (
        Client(who.app(PostgresStore(database), Analyst(who))) as one,
        Client(who.app(slow, Analyst(who))) as other,
    ):
        slow.seconds = 0.3
        # It looks nearly all the time, and what it sees is over by then.
        time.sleep(0.4)
        who.order(one, "skip")
        assert who.order(one, "next").is_success
        monkeypatch.setattr(
            "shuffledp_services.shuffler.task_lifecycle._PATIENCE_SECONDS", patience
        )
        answer = post(other, who, upload(who.step(epoch=2), who.tokens(3, epoch=2)))
        slow.seconds = 0.0

    if patience == 10.0:
        assert answer.json()["accepted"] == 3
    else:
        # It is not known to be wrong, and may be tried again.
        assert reason(answer) == "storage-full"


def test_a_deadline_that_one_sets_stops_no_upload_to_another(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp_services.shuffler.shuffler_app._TEND_SECONDS", 60.0)
    who = parties()

    with both(who, database) as (one, other):
        post(other, who, upload(who.step(), who.tokens(2)))
        who.order(one, "deadline", at=int(time.time()) + 3600)
        # It has not heard of it.
        answer = post(other, who, upload(who.step(), who.tokens(3)))
        status = exact(one, who)

    assert answer.json()["accepted"] == 3
    assert sum(status["people"]) == 5
    assert status["deadline"] is not None


def test_a_step_closes_by_itself_whoever_gets_the_last_report(database: str) -> None:
    who = parties()
    analysts = Analyst(who), Analyst(who)

    with (
        Client(who.app(PostgresStore(database), analysts[0], close_at=9)) as one,
        Client(who.app(PostgresStore(database), analysts[1], close_at=9)) as other,
    ):
        post(one, who, upload(who.step(), who.tokens(5)))
        post(other, who, upload(who.step(), who.tokens(4)))
        status = wait_for(one, who, phase="delivered")

    assert status["people"] == [4, 3, 2]
    assert sum(len(each.received) for each in analysts) == 1


def test_all_processes_show_the_same_rough_numbers(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp_services.shuffler.shuffler_app._SHOW_SECONDS", 0.05)
    who = parties(minimum=40)

    with both(who, database) as (one, other):
        post(one, who, upload(who.step(), who.tokens(25), levels=[0] * 25))
        post(other, who, upload(who.step(), who.tokens(20), levels=[0] * 20))
        wait_for(one, who, people=[40, 0, 0])
        wait_for(other, who, people=[40, 0, 0])
        counted = exact(other, who)["people"]

    assert counted == [45, 0, 0]


async def stand_still(
    store: PostgresStore, who: Parties, frozen: asyncio.Event
) -> None:
    """Tends, hands over and stores something, and waits in the midst of it."""
    await store.open([who.task])
    assert await store.try_lead()
    arrivals = store._arrivals
    assert arrivals is not None
    async with (
        store.handover_lease(who.task),
        arrivals.transaction() as connection,
    ):
        await lock_step(connection, who.task, alone=False)
        frozen.set()
        await asyncio.Event().wait()


def test_a_process_that_stands_still_holds_nobody_up(
    database: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(postgres_presence, "_SILENT_SECONDS", 3.0)
    monkeypatch.setattr(postgres_presence, "_NOTICED_SECONDS", 1.0)
    who = parties()
    analyst, loop, store = (
        Analyst(who),
        asyncio.new_event_loop(),
        PostgresStore(database),
    )
    with Client(who.app(PostgresStore(database), analyst)) as client:
        post(client, who, upload(who.step(), who.tokens(9)))
    frozen = asyncio.Event()
    task = loop.create_task(stand_still(store, who, frozen))
    loop.run_until_complete(frozen.wait())

    # Its loop does not run from here on, until the others went on without it.
    with Client(who.app(PostgresStore(database), analyst)) as client:
        closed = who.order(client, "close")
        delivered = wait_for(client, who, phase="delivered")
        while "warnings" in (ready := client.get("/ready").json()):
            time.sleep(0.02)
        with pytest.raises(Refusal):
            loop.run_until_complete(task)
        tends = loop.run_until_complete(store.try_lead())
    loop.run_until_complete(store.close())
    loop.close()

    # It waits for what stands still, and does not fail.
    assert closed.is_success
    assert delivered["people"] == [3, 3, 3]
    assert len(analyst.received) == 1
    assert "Not as it should be: no process hands over" in caplog.text
    assert ready["status"] == "ready"
    assert not tends
