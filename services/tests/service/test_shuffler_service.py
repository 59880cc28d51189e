"""The shuffler over HTTP: what it accepts, refuses, forgets, and hands over."""

import asyncio
import json
import logging
import multiprocessing
import os
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from email.utils import formatdate
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import postgres_server
import pytest
from scipy import stats
from service_parties import allowed_plan
from shuffler_parties import (
    MARK,
    Analyst,
    Client,
    Parties,
    StoreMaker,
    exact,
    messages,
    parties,
    reason,
    upload,
)

from shuffledp.errors import DataError
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.shuffler import analyst_client, clock, page_files
from shuffledp_services.shuffler import shuffler_app as app_module
from shuffledp_services.shuffler.postgres_store import PostgresStore
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.wire.command import Action, Command
from shuffledp_services.wire.receipt import Receipt
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import Roster
from shuffledp_services.wire.signing import new_signing_key
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.tokens import TOKEN_SIZE, TokenDigests
from shuffledp_services.wire.upload_format import (
    HEADER_SIZE,
    MAX_BODY,
    report_size,
    write_header,
)

pytest_plugins = ["store_fixtures"]

CRASH = RuntimeError("a crash that must not be shown")


def post(client: Client, who: Parties, body: bytes) -> httpx.Response:
    return client.post(who.path("/reports"), content=body)


def wait_for(client: Client, who: Parties, **expected: object) -> dict[str, object]:
    for _ in range(500):
        status: dict[str, object] = client.get(who.path()).json()
        if all(status[name] == value for name, value in expected.items()):
            return status
        time.sleep(0.01)
    raise AssertionError(f"{expected} did not come: {status}")


def test_a_slash_behind_a_path_that_is_read_leads_to_it(tmp_path: Path) -> None:
    who = parties()
    paths = [who.path(), who.path("/take-part"), "/take-part/page.js", "/health"]

    with Client(who.app(SqliteStore(tmp_path / "db"), Analyst(who))) as client:
        led = [client.get(f"{path}/") for path in paths]
        query, posted = client.get(f"{who.path()}/?a=b"), client.post(who.path("/"))
        upload_path = client.post(who.path("/reports/"))

    assert [answer.status_code for answer in (*led, query, posted)] == [307] * 6
    assert [answer.headers["location"] for answer in led] == [
        f"http://shuffler{path}" for path in paths
    ]
    assert query.headers["location"] == f"http://shuffler{who.path()}?a=b"
    assert reason(upload_path) == "not-found"


def test_a_receipt_is_signed_and_counts_what_is_kept(make_store: StoreMaker) -> None:
    who = parties()
    body = upload(who.step(), who.tokens(7))

    with Client(who.app(make_store(), Analyst(who))) as client:
        answer = post(client, who, body)
        status = exact(client, who)

    receipt = Receipt.read(answer.json(), who.task.shuffler_signing_key)
    assert (receipt.accepted, receipt.refused) == (7, ())
    assert status["people"] == [3, 2, 2]
    assert status["canonical"].encode() == who.task.to_json()
    assert status["report_size"] == report_size(who.step())


def test_what_is_handed_over_is_what_was_sent_and_nothing_twice(
    make_store: StoreMaker,
) -> None:
    who = parties(mode="stratified")
    analyst, step = Analyst(who), who.step()
    sealed = messages(step, 60)
    levels = [0] * 10 + [1] * 20 + [2] * 30

    with Client(who.app(make_store(), analyst)) as client:
        tokens = who.tokens(60)
        for start in range(0, 60, 15):
            part = slice(start, start + 15)
            body = upload(step, tokens[part], levels=levels[part], sealed=sealed[part])
            assert post(client, who, body).status_code == 200
        assert who.order(client, "close").status_code == 200
        wait_for(client, who, phase="delivered")

    [(header, content)] = analyst.received
    size = step.sealed_size
    got = [content[start : start + size] for start in range(0, len(content), size)]
    sent = [message for (message,) in sealed]
    assert header.people == (10, 20, 30)
    for pile in (slice(0, 10), slice(10, 30), slice(30, 60)):
        assert sorted(got[pile]) == sorted(sent[pile])


def test_a_replayed_upload_and_a_replayed_token_are_refused(
    make_store: StoreMaker,
) -> None:
    who = parties()
    tokens = who.tokens(4)
    body = upload(who.step(), tokens)

    with Client(who.app(make_store(), Analyst(who))) as client:
        post(client, who, body)
        again = post(client, who, body).json()
        single = post(client, who, upload(who.step(), tokens[:1]))
        mixed = post(
            client, who, upload(who.step(), [tokens[2], *who.tokens(1)])
        ).json()
        status = exact(client, who)

    assert again["accepted"] == 0
    assert again["refused"] == [[place, "message-repeated"] for place in range(4)]
    assert reason(single) == "token-spent"
    assert (mixed["accepted"], mixed["refused"]) == (1, [[0, "token-spent"]])
    assert sum(status["people"]) == 5
    assert status["refused"] == {"message-repeated": 4, "token-spent": 2}


def test_a_token_that_comes_twice_in_an_upload_counts_where_it_comes_first(
    make_store: StoreMaker,
) -> None:
    who = parties(mode="stratified")
    step, [one, two] = who.step(), who.tokens(2)
    body = upload(step, [one, two, one], levels=[0, 1, 2])

    with Client(who.app(make_store(), Analyst(who))) as client:
        answer = post(client, who, body).json()
        status = exact(client, who)

    assert answer["refused"] == [[2, "token-spent"]]
    assert status["people"] == [1, 1, 0]


@pytest.mark.parametrize(
    "attack",
    ["forged", "other epoch's token", "other task's token", "bit flipped"],
)
def test_tokens_that_were_not_issued_for_this_are_refused(
    attack: str, sqlite_store: SqliteStore
) -> None:
    who, other = parties(), parties()
    [good] = who.tokens(1)
    token = {
        "forged": os.urandom(TOKEN_SIZE),
        "other epoch's token": who.tokens(1, epoch=2)[0],
        "other task's token": other.tokens(1)[0],
        "bit flipped": bytes([good[0] ^ 1]) + good[1:],
    }[attack]

    with Client(who.app(sqlite_store, Analyst(who))) as client:
        single = post(client, who, upload(who.step(), [token]))
        first = post(client, who, upload(who.step(), [token, good]))
        mixed = post(client, who, upload(who.step(), [good, token])).json()

    # Of an upload that begins with such a token nothing is looked at.
    assert (reason(single), reason(first)) == ("token-forged", "token-forged")
    assert mixed["refused"] == [[1, "token-forged"]]
    assert mixed["accepted"] == 1


def _bad_bodies(who: Parties) -> dict[str, tuple[bytes, str]]:
    step, other = who.step(), parties()
    good = upload(step, who.tokens(2))
    begin, end = TOKEN_SIZE + 2, HEADER_SIZE
    level = good[: end + TOKEN_SIZE] + b"\x00\x03" + good[end + begin : -91]
    return {
        "empty": (b"", "malformed"),
        "no magic": (b"X" + good[1:], "malformed"),
        "other version": (good[:4] + b"\x02" + good[5:], "malformed"),
        "no stage": (good[:5] + b"\x09" + good[6:], "malformed"),
        "header alone": (good[:HEADER_SIZE], "wrong-size"),
        "truncated": (good[:-1], "wrong-size"),
        "one byte more": (good + b"x", "wrong-size"),
        "other task": (upload(other.step(), other.tokens(1)), "unknown-task"),
        "other epoch": (upload(who.step(epoch=2), who.tokens(1)), "wrong-epoch"),
        "other stage": (good[:5] + b"\x01" + good[6:], "wrong-stage"),
        "level out of range": (level, "unknown-level"),
        "level not named": (
            upload(step, who.tokens(1), levels=[65535]),
            "unknown-level",
        ),
    }


def test_bodies_that_are_no_upload_to_this_step_are_refused(
    sqlite_store: SqliteStore,
) -> None:
    who = parties()

    with Client(who.app(sqlite_store, Analyst(who))) as client:
        for name, (body, expected) in _bad_bodies(who).items():
            assert reason(post(client, who, body)) == expected, name
        status = exact(client, who)

    assert status["people"] == [0, 0, 0]
    assert sum(status["refused"].values()) == len(_bad_bodies(who))


def test_a_body_is_refused_before_it_is_read_if_it_is_too_large_or_of_no_stated_size(
    sqlite_store: SqliteStore,
) -> None:
    who = parties()
    sent = []

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(10 * MAX_BODY >> 16):
            sent.append(1 << 16)
            yield bytes(1 << 16)

    with Client(who.app(sqlite_store, Analyst(who))) as client:
        stated = post(client, who, bytes(MAX_BODY + 1))
        chunked = client.post(who.path("/reports"), content=endless())
        lies = client.post(
            who.path("/reports"), content=endless(), headers={"Content-Length": "90"}
        )

    assert (stated.status_code, reason(stated)) == (413, "too-large")
    assert (chunked.status_code, reason(chunked)) == (400, "malformed")
    assert (lies.status_code, reason(lies)) == (400, "malformed")
    assert sum(sent) <= 1 << 16


def test_a_hundred_thousand_reports_without_tokens_do_not_fill_the_disk(
    tmp_path: Path,
) -> None:
    who = parties()
    step, rng = who.step(), np.random.default_rng(1)
    rows = rng.integers(0, 256, (50_000, report_size(step)), dtype=np.uint8)
    body = write_header(step) + rows.tobytes()

    with Client(who.app(SqliteStore(tmp_path / "db"), Analyst(who))) as client:
        for _ in range(2):
            assert reason(post(client, who, body)) == "token-forged"
        status = exact(client, who)

    assert status["refused"] == {"token-forged": 2}
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 200_000


def test_the_numbers_of_refusals_outlive_the_service(make_store: StoreMaker) -> None:
    who = parties()
    with Client(who.app(make_store(), Analyst(who))) as client:
        post(client, who, upload(who.step(), [os.urandom(TOKEN_SIZE)]))

    with Client(who.app(make_store(), Analyst(who))) as client:
        status = exact(client, who)

    assert status["refused"] == {"token-forged": 1}


def test_only_the_operator_closes_and_begins(sqlite_store: SqliteStore) -> None:
    who = parties()
    forged = [
        who.command(action, key=key)
        for action in Action
        for key in (who.analyst_key, new_signing_key())
    ]
    other = parties().command("close", key=who.hosted.secrets.signing_key)
    unsigned = b'{"action":"close","epoch":1,"stage":"answer"}'

    with Client(who.app(sqlite_store, Analyst(who))) as client:
        for content in (*forged, unsigned, other, b"", b"x" * 5000, b"[]"):
            answer = client.post(who.path("/commands"), content=content)
            assert 400 <= answer.status_code < 500
        refused = [
            reason(client.post(who.path("/commands"), content=content))
            for content in (*forged, other)
        ]

    assert refused == [*["signature-forged"] * len(forged), "unknown-task"]


def test_closing_below_the_minimum_says_what_is_missing(make_store: StoreMaker) -> None:
    who = parties(minimum=3)

    with Client(who.app(make_store(), Analyst(who))) as client:
        post(client, who, upload(who.step(), who.tokens(7)))
        answer = who.order(client, "close")
        status = exact(client, who)

    missing = ["level 1: 2 of 3 people", "level 2: 2 of 3 people"]
    assert reason(answer) == "too-few-people"
    assert all(text in answer.json()["detail"] for text in missing)
    assert (status["shortfalls"], status["phase"]) == (missing, "open")


def test_a_second_close_is_refused_and_nothing_is_handed_over_twice(
    make_store: StoreMaker,
) -> None:
    who = parties()
    analyst = Analyst(who)

    with Client(who.app(make_store(), analyst)) as client:
        body = upload(who.step(), who.tokens(9))
        post(client, who, body)
        who.order(client, "close")
        second = who.order(client, "close")
        late = post(client, who, upload(who.step(), who.tokens(1)))
        replayed = post(client, who, body)
        wait_for(client, who, phase="delivered")

    with Client(who.app(make_store(), analyst)) as client:
        time.sleep(0.1)
        third = who.order(client, "close")

    answers = [reason(answer) for answer in (second, late, replayed, third)]
    assert answers == ["not-open"] * 4
    assert len(analyst.bodies) == 1


def _broken() -> httpx.Response:
    raise httpx.ConnectError("cut")


def test_a_batch_is_repeated_byte_by_byte_until_it_is_signed_for(
    make_store: StoreMaker,
) -> None:
    who, stranger = parties(), parties()
    analyst = Analyst(who)
    analyst.troubles = [
        _broken,
        lambda: httpx.Response(503),
        lambda: httpx.Response(200, content=b"not json"),
        lambda: Analyst(stranger).acknowledge(os.urandom(16)),
        lambda: analyst.acknowledge(os.urandom(16)),
        lambda: httpx.Response(409, json={"type": "urn:shuffledp:problem:wrong-epoch"}),
        lambda: httpx.Response(302, headers={"Location": "http://elsewhere"}),
    ]

    with Client(who.app(make_store(), analyst)) as client:
        post(client, who, upload(who.step(), who.tokens(9)))
        who.order(client, "close")
        wait_for(client, who, phase="delivered")

    assert len(analyst.bodies) == 8
    assert len(set(analyst.bodies)) == 1


def test_a_refusal_of_the_analyst_is_shown_and_the_batch_is_kept(
    sqlite_store: SqliteStore,
) -> None:
    who = parties()
    problem = {"type": "urn:shuffledp:problem:allowance-spent", "detail": "<secret>"}
    analyst = Analyst(who, [lambda: httpx.Response(409, json=problem)] * 10**6)

    with Client(who.app(sqlite_store, analyst)) as client:
        post(client, who, upload(who.step(), who.tokens(9)))
        who.order(client, "close")
        for _ in range(500):
            answer = client.get(who.path())
            if answer.json()["hand_over"]["attempts"]:
                break
            time.sleep(0.01)

    assert answer.json()["hand_over"]["refused"] == "allowance-spent"
    assert answer.json()["phase"] == "closed"
    assert "secret" not in answer.text


def refuse(reason: str) -> Callable[[], httpx.Response]:
    problem = {"type": f"urn:shuffledp:problem:{reason}"}
    return lambda: httpx.Response(409, json=problem)


def wait_until_refused(client: Client, who: Parties) -> None:
    for _ in range(500):
        if client.get(who.path()).json()["hand_over"]["refused"] is not None:
            return
        time.sleep(0.01)
    raise AssertionError("The batch was not refused.")


def test_an_epoch_whose_batch_was_refused_is_over_and_its_tokens_are_spent(
    make_store: StoreMaker,
) -> None:
    who = parties()
    analyst = Analyst(who, [refuse("allowance-spent")] * 10**6)
    tokens = who.tokens(9)

    with Client(who.app(make_store(), analyst)) as client:
        post(client, who, upload(who.step(), tokens))
        who.order(client, "close")
        wait_until_refused(client, who)
        forged = who.command("skip", key=who.analyst_key)
        stranger = client.post(who.path("/commands"), content=forged)
        dropped = who.order(client, "skip").json()
    with Client(who.app(make_store(), analyst)) as client:
        kept = exact(client, who)
        again = post(client, who, upload(who.step(), tokens[:6]))

    assert reason(stranger) == "signature-forged"
    for status in (dropped, kept):
        assert (status["phase"], status["epoch"]) == ("skipped", 1)
        assert status["people"] == [0, 0, 0]
        assert status["hand_over"] == {
            "attempts": 0,
            "refused": None,
            "analyst_full": False,
        }
    # Nobody is asked the same a second time: she may have kept what she refused.
    assert reason(again) == "not-open"
    assert analyst.received == []


def test_a_forgetful_analyst_gets_no_more_epochs_than_were_agreed_to(
    make_store: StoreMaker,
) -> None:
    # She acknowledges every batch, and says each time that everything is left.
    who = parties(allowance=(1.0, 2.0, 4.0))
    says = {"exhausted": list[float]()}
    analyst = Accountant(who, lambda: httpx.Response(200, json=says))

    with Client(who.app(make_store(), analyst, close_at=9)) as client:
        for epoch in range(1, who.task.epochs + 1):
            tokens = who.tokens(9, epoch=epoch)
            post(client, who, upload(who.step(epoch=epoch), tokens))
            wait_for(client, who, phase="delivered")
            answer = who.order(client, "next")

    assert len(analyst.received) == who.task.epochs == 2
    assert reason(answer) == "allowance-spent"
    assert who.task.last_epoch == 4


def test_a_step_that_was_delivered_before_is_dropped_and_the_next_epoch_begins(
    make_store: StoreMaker,
) -> None:
    who = parties("items")
    analyst = Analyst(who, [refuse("already-delivered")] * 10**6)

    with Client(who.app(make_store(), analyst)) as client:
        post(client, who, upload(who.step(), who.tokens(9)))
        who.order(client, "close")
        wait_until_refused(client, who)
        dropped = who.order(client, "skip").json()
        begun = who.order(client, "next").json()

    assert (dropped["phase"], dropped["people"]) == ("skipped", [0])
    assert (begun["epoch"], begun["stage"], begun["people"]) == (2, "choice", [0])


def test_a_batch_that_the_analyst_may_have_cannot_be_dropped(
    make_store: StoreMaker,
) -> None:
    who = parties()
    analyst = Analyst(who, [lambda: httpx.Response(503)] * 10**6)

    with Client(who.app(make_store(), analyst)) as client:
        post(client, who, upload(who.step(), who.tokens(9)))
        who.order(client, "close")
        while not analyst.bodies:
            time.sleep(0.01)
        answer = who.order(client, "skip")
        status = exact(client, who)
        analyst.troubles.clear()
        wait_for(client, who, phase="delivered")
        late = who.order(client, "skip")

    assert [reason(a) for a in (answer, late)] == ["not-open"] * 2
    assert answer.json()["detail"] == (
        "Expected a batch that the analyst refused: this one is still being handed over."
    )
    assert status["phase"] == "closed"


def test_a_batch_that_is_accepted_after_all_is_not_dropped(
    sqlite_store: SqliteStore,
) -> None:
    # She is asked again, and about to accept, while the operator gives up.
    who = parties()
    asked, answer_now = threading.Event(), threading.Event()

    class Slow(Analyst):
        async def answer(self, request: httpx.Request) -> httpx.Response:
            if self.bodies:
                asked.set()
                await asyncio.to_thread(answer_now.wait, 30)
            return await super().answer(request)

    with (
        ThreadPoolExecutor(1) as pool,
        Client(who.app(sqlite_store, Slow(who, [refuse("wrong-epoch")]))) as client,
    ):
        post(client, who, upload(who.step(), who.tokens(9)))
        who.order(client, "close")
        assert asked.wait(30)
        dropping = pool.submit(who.order, client, "skip")
        time.sleep(0.1)
        answer_now.set()
        answer = dropping.result(30)
        status = exact(client, who)

    assert reason(answer) == "not-open"
    assert status["phase"] == "delivered"


def test_an_epoch_that_cannot_be_finished_is_skipped_and_leaves_nothing(
    make_store: StoreMaker,
) -> None:
    who = parties()
    analyst = Analyst(who)

    with Client(who.app(make_store(), analyst)) as client:
        post(client, who, upload(who.step(), who.tokens(9)))
        forged = who.command("skip", key=who.analyst_key)
        stranger = client.post(who.path("/commands"), content=forged)
        elsewhere = client.post(
            who.path("/commands"), content=who.command("skip", epoch=2)
        )
        skipped = who.order(client, "skip").json()
        late = post(client, who, upload(who.step(), who.tokens(1)))
        again = who.order(client, "skip")
    with Client(who.app(make_store(), analyst, close_at=6)) as client:
        who.order(client, "next")
        post(client, who, upload(who.step(epoch=2), who.tokens(6, epoch=2)))
        wait_for(client, who, phase="delivered")

    assert [reason(a) for a in (stranger, elsewhere, late, again)] == [
        "signature-forged", "not-open", "not-open", "not-open",
    ]  # fmt: skip
    assert (skipped["phase"], skipped["people"]) == ("skipped", [0, 0, 0])
    [(header, content)] = analyst.received
    assert (header.epoch, header.after, header.people) == (2, 0, (2, 2, 2))
    assert len(content) == 6 * who.step().sealed_size


def test_a_damaged_roster_is_said_once_and_holds_up_nothing_else(
    sqlite_store: SqliteStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    who, good = parties(), threading.Event()
    looked = 0

    def rosters(epoch: int) -> Roster:
        nonlocal looked
        looked += 1
        if good.is_set():
            return who.enroller.roster(epoch)
        raise DataError("Expected a roster in roster-1.bin.")

    who.hosted = replace(who.hosted, rosters=rosters)
    monkeypatch.setattr(app_module, "_TEND_SECONDS", 0.01)
    body, now = upload(who.step(), who.tokens(6)), time.time()

    with Client(who.app(sqlite_store, Analyst(who))) as client:
        while looked < 5:
            time.sleep(0.01)
        early = post(client, who, body)
        who.order(client, "deadline", at=int(now) + 1000)
        good.set()
        while client.get(who.path()).json()["enrolment"] is None:
            time.sleep(0.01)
        late = post(client, who, body)
        good.clear()
        monkeypatch.setattr(clock, "_SETTLE_SECONDS", 0.0)
        monkeypatch.setattr(app_module, "seconds_since_1970", lambda: now + 2000.0)
        wait_for(client, who, phase="delivered")

    said = [text for text in caplog.messages if "roster-1.bin" in text]
    assert said == ["Nobody is enrolled: Expected a roster in roster-1.bin."]
    assert (reason(early), late.status_code) == ("not-open", 200)


@pytest.mark.parametrize(("people", "ends"), [(9, "delivered"), (5, "waiting")])
def test_a_step_past_its_deadline_closes_or_waits_with_all_that_came_in(
    make_store: StoreMaker,
    monkeypatch: pytest.MonkeyPatch,
    people: int,
    ends: str,
) -> None:
    who, deadline = parties(), int(time.time()) + 1000
    analyst = Analyst(who)

    with Client(who.app(make_store(), analyst)) as client:
        post(client, who, upload(who.step(), who.tokens(people)))
        past = who.order(client, "deadline", at=1)
        told = who.order(client, "deadline", at=deadline).json()
    monkeypatch.setattr(app_module, "_TEND_SECONDS", 0.02)
    with Client(who.app(make_store(), analyst)) as client:
        time.sleep(0.1)
        early = exact(client, who)
        # It was written down: a service that starts afterwards keeps it.
        monkeypatch.setattr(clock, "_SETTLE_SECONDS", 0.0)
        monkeypatch.setattr(app_module, "seconds_since_1970", lambda: deadline + 0.5)
        wait_for(client, who, phase=ends)
        if ends == "waiting":
            late = post(client, who, upload(who.step(), who.tokens(4)))
            monkeypatch.setattr(app_module, "seconds_since_1970", lambda: deadline)
            again = who.order(client, "deadline", at=deadline + 1000).json()
            post(client, who, upload(who.step(), who.tokens(4), levels=[0, 1, 2, 2]))
            counted = exact(client, who)["people"]

    assert reason(past) == "not-open"
    assert told["deadline"] == early["deadline"] == deadline
    assert early["phase"] == "open"
    assert [header.people for header, _ in analyst.received] == (
        [(3, 3, 3)] if ends == "delivered" else []
    )
    if ends == "waiting":
        assert reason(late) == "not-open"
        assert (again["phase"], again["deadline"]) == ("open", deadline + 1000)
        assert counted == [3, 3, 3]


def test_a_clock_that_jumps_for_a_moment_ends_nothing(
    sqlite_store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "_TEND_SECONDS", 0.01)
    who, start = parties(), time.time()
    two_days = 2 * 86_400.0

    with Client(who.app(sqlite_store, Analyst(who))) as client:
        post(client, who, upload(who.step(), who.tokens(9)))
        who.order(client, "deadline", at=int(start) + 3600)
        now = clock.seconds_since_1970
        monkeypatch.setattr(app_module, "seconds_since_1970", lambda: now() + two_days)
        while "warnings" not in client.get("/ready").json():
            time.sleep(0.01)
        monkeypatch.setattr(app_module, "seconds_since_1970", now)
        ready = client.get("/ready").json()
        status = exact(client, who)
        monkeypatch.setattr(clock, "_SETTLE_SECONDS", 0.0)
        monkeypatch.setattr(
            app_module, "seconds_since_1970", lambda: now() + two_days / 2
        )
        # It stays there: the deadline has passed.
        wait_for(client, who, phase="delivered")
        later = client.get("/ready").json()

    assert ready["status"] == "ready"
    assert ready["warnings"] == [
        "this machine's clock jumped: deadlines wait for a minute"
    ]
    assert (status["phase"], status["people"]) == ("open", [3, 3, 3])
    assert "warnings" not in later


def test_a_clock_that_goes_on_with_time_is_believed_whatever_it_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    elapsed = 1000.0
    monkeypatch.setattr(f"{clock.__name__}.time.monotonic", lambda: elapsed)
    watched = clock.DeadlineClock()

    said = list[float | None]()
    for more, now in ((0, 5e8), (1, 5e8 + 1), (1, 7e8), (4, 5e8 + 6), (61, 5e8 + 67)):
        elapsed += more
        said.append(watched.believed(now))

    assert said == [5e8, 5e8 + 1, None, None, 5e8 + 67]


def test_clocks_that_differ_are_said(
    sqlite_store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "_TEND_SECONDS", 0.01)
    who = parties()
    # She answers as if it were long ago.
    header = {"Date": "Sun, 06 Nov 1994 08:49:37 GMT"}
    late = [lambda: httpx.Response(503, headers=header)]

    with Client(who.app(sqlite_store, Analyst(who, late))) as client:
        post(client, who, upload(who.step(), who.tokens(9)))
        who.order(client, "close")
        while "warnings" not in (ready := client.get("/ready").json()):
            time.sleep(0.01)

    assert ready["warnings"] == [
        "the clocks of this machine and of the analyst differ by more than a minute"
    ]


@pytest.mark.parametrize(
    ("dated", "ahead"),
    [(-90, -90.0), (0, 0.0), (150, 0.0), (300, 0.0), (420, 120.0)],
)
def test_an_answer_may_be_dated_at_any_moment_since_its_request(
    monkeypatch: pytest.MonkeyPatch, dated: int, ahead: float
) -> None:
    # It takes five minutes, as that about a plan may.
    begun = 1_000_000_000.0
    elapsed = [0.0]
    monkeypatch.setattr(f"{clock.__name__}.time.time", lambda: begun + elapsed[0])
    monkeypatch.setattr(analyst_client, "elapsed_seconds", lambda: elapsed[0])
    who = parties()

    async def answer(_request: httpx.Request) -> httpx.Response:
        elapsed[0] += 300.0
        date = formatdate(begun + dated, usegmt=True)
        return httpx.Response(200, json={"awaited": 3}, headers={"Date": date})

    client = analyst_client.AnalystClient(
        "http://analyst", transport=httpx.MockTransport(answer)
    )
    epoch = asyncio.run(client.awaited(who.task))

    assert (epoch, client.clock_ahead) == (3, ahead)


@pytest.mark.parametrize(
    ("action", "at"),
    [
        ("deadline", None),
        ("deadline", 0),
        ("deadline", -1),
        ("deadline", 10**12),
        ("deadline", 2e9),
        ("deadline", True),
        ("close", 2_000_000_000),
        ("skip", 2_000_000_000),
    ],
)
def test_a_time_comes_with_a_deadline_alone(action: str, at: Any) -> None:
    who = parties()
    document = json.loads(who.command(action, at=at))

    with pytest.raises(Refusal) as refusal:
        Command.read(document, who.task)

    assert refusal.value.reason is Reason.MALFORMED


def test_people_who_never_answer_a_plan_do_not_stop_the_next_epoch(
    make_store: StoreMaker,
) -> None:
    who = parties("items")

    with Client(who.app(make_store(), Analyst(who))) as client:
        post(client, who, upload(who.step(), who.tokens(6)))
        who.order(client, "close")
        wait_for(client, who, stage="answer")
        stuck = [who.order(client, action) for action in ("close", "next")]
        who.order(client, "skip")
        begun = who.order(client, "next").json()

    assert [reason(a) for a in stuck] == ["too-few-people", "not-open"]
    assert (begun["epoch"], begun["stage"], begun["plan"]) == (2, "choice", None)


def test_a_closed_batch_is_skipped_only_once_it_was_refused(
    make_store: StoreMaker,
) -> None:
    who = parties()
    analyst = Analyst(who, [lambda: httpx.Response(503)] * 10**6)

    with Client(who.app(make_store(), analyst)) as client:
        post(client, who, upload(who.step(), who.tokens(9)))
        who.order(client, "close")
        early = who.order(client, "skip")
        analyst.troubles[:] = [refuse("allowance-spent")] * 10**6
        wait_until_refused(client, who)
        skipped = who.order(client, "skip").json()

    assert reason(early) == "not-open"
    assert (skipped["phase"], skipped["hand_over"]["refused"]) == ("skipped", None)
    assert analyst.received == []


class Accountant(Analyst):
    """Says where her task stands, as a test asks for."""

    def __init__(self, who: Parties, says: Callable[[], httpx.Response]) -> None:
        super().__init__(who)
        self.says = says

    async def answer(self, request: httpx.Request) -> httpx.Response:
        return self.says() if request.method == "GET" else await super().answer(request)


def begin_epoch(
    store: SqliteStore, who: Parties, says: Callable[[], httpx.Response]
) -> httpx.Response:
    """What is answered after the first epoch."""
    with Client(who.app(store, Accountant(who, says), close_at=9)) as client:
        post(client, who, upload(who.step(), who.tokens(9)))
        wait_for(client, who, phase="delivered")
        return who.order(client, "next")


def test_nobody_is_asked_for_an_epoch_that_cannot_be_paid(
    sqlite_store: SqliteStore,
) -> None:
    answer = begin_epoch(
        sqlite_store,
        parties(),
        lambda: httpx.Response(200, json={"exhausted": [0.5, 2.0]}),
    )

    assert reason(answer) == "allowance-spent"
    detail = "Expected enough left for another epoch at level 0.5, 2."
    assert answer.json()["detail"] == detail


@pytest.mark.few_cases(7)
@pytest.mark.parametrize(
    "says",
    [
        _broken,
        lambda: httpx.Response(500),
        lambda: httpx.Response(404, json={"exhausted": [0.5]}),
        lambda: httpx.Response(200, content=b"no json"),
        lambda: httpx.Response(200, content=b"\xff"),
        lambda: httpx.Response(200, json=[]),
        lambda: httpx.Response(200, json={}),
        lambda: httpx.Response(200, json={"exhausted": 3}),
        lambda: httpx.Response(200, json={"exhausted": "0.5"}),
        lambda: httpx.Response(200, json={"exhausted": ["<b>", 77.0]}),
        lambda: httpx.Response(200, json={"exhausted": []}),
    ],
)
def test_an_epoch_begins_if_the_analyst_does_not_say_that_a_level_is_exhausted(
    sqlite_store: SqliteStore, says: Callable[[], httpx.Response]
) -> None:
    answer = begin_epoch(sqlite_store, parties(), says)

    assert answer.json()["epoch"] == 2


@pytest.mark.parametrize(
    ("says", "epoch"),
    [
        (lambda: httpx.Response(200, json={"awaited": 3}), 4),
        (lambda: httpx.Response(200, json={"awaited": 1}), None),
        (lambda: httpx.Response(200, json={"awaited": 10**30}), None),
        (lambda: httpx.Response(200, json={"awaited": "3"}), None),
        (lambda: httpx.Response(200, json={"awaited": True}), None),
        (lambda: httpx.Response(200, json={}), None),
        (lambda: httpx.Response(500), None),
        (_broken, None),
    ],
)
def test_a_new_database_goes_on_after_the_epoch_that_the_analyst_waits_for(
    sqlite_store: SqliteStore, says: Callable[[], httpx.Response], epoch: int | None
) -> None:
    who = parties()
    analyst = Accountant(who, says)

    with Client(who.app(sqlite_store, analyst, close_at=6)) as client:
        used = who.tokens(2)
        post(client, who, upload(who.step(), used))
        answer = who.order(client, "resume")
        if epoch is not None:
            old = post(client, who, upload(who.step(epoch=epoch), used))
            tokens = who.tokens(6, epoch=epoch)
            post(client, who, upload(who.step(epoch=epoch), tokens))
            wait_for(client, who, phase="delivered")

    if epoch is None:
        assert reason(answer) in ("not-open", "allowance-spent")
        return
    assert answer.json()["epoch"] == epoch
    # Tokens of what was interrupted open nothing.
    assert reason(old) == "token-forged"
    [(header, _)] = analyst.received
    assert (header.epoch, header.after, header.people) == (epoch, 2, (2, 2, 2))


def test_a_lost_database_opens_no_epoch_whose_tokens_are_out(
    sqlite_store: SqliteStore,
) -> None:
    who = parties()
    # Epoch 4 was skipped, of which the analyst has not heard; 5 was interrupted.
    who.hosted = replace(who.hosted, last_roster=lambda: 5)
    analyst = Accountant(who, lambda: httpx.Response(200, json={"awaited": 4}))

    with Client(who.app(sqlite_store, analyst)) as client:
        answer = who.order(client, "resume").json()
        again = post(client, who, upload(who.step(epoch=5), who.tokens(2, epoch=5)))

    assert answer["epoch"] == 6
    assert reason(again) == "wrong-epoch"


@pytest.mark.parametrize("action", ["deadline", "status", "close", "skip", "next"])
def test_a_recorded_command_is_good_for_nothing(
    sqlite_store: SqliteStore, action: str
) -> None:
    who, at = parties(), None
    if action == "deadline":
        at = int(time.time()) + 3600

    with Client(who.app(sqlite_store, Analyst(who))) as client:
        path = who.path("/commands")
        recorded = who.next_command(client, action, at=at)
        client.post(path, content=recorded)
        before = client.get(who.path()).json()
        replies = [client.post(path, content=recorded) for _ in range(2)]
        later = who.order(client, "deadline", at=int(time.time()) + 7200)
        replies.append(client.post(path, content=recorded))
        after = client.get(who.path()).json()

    assert [reason(reply) for reply in replies] == ["not-open"] * 3
    assert (before["epoch"], before["phase"]) == (after["epoch"], after["phase"])
    if later.is_success:
        assert after["deadline"] != at


def test_a_page_that_was_not_built_is_said_to_be_missing(
    sqlite_store: SqliteStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    who = parties()
    monkeypatch.setattr(page_files, "page_folder", lambda: None)

    with Client(who.app(sqlite_store, Analyst(who))) as client:
        answer = client.get(who.path("/take-part"))

    words = "The page was not built: run scripts/build-page before installing."
    assert reason(answer) == "not-found"
    assert answer.json()["detail"] == words
    warned = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert warned == [words]


@pytest.mark.parametrize(
    "boundary",
    ["before upload", "in upload", "before close", "in close", "after close"],
)
def test_a_crash_at_a_boundary_loses_nothing_and_doubles_nothing(
    boundary: str, make_store: StoreMaker
) -> None:
    who = parties()
    analyst, tokens = Analyst(who), who.tokens(9)

    def crash(name: str) -> None:
        if name == boundary:
            raise CRASH

    with Client(who.app(make_store(), analyst, reached=crash)) as client:
        first = post(client, who, upload(who.step(), tokens))
        who.order(client, "close")
    with Client(who.app(make_store(), analyst)) as client:
        again = post(client, who, upload(who.step(), tokens))
        who.order(client, "close")
        wait_for(client, who, phase="delivered")

    if "upload" in boundary:
        assert first.status_code == 500
        assert first.json()["type"] == "about:blank"
        assert again.json()["accepted"] == 9
    [(header, content)] = analyst.received
    assert header.people == (3, 3, 3)
    assert len(content) == 9 * who.step().sealed_size


def test_a_crash_between_acknowledgement_and_forgetting_repeats_the_same_batch(
    make_store: StoreMaker,
) -> None:
    who = parties()
    analyst = Analyst(who)

    def crash(name: str) -> None:
        if name == "after hand-over":
            raise CRASH

    with Client(who.app(make_store(), analyst, reached=crash)) as client:
        post(client, who, upload(who.step(), who.tokens(9)))
        who.order(client, "close")
        wait_for(client, who, phase="closed")
        while not analyst.bodies:
            time.sleep(0.01)
    with Client(who.app(make_store(), analyst)) as client:
        wait_for(client, who, phase="delivered")

    assert len(analyst.bodies) >= 2
    assert len(set(analyst.bodies)) == 1


def test_items_are_collected_in_two_steps_with_the_same_tokens(
    make_store: StoreMaker,
) -> None:
    who = parties("items")
    analyst, tokens = Analyst(who), who.tokens(6)
    answers = Step(who.task, 1, EpochStage.ANSWER, allowed_plan(who.task))

    with Client(who.app(make_store(), analyst)) as client:
        named = post(client, who, upload(who.step(), tokens[:1], levels=[0]))
        first = post(client, who, upload(who.step(), tokens)).json()
        who.order(client, "close")
        status: Any = wait_for(client, who, stage="answer")
        second = post(client, who, upload(answers, tokens)).json()
        who.order(client, "close")
        wait_for(client, who, phase="delivered")
        begun = who.order(client, "next").json()

    assert reason(named) == "unknown-level"
    assert (first["accepted"], second["accepted"]) == (6, 6)
    assert status["plan"]["protocol"] == allowed_plan(who.task).record
    assert status["people"] == [0]
    assert [header.people for header, _ in analyst.received] == [(6,), (6,)]
    size = answers.messages_per_report * answers.sealed_size
    assert len(analyst.received[1][1]) == 6 * size
    assert (begun["epoch"], begun["stage"], begun["plan"]) == (2, "choice", None)


def test_the_next_epoch_needs_tokens_of_its_own(make_store: StoreMaker) -> None:
    who = parties()

    with Client(who.app(make_store(), Analyst(who), close_at=9)) as client:
        early = who.order(client, "next")
        tokens = who.tokens(9)
        post(client, who, upload(who.step(), tokens))
        wait_for(client, who, phase="delivered")
        who.order(client, "next")
        old = post(client, who, upload(who.step(epoch=2), tokens[:1]))
        new = post(client, who, upload(who.step(epoch=2), who.tokens(9, epoch=2)))

    assert reason(early) == "not-open"
    assert reason(old) == "token-forged"
    assert new.json()["accepted"] == 9


def test_files_hold_no_token_and_after_delivery_no_message(
    tmp_path: Path,
) -> None:
    who = parties()
    troubles = [lambda: httpx.Response(503)] * 10**6
    analyst, tokens = Analyst(who, troubles), who.tokens(600)

    def on_disk() -> bytes:
        return b"".join(file.read_bytes() for file in sorted(tmp_path.iterdir()))

    with Client(who.app(SqliteStore(tmp_path / "db"), analyst)) as client:
        for start in range(0, 600, 100):
            post(client, who, upload(who.step(), tokens[start : start + 100]))
        before = on_disk()
        who.order(client, "close")
        closed = on_disk()
        analyst.troubles = []
        wait_for(client, who, phase="delivered")
    delivered = on_disk()

    known = TokenDigests(who.task.digest, 1)
    for content in (before, closed, delivered):
        # Never on the disk, not even while the step is open.
        assert not any(half in content for t in tokens for half in (t[:16], t[16:]))
        assert not any(known.of(token) in content for token in tokens)
        assert who.hosted.secrets.signing_key not in content
    assert before.count(MARK) >= 500
    assert 500 <= closed.count(MARK) <= 600  # Some stand across two pages.
    assert MARK not in delivered


@pytest.mark.slow
def test_after_the_close_tables_of_postgres_hold_no_token(
    postgres: postgres_server.Server,
) -> None:
    who = parties()
    analyst = Analyst(who)

    def on_disk() -> bytes:
        base = postgres.folder / "data" / "base"
        return b"".join(file.read_bytes() for file in base.rglob("*") if file.is_file())

    tokens, sealed = who.tokens(30), messages(who.step(), 30)
    with Client(who.app(PostgresStore(postgres.address), analyst)) as client:
        post(client, who, upload(who.step(), tokens, sealed=sealed))
        who.order(client, "close")
        wait_for(client, who, phase="delivered")
    postgres.stop()  # Writes what is still in its memory.
    left = on_disk()
    postgres.start()

    assert not any(token[:16] in left for token in tokens)
    assert not any(message in left for (message,) in sealed)


def test_nothing_personal_is_logged(
    sqlite_store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    who = parties()
    [token] = who.tokens(1)

    def crash(name: str) -> None:
        raise RuntimeError(f"{token!r} {name}")

    with (
        caplog.at_level(logging.DEBUG),
        Client(who.app(sqlite_store, Analyst(who), reached=crash)) as client,
    ):
        caplog.clear()
        answer = post(client, who, upload(who.step(), [token]))
        said = [
            r.getMessage() for r in caplog.records if r.name.startswith("shuffledp")
        ]

    assert answer.status_code == 500
    assert repr(token) not in answer.text
    assert len(said) == 1
    assert said[0].startswith("RuntimeError at ")
    assert not caplog.records[-1].exc_info


def test_a_place_in_the_batch_says_nothing_about_arrival(
    make_store: StoreMaker,
) -> None:
    # Six uploads against sixths of the batch; false alarms: 1e-4.
    who = parties()
    analyst, step = Analyst(who), who.step()
    sealed = messages(step, 3000)

    with Client(who.app(make_store(), analyst)) as client:
        for start in range(0, 3000, 500):
            part = sealed[start : start + 500]
            post(client, who, upload(step, who.tokens(500), sealed=part))
        who.order(client, "close")
        wait_for(client, who, phase="delivered")

    size, content = step.sealed_size, analyst.received[0][1]
    arrived = {message: place for place, (message,) in enumerate(sealed)}
    order = [
        arrived[content[start : start + size]] for start in range(0, len(content), size)
    ]
    table = np.zeros((6, 6))
    np.add.at(table, (np.arange(3000) // 500, np.array(order) // 500), 1)
    assert stats.chisquare(table.ravel(), ddof=10).pvalue > 1e-4


def test_a_full_disk_refuses_uploads_and_keeps_nothing_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = parties()
    connect = sqlite3.connect

    def small(*arguments: object, **options: object) -> sqlite3.Connection:
        database: sqlite3.Connection = connect(*arguments, **options)  # type: ignore[call-overload]
        database.execute("PRAGMA max_page_count = 60")
        return database

    monkeypatch.setattr("sqlite3.connect", small)
    accepted, refused, lost = 0, 0, who.tokens(0)
    analyst = Analyst(who)
    with Client(who.app(SqliteStore(tmp_path / "db"), analyst)) as client:
        while refused < 3:
            lost = who.tokens(600)
            answer = post(client, who, upload(who.step(), lost))
            if answer.status_code == 200:
                accepted += answer.json()["accepted"]
            else:
                assert (answer.status_code, reason(answer)) == (507, "storage-full")
                refused += 1
    monkeypatch.setattr("sqlite3.connect", connect)
    with Client(who.app(SqliteStore(tmp_path / "db"), analyst)) as client:
        again = post(client, who, upload(who.step(), lost)).json()
        who.order(client, "close")
        wait_for(client, who, phase="delivered")

    assert again["accepted"] == 600
    assert sum(analyst.received[0][0].people) == accepted + 600
    assert len(analyst.received[0][1]) == (accepted + 600) * who.step().sealed_size


@pytest.mark.slow
def test_a_database_that_restarts_is_found_again(
    postgres: postgres_server.Server,
) -> None:
    who = parties()

    with Client(who.app(PostgresStore(postgres.address), Analyst(who))) as client:
        post(client, who, upload(who.step(), who.tokens(5)))
        postgres.stop()
        meanwhile = post(client, who, upload(who.step(), who.tokens(5)))
        healthy = client.get("/health")
        postgres.start()
        after = post(client, who, upload(who.step(), who.tokens(4)))
        status = exact(client, who)

    assert reason(meanwhile) == "storage-full"
    assert healthy.json() == {"status": "ok"}
    assert after.json()["accepted"] == 4
    assert sum(status["people"]) == 9


def test_a_task_that_changed_since_it_began_is_not_collected(
    make_store: StoreMaker,
) -> None:
    who = parties()
    with Client(who.app(make_store(), Analyst(who))):
        pass
    changed = parties(minimum=1, task_id=who.task.task_id)

    with (
        pytest.raises(DataError, match="as it was when it began"),
        Client(changed.app(make_store(), Analyst(changed))),
    ):
        pass


def test_unknown_tasks_paths_and_methods_are_problems(
    sqlite_store: SqliteStore,
) -> None:
    who = parties()

    with Client(who.app(sqlite_store, Analyst(who))) as client:
        assert client.get("/tasks").json() == {"tasks": [who.task.identity]}
        assert reason(client.get("/tasks/unknown")) == "unknown-task"
        assert reason(client.get("/nowhere")) == "not-found"
        assert reason(client.get("/take-part/../app.py")) == "not-found"
        assert reason(client.get(who.path("/reports"))) == "about:blank"
        assert client.get(who.path("/reports")).status_code == 405


def test_waiting_uploads_share_a_transaction_and_keep_their_own_answers(
    make_store: StoreMaker,
) -> None:
    who = parties()
    shared = who.tokens(1)
    bodies = [upload(who.step(), [*shared, *who.tokens(2)]) for _ in range(20)]
    begun: list[str] = []

    with Client(who.app(make_store(), Analyst(who), reached=begun.append)) as client:
        with ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(lambda body: post(client, who, body), bodies))
        status = exact(client, who)

    counts = sorted(answer.json()["accepted"] for answer in answers)
    assert counts == [2] * 19 + [3]
    assert sum(status["people"]) == 41
    assert begun.count("after upload") <= 20


def _until_killed(who: Parties, folder: Path, boundary: str, pipe: Connection) -> None:
    """Runs a service that dies at a boundary; says of each upload when it has a receipt."""

    def die(name: str) -> None:
        if name == boundary:
            os._exit(9)

    tokens = who.tokens(9)
    pipe.send(tokens)
    with Client(
        who.app(SqliteStore(folder / "db"), Analyst(who), reached=die)
    ) as client:
        post(client, who, upload(who.step(), tokens))
        pipe.send("receipt")
        who.order(client, "close")
        wait_for(client, who, phase="delivered")


@pytest.mark.slow
@pytest.mark.parametrize(
    "boundary",
    [
        "in upload",
        "after close",
        *(
            pytest.param(boundary, marks=pytest.mark.slow)
            for boundary in ("after upload", "in close", "after hand-over")
        ),
    ],
)
def test_a_killed_process_keeps_what_it_gave_a_receipt_for(
    boundary: str, tmp_path: Path
) -> None:
    who = parties()
    analyst, context = Analyst(who), multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(
        target=_until_killed, args=(who, tmp_path, boundary, there)
    )

    process.start()
    process.join(60)
    tokens: list[bytes] = here.recv()
    with Client(who.app(SqliteStore(tmp_path / "db"), analyst)) as client:
        again = post(client, who, upload(who.step(), tokens))
        who.order(client, "close")
        wait_for(client, who, phase="delivered")

    assert process.exitcode == 9
    assert here.poll() == ("upload" not in boundary)
    if boundary == "in upload":
        assert again.json()["accepted"] == 9
    elif boundary in ("after upload", "in close"):
        assert again.json()["accepted"] == 0
    else:
        assert reason(again) == "not-open"
    [(header, content)] = analyst.received
    assert header.people == (3, 3, 3)
    assert len(content) == 9 * who.step().sealed_size


def test_a_refusal_that_nests_deep_has_an_unknown_reason() -> None:
    answer = httpx.Response(400, content=b"[" * 100_000)

    assert analyst_client._refusal(answer).reason is Reason.MALFORMED
