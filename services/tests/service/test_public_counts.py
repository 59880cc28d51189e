"""What everybody may know of how many people answered, while a step is open."""

import time
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shuffler_parties import Analyst, Client, Parties, parties, reason, upload

from shuffledp_services.collection.coarsened_counts import coarsen_counts
from shuffledp_services.shuffler.sqlite_store import SqliteStore


def post(client: Client, who: Parties, levels: list[int]) -> httpx.Response:
    body = upload(who.step(), who.tokens(len(levels)), levels=levels)
    return client.post(who.path("/reports"), content=body)


def public(client: Client, who: Parties) -> list[int]:
    people: list[int] = client.get(who.path()).json()["people"]
    return people


@pytest.mark.parametrize("level", range(3))
def test_nobody_sees_one_person_answer(
    level: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = parties(minimum=40)
    monkeypatch.setattr("shuffledp_services.shuffler.shuffler_app._SHOW_SECONDS", 0.01)
    crowd = [0] * 15 + [1] * 27 + [2] * 45

    def shown_since(client: Client) -> list[int]:
        time.sleep(0.1)
        return public(client, who)

    with Client(who.app(SqliteStore(tmp_path / "db"), Analyst(who))) as client:
        post(client, who, crowd)
        before = shown_since(client)
        post(client, who, [level])
        after = shown_since(client)

    assert before == after == [10, 20, 40]


def test_numbers_are_not_shown_before_their_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = parties(minimum=40)

    with Client(who.app(SqliteStore(tmp_path / "db"), Analyst(who))) as client:
        post(client, who, [0, 1, 2] * 50)
        early = client.get(who.path()).json()
    # A service that starts says what there is.
    with Client(who.app(SqliteStore(tmp_path / "db"), Analyst(who))) as client:
        later = client.get(who.path()).json()

    assert (early["people"], early["shortfalls"][0]) == (
        [0, 0, 0],
        "level 0.5: 0 of 40 people",
    )
    assert (later["people"], later["shortfalls"]) == ([50, 50, 50], [])


def test_the_operator_and_a_closed_step_have_exact_numbers(tmp_path: Path) -> None:
    who = parties(minimum=3)
    analyst = Analyst(who, [lambda: httpx.Response(503)] * 10**6)

    with Client(who.app(SqliteStore(tmp_path / "db"), analyst)) as client:
        post(client, who, [0, 0, 0, 1, 1, 2])
        forged = who.command("status", key=who.analyst_key)
        stranger = client.post(who.path("/commands"), content=forged)
        exact = who.order(client, "status").json()
        missing = who.order(client, "close")
        post(client, who, [1, 2, 2, 2])
        who.order(client, "close")
        closed = public(client, who)

    assert reason(stranger) == "signature-forged"
    assert exact["people"] == [3, 2, 1]
    assert "level 1: 2 of 3 people; level 2: 1 of 3 people" in missing.text
    assert closed == [3, 3, 4]


def test_a_step_closes_by_itself_at_the_exact_number(tmp_path: Path) -> None:
    who = parties(minimum=3)
    analyst = Analyst(who)

    with Client(who.app(SqliteStore(tmp_path / "db"), analyst, close_at=10)) as client:
        post(client, who, [0, 1, 2] * 3)
        time.sleep(0.1)
        open_still = client.get(who.path()).json()["phase"]
        post(client, who, [0])
        while client.get(who.path()).json()["phase"] != "delivered":
            time.sleep(0.01)

    assert open_still == "open"
    assert analyst.received[0][0].people == (4, 3, 3)


@given(st.integers(1, 10**6), st.integers(0, 2 * 10**6))
def test_rounded_numbers_say_whether_the_minimum_is_reached_and_little_else(
    minimum: int, count: int
) -> None:
    task = parties(minimum=minimum).task
    grid = max(10, minimum // 20)

    [shown, *_] = coarsen_counts(task, (count,) * 3)

    assert 0 <= count - shown < grid
    assert (shown >= minimum) == (count >= minimum)
    assert coarsen_counts(task, (shown,) * 3) == (shown,) * 3
    assert shown == 0 or (shown - minimum) % grid == 0
