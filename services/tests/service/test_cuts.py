"""Connections that break in the middle: of uploads, of the hand-over, of a plan."""

import asyncio
from pathlib import Path

import pytest
from cutting_proxy import Cut, Proxy
from live_collection import (
    close,
    deliver,
    estimate_of_items,
    estimate_of_one_value,
    one_value_epoch,
    people_of,
    planned_epoch,
    published,
    task_for,
)
from live_services import pair
from service_parties import published_values

from shuffledp_services.http import http_client

# A batch of 240 messages has 14 KB, and a manifest of 1 to 2 KB; an answer some 300 bytes.
_CUTS = [
    Cut("request", 0),
    Cut("request", 100),
    Cut("request", 700),
    Cut("request", 2_500),
    Cut("response", 0),
    Cut("response", 20),
    Cut("response", 200),
]


@pytest.fixture(autouse=True)
def _ask_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices wait longer and longer before they ask again, for seconds in the end."""
    monkeypatch.setattr(http_client, "_FIRST_PAUSE", 0.02)
    monkeypatch.setattr(http_client, "_LONGEST_PAUSE", 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("shard", [16, 1000], ids=["shards", "one"])
def test_a_hand_over_that_is_cut_again_and_again_arrives_once(
    tmp_path: Path, shard: int
) -> None:
    who = task_for("frequency", 80)
    people = people_of(who, 1, 80)

    with Proxy(_CUTS) as proxy:
        shuffler, analyst = pair(
            who, tmp_path, between=proxy.before, shuffler={"shard": shard}
        )
        with shuffler, analyst:
            result = asyncio.run(one_value_epoch(shuffler, analyst, people, 1))

    # Of shards that travel at once, the others are given up when the first one is cut.
    made, planned = sorted(map(str, proxy.made)), sorted(map(str, _CUTS))
    assert made == planned or (shard == 16 and len(made) > 3)
    assert result["people"] == [80, 80, 80]
    assert published_values(result) == estimate_of_one_value(who, people, 1)
    # Of batches nothing is left but the public list of their messages' hashes.
    left = (tmp_path / "analyst.db.batches").iterdir()
    assert {path.suffix for path in left} == {".messages"}


@pytest.mark.slow
def test_a_plan_whose_answer_is_cut_is_the_same_when_it_comes(tmp_path: Path) -> None:
    who = task_for("items")
    people = people_of(who, 1)
    cuts = [Cut("request", 900), Cut("response", 0), Cut("response", 250)]

    with Proxy(cuts) as proxy:
        shuffler, analyst = pair(who, tmp_path, between=proxy.before)
        with shuffler, analyst:
            plan, result = asyncio.run(planned_epoch(shuffler, analyst, people))

    assert len(proxy.made) == 3
    assert published_values(result) == estimate_of_items(who, people, plan)


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["request", "response"])
def test_uploads_that_are_cut_count_once(tmp_path: Path, direction: str) -> None:
    who = task_for("stratified", 60)
    people = people_of(who, 1, 60)
    # An upload has some 1,250 bytes with its header, a receipt some 600.
    places = (0, 150, 300, 500, 1_100, 1_500, 2_000)
    cuts = [Cut(direction, place) for place in places]  # type: ignore[arg-type]

    with Proxy(cuts) as proxy:
        shuffler, analyst = pair(who, tmp_path)
        proxy.before(shuffler.setup.port)
        with shuffler, analyst:

            async def collect() -> tuple[object, ...]:
                url = f"http://127.0.0.1:{proxy.port}"
                delivery = await deliver(shuffler, people, url=url)
                await close(shuffler, 1)
                return delivery, await published(analyst, 1)

            delivery, result = asyncio.run(collect())

    assert len(proxy.made) == len(cuts)
    assert (delivery.accepted, delivery.refused) == (180, {})  # type: ignore[attr-defined]
    assert result["people"] == [60, 60, 60]  # type: ignore[index]
