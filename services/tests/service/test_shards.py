"""Batches in shards: sorted with little memory, handed over in any order, counted once."""

import asyncio
import hashlib
import random
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import shuffler_parties
from analyst_parties import (
    Parties,
    Service,
    answers,
    crowd_levels,
    parties,
    serve,
    usual_batch,
)
from hypothesis import given
from hypothesis import strategies as st
from shuffler_parties import Analyst, Client, StoreMaker, messages, reason, upload
from whole_batches import read_whole, split, write_whole

from shuffledp.types import Mode
from shuffledp_services.shuffler import shard_sorter
from shuffledp_services.wire.batch import MAX_BITS, MAX_HEADER, write_manifest
from shuffledp_services.wire.inclusion import list_messages
from shuffledp_services.wire.step import Step

pytest_plugins = ["store_fixtures"]

BITS = 3
STAYS = {"manifest.bin"}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
@pytest.mark.parametrize("held", [300, 1 << 26], ids=["spilled", "in memory"])
def test_the_close_sorts_whatever_was_collected_into_shards(
    make_store: StoreMaker, monkeypatch: pytest.MonkeyPatch, mode: Mode, held: int
) -> None:
    monkeypatch.setattr(shard_sorter, "SHARD_MESSAGES", 8)
    monkeypatch.setattr(shard_sorter, "SPILL_BYTES", held)
    # Pieces end within messages.
    monkeypatch.setattr(shard_sorter, "CHUNK", 200)
    who = shuffler_parties.parties(mode=mode)
    analyst, step = Analyst(who), who.step()
    sent = [list[bytes]() for _ in range(step.groups)]

    with Client(who.app(make_store(), analyst)) as client:
        for count in (1, 100, 1, 50, 40):
            sealed = messages(step, count)
            levels = [place % 3 for place in range(count)]
            for level, (message,) in zip(levels, sealed, strict=True):
                sent[level if step.linked else 0].append(message)
            body = upload(step, who.tokens(count), levels=levels, sealed=sealed)
            assert client.post(who.path("/reports"), content=body).is_success
        who.order(client, "close")
        while client.get(who.path()).json()["phase"] != "delivered":
            pass

    [piles], [(header, _)] = analyst.piles, analyst.received
    assert header.bits == (4 if step.linked else 5)
    assert piles == [sorted(set(pile), key=hash_of) for pile in sent]


def hash_of(message: bytes) -> bytes:
    return hashlib.sha256(message).digest()


@given(st.lists(st.integers(0, 10**11), min_size=1, max_size=20), st.integers(1, 10**4))
def test_shards_are_small_unless_a_manifest_has_no_room_for_so_many(
    piles: list[int], size: int
) -> None:
    bits = shard_sorter.bits_for(piles, size)

    shards = len(piles) << bits
    assert shards <= 1 << MAX_BITS
    # Of each at most a number, a digest and five marks.
    assert shards * (len(str(max(piles))) + 43 + 6) < MAX_HEADER * 0.98
    each = max(piles) / 2**bits
    small = each <= 2**17 and each * size <= 2**25 + size
    assert small or 2 * shards > 1 << MAX_BITS
    if bits:
        assert 2 * each > 2**17 or 2 * each * size > 2**25


@pytest.mark.slow
def test_a_close_and_a_list_hold_a_small_part_of_the_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_sorter, "SHARD_MESSAGES", 1 << 9)
    monkeypatch.setattr(shard_sorter, "SPILL_BYTES", 1 << 16)
    monkeypatch.setattr(shard_sorter, "CHUNK", 1 << 15)
    step, number, rng = shuffler_parties.parties().step(), 60_000, random.Random(1)
    size = step.sealed_size
    paths = [tmp_path / str(place) for place in range(128)]

    def keep(spilled: list[shard_sorter.Piece]) -> None:
        for place, _, content in spilled:
            with paths[place].open("ab") as file:
                file.write(content)

    sort = shard_sorter.ShardSorter(step, (number, 0, 0))
    tracemalloc.start()
    try:
        for _ in range(100):
            if sort.add(0, rng.randbytes(size * number // 100)):
                keep(sort.deal())
        keep(sort.deal())
        for place in sort.shard_indices:
            pieces = sort.sort(place, [paths[place].read_bytes()])
            paths[place].write_bytes(b"".join(content for *_, content in pieces))
        digest = hashlib.sha256()
        for part in list_messages([[path] for path in paths], size):
            digest.update(part)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert sum(shard.messages for shard in sort.shards) == number
    messages = b"".join(path.read_bytes() for path in paths)
    rows = [messages[at : at + size] for at in range(0, len(messages), size)]
    assert digest.digest() == hash_of(b"".join(sorted(map(hash_of, rows))))
    # All of them are 3.4 MB, and their hashes 1.9 MB more.
    assert peak < 1.5e6


def same_batch(who: Parties, *bits: int) -> list[bytes]:
    """One batch of sealed messages, cut in several ways."""
    step, levels = Step(who.task, 1), crowd_levels()
    first = who.batch(step, answers(step, levels), levels, batch_id=bytes(16))
    header, piles = read_whole(first, who.task)
    sealed = [message for pile in piles for message in pile]
    return [
        write_whole(
            step,
            bytes(16),
            header.people,
            sealed,
            who.shuffler_key,
            enrolment=header.enrolment,
            after=0,
            bits=each,
        )
        for each in bits
    ]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_the_result_does_not_depend_on_how_a_batch_is_cut(
    tmp_path: Path, mode: Mode
) -> None:
    who = parties(mode=mode)
    found = []
    # In the last one some shards are empty.
    for number, batch in enumerate(same_batch(who, 0, 1, 7)):

        async def scenario(service: Service, batch: bytes = batch) -> tuple[Any, bytes]:
            assert (await service.post(batch)).status_code == 200
            assert (await service.counted())["phase"] == "published"
            listed = await service.client.get(
                f"/tasks/{who.task.identity}/epochs/1/messages"
            )
            return (await service.result()).json(), listed.content

        folder = tmp_path / str(number)
        folder.mkdir()
        found.append(serve(folder, who, scenario))
        _, piles = read_whole(batch, who.task)
        hashes = sorted(hash_of(message) for pile in piles for message in pile)
        assert found[-1][1] == b"".join(hashes)

    assert found[0] == found[1] == found[2]


def kept(folder: Path) -> set[str]:
    """Files of batches."""
    return {path.name for path in (folder / "analyst.db.batches").glob("*/*")}


@pytest.mark.slow
def test_shards_come_in_any_order_and_what_has_come_is_not_asked_for_again(
    tmp_path: Path,
) -> None:
    who = parties()
    manifest, shards = split(usual_batch(who, bits=BITS))
    places = random.Random(1).sample(range(8), 8)
    path = f"/tasks/{who.task.identity}/batches"

    async def first(service: Service) -> list[int]:
        assert (await service.put(manifest, 0, shards[0])).status_code == 409
        await service.client.post(path, content=manifest)
        puts = [service.put(manifest, place, shards[place]) for place in places[:5]]
        # One of them twice, at once.
        puts.append(service.put(manifest, places[0], shards[places[0]]))
        assert {put.status_code for put in await asyncio.gather(*puts)} == {204}
        answer = await service.client.post(path, content=manifest)
        assert answer.status_code == 202
        missing: list[int] = answer.json()["missing"]
        return missing

    async def second(service: Service) -> Any:
        # She knows after her start what she waits for.
        for place in places[5:]:
            put = await service.put(manifest, place, shards[place])
            assert put.status_code == 204
        answers = [service.client.post(path, content=manifest) for _ in range(3)]
        found = await asyncio.gather(*answers)
        assert {answer.status_code for answer in found} == {200}
        assert len({answer.content for answer in found}) == 1
        late = await service.put(manifest, 0, shards[0])
        return reason(late), await service.counted()

    assert serve(tmp_path, who, first) == sorted(places[5:])
    half = next((tmp_path / "analyst.db.batches").iterdir()) / "9.half.incoming"
    half.write_bytes(b"half")
    late, status = serve(tmp_path, who, second)

    assert late == "not-open"
    assert (status["phase"], status["people"]) == ("published", [60] * 3)
    assert len(status["epochs"]) == 1
    assert kept(tmp_path) == set()


def test_only_the_shard_that_was_signed_is_kept_in_its_place(tmp_path: Path) -> None:
    who = parties()
    batch, other = usual_batch(who, bits=BITS), usual_batch(who, bits=BITS)
    (manifest, shards), (stranger, strange) = split(batch), split(other)
    shard, size = shards[2], Step(who.task, 1).sealed_size
    turned = shard[size : 2 * size] + shard[:size] + shard[2 * size :]
    doubled = shard[:size] + shard[:size] + shard[2 * size :]
    wrong = {
        "foreign prefix": (2, shards[3], {"wrong-order", "wrong-size"}),
        "mixed": (2, shard[:-size] + shards[3][-size:], {"wrong-order"}),
        "turned": (2, turned, {"wrong-order"}),
        "doubled": (2, doubled, {"wrong-order"}),
        "cut": (2, shard[:-1], {"wrong-size"}),
        "a message less": (2, shard[:-size], {"wrong-size"}),
        "more": (2, shard + b"x", {"wrong-size"}),
        "nothing": (2, b"", {"wrong-size"}),
        "of another batch": (2, strange[2], {"wrong-order", "wrong-size"}),
        "no place": (8, shard, {"not-found"}),
    }

    async def scenario(service: Service) -> Any:
        path = f"/tasks/{who.task.identity}/batches"
        await service.client.post(path, content=manifest)
        found = {
            name: reason(await service.put(manifest, place, content))
            for name, (place, content, _) in wrong.items()
        }
        found["unknown batch"] = reason(await service.put(stranger, 2, strange[2]))
        left = kept(tmp_path)
        missing = (await service.client.post(path, content=manifest)).json()
        return found, left, missing, await service.post(batch)

    found, left, missing, good = serve(tmp_path, who, scenario)

    assert found.pop("unknown batch") == "not-open"
    assert {
        name: one in wrong[name][2] for name, one in found.items()
    } == dict.fromkeys(wrong, True)
    assert left == STAYS
    assert missing == {"missing": list(range(8))}
    assert good.status_code == 200


def test_nobody_but_the_shuffler_makes_the_analyst_keep_anything(
    tmp_path: Path,
) -> None:
    who, stranger = parties(), parties()
    forged, _ = split(usual_batch(who, bits=BITS, shuffler_key=stranger.shuffler_key))
    path = f"/tasks/{who.task.identity}/batches"

    async def scenario(service: Service) -> Any:
        answer = await service.client.post(path, content=forged)
        put = await service.put(forged, 0, b"anything")
        return reason(answer), reason(put), kept(tmp_path)

    assert serve(tmp_path, who, scenario) == ("signature-forged", "not-open", set())


@pytest.mark.slow
def test_what_came_of_a_batch_that_another_one_replaces_is_deleted(
    tmp_path: Path,
) -> None:
    who = parties()
    dropped, batch = usual_batch(who, bits=BITS), usual_batch(who, bits=BITS)
    (old, shards), (new, _) = split(dropped), split(batch)
    path = f"/tasks/{who.task.identity}/batches"

    async def first(service: Service) -> Any:
        await service.client.post(path, content=old)
        assert (await service.put(old, 0, shards[0])).status_code == 204
        await service.client.post(path, content=new)
        return kept(tmp_path), reason(await service.put(old, 1, shards[1]))

    async def second(service: Service) -> Any:
        assert (await service.post(batch)).status_code == 200
        await service.counted()
        return (await service.result()).json()["epoch"]

    assert serve(tmp_path, who, first) == (STAYS, "not-open")
    assert serve(tmp_path, who, second) == 1
    # As if it had been written before the other one was received.
    left = tmp_path / "analyst.db.batches" / f"{who.task.identity}.{'A' * 22}.sealed"
    left.mkdir()
    (left / "manifest.bin").write_bytes(old)

    async def third(_service: Service) -> Any:
        return kept(tmp_path)

    assert serve(tmp_path, who, third) == set()


def test_a_manifest_that_cannot_be_paid_for_is_not_kept(tmp_path: Path) -> None:
    who = parties()
    later, _ = split(usual_batch(who, epoch=3, after=2, bits=BITS))

    async def scenario(service: Service) -> Any:
        path = f"/tasks/{who.task.identity}/batches"
        answer = await service.client.post(path, content=later)
        return reason(answer), kept(tmp_path)

    assert serve(tmp_path, who, scenario) == ("wrong-epoch", set())


class Slow(Analyst):
    """Takes one shard for each manifest, and then says nothing for a while."""

    def __init__(self, who: shuffler_parties.Parties) -> None:
        super().__init__(who)
        self.asked, self.taken = 0, list[str]()

    async def answer(self, request: httpx.Request) -> httpx.Response:
        if request.method == "PUT":
            if len(self.taken) >= self.asked:
                return httpx.Response(503)
            self.taken.append(request.url.path)
        else:
            self.asked += 1
        return await super().answer(request)


def test_a_hand_over_goes_on_where_it_was_and_shards_that_move_are_no_failure(
    make_store: StoreMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_sorter, "SHARD_MESSAGES", 8)
    who = shuffler_parties.parties()
    analyst = Slow(who)
    attempts = list[int]()

    with Client(who.app(make_store(), analyst)) as client:
        body = upload(who.step(), who.tokens(60))
        assert client.post(who.path("/reports"), content=body).is_success
        who.order(client, "close")
        while (now := client.get(who.path()).json())["phase"] != "delivered":
            attempts.append(now["hand_over"]["attempts"])

    [(header, _)] = analyst.received
    sent = sum(shard.messages > 0 for shard in header.shards)
    assert len(analyst.taken) == len(set(analyst.taken)) == sent > 4
    assert set(attempts) == {0}
    assert header.people == (20, 20, 20)


def test_a_shard_that_is_refused_refuses_the_batch(make_store: StoreMaker) -> None:
    who = shuffler_parties.parties()

    class Refusing(Analyst):
        async def answer(self, request: httpx.Request) -> httpx.Response:
            if request.method == "PUT":
                problem = {"type": "urn:shuffledp:problem:wrong-order"}
                return httpx.Response(400, json=problem)
            return await super().answer(request)

    with Client(who.app(make_store(), Refusing(who))) as client:
        body = upload(who.step(), who.tokens(6))
        assert client.post(who.path("/reports"), content=body).is_success
        who.order(client, "close")
        while (
            refused := client.get(who.path()).json()["hand_over"]["refused"]
        ) is None:
            pass
        who.order(client, "skip")
        status = client.get(who.path()).json()

    assert refused == "wrong-order"
    assert (status["phase"], status["people"]) == ("skipped", [0, 0, 0])


def test_a_signed_batch_whose_shards_are_another_ones_is_refused(
    tmp_path: Path,
) -> None:
    who = parties()
    batch = usual_batch(who, bits=BITS)
    header, _ = read_whole(batch, who.task)
    first, second, *rest = header.shards
    swapped = (replace(second, prefix=0), replace(first, prefix=1), *rest)
    _, shards = split(batch)

    changed = write_manifest(replace(header, shards=swapped), who.shuffler_key)
    moved = changed + b"".join([shards[1], shards[0], *shards[2:]])

    async def scenario(service: Service) -> str:
        return reason(await service.post(moved))

    assert serve(tmp_path, who, scenario) == "wrong-order"
