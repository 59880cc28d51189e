"""Large bodies that stand still, at the room that they share: nobody waits for them."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import analyst_parties
import httpx
import pytest
from analyst_parties import usual_batch
from shuffler_parties import Analyst, parties, reason, upload
from whole_batches import split

from shuffledp_services.http.body_memory import SMALL_BODY, Body, BodyMemory
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.wire.batch import MAGIC, MAX_HEADER
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.tokens import TOKEN_SIZE
from shuffledp_services.wire.upload_format import HEADER_SIZE, MAX_BODY, write_header

LARGE = SMALL_BODY + 1
BEGIN = HEADER_SIZE + TOKEN_SIZE


@dataclass
class Sender:
    """Sends a body in two parts, and waits for as long as it likes between them."""

    first: bytes
    rest: bytes = b""
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def parts(self) -> AsyncIterator[bytes]:
        yield self.first
        await self.goes_on.wait()
        yield self.rest

    async def post(self, client: httpx.AsyncClient, path: str) -> httpx.Response:
        size = len(self.first) + len(self.rest)
        headers = {"Content-Length": str(size)}
        return await client.post(path, content=self.parts(), headers=headers)


async def arrive(body: Body, parts: int, *, token: bytes = b"") -> None:
    async with body.arrival():
        if token:
            body.claim(token)
        for _ in range(parts):
            body.add(bytes(LARGE))
        await asyncio.Event().wait()


async def start(
    room: BodyMemory, parts: int, *, token: bytes = b""
) -> asyncio.Task[None]:
    """A body of so many parts of which all have arrived, and an end that never does."""
    arriving = asyncio.create_task(arrive(Body(room), parts, token=token))
    await asyncio.sleep(0)
    return arriving


def test_the_oldest_large_body_makes_room_for_a_newer_one() -> None:
    async def scenario() -> list[bool]:
        room = BodyMemory(3 * LARGE)
        bodies = [await start(room, 1) for _ in range(5)]
        await asyncio.sleep(0.01)
        dropped = [body.done() for body in bodies]
        for body in bodies:
            body.cancel()
        answers = await asyncio.gather(*bodies, return_exceptions=True)
        assert all(isinstance(answer, Refusal) for answer in answers[:2])
        return dropped

    assert asyncio.run(scenario()) == [True, True, False, False, False]


def test_a_body_that_is_whole_is_never_dropped() -> None:
    async def scenario() -> Reason:
        room = BodyMemory(2 * LARGE)
        whole = [Body(room) for _ in range(2)]
        for body in whole:
            async with body.arrival():
                body.add(bytes(LARGE))
        with pytest.raises(Refusal) as caught:
            await asyncio.wait_for(arrive(Body(room), 1), 5.0)
        assert [len(body.content()) for body in whole] == [LARGE, LARGE]
        for body in whole:
            body.release()
        # All of it is free again.
        late = await start(room, 2)
        assert not late.done()
        late.cancel()
        return caught.value.reason

    assert asyncio.run(scenario()) is Reason.STORAGE


def test_small_bodies_take_no_room() -> None:
    async def scenario() -> int:
        room = BodyMemory(LARGE)
        whole = Body(room)
        async with whole.arrival():
            whole.add(bytes(LARGE))
        small = Body(room)
        async with small.arrival():
            small.add(bytes(SMALL_BODY))
        return len(small.content())

    assert asyncio.run(scenario()) == SMALL_BODY


def test_one_token_has_one_body_on_its_way() -> None:
    async def scenario() -> list[bool]:
        room = BodyMemory(10 * LARGE)
        first = await start(room, 1, token=b"one")
        other = await start(room, 1, token=b"other")
        second = await start(room, 1, token=b"one")
        await asyncio.sleep(0.01)
        found = [body.done() for body in (first, other, second)]
        for body in (other, second):
            body.cancel()
        await asyncio.gather(first, other, second, return_exceptions=True)
        return found

    assert asyncio.run(scenario()) == [True, False, False]


def test_one_token_has_one_large_body_that_is_being_checked() -> None:
    async def scenario() -> None:
        room = BodyMemory(10 * LARGE)
        whole = Body(room)
        async with whole.arrival():
            whole.claim(b"one")
            whole.add(bytes(LARGE))
        with pytest.raises(Refusal):
            await asyncio.wait_for(arrive(Body(room), 1, token=b"one"), 5.0)
        whole.release()
        again = await start(room, 1, token=b"one")
        assert not again.done()
        again.cancel()

    asyncio.run(scenario())


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("size", [1, 2_000])
def test_uploads_do_not_wait_for_stalled_ones_with_spent_tokens(
    size: int, tmp_path: Path
) -> None:
    who = parties()
    step, path = who.step(), who.path("/reports")
    spent = who.tokens(17)
    # Of the same bytes, so that it takes no memory here; 16 of them leave fewer bytes of
    # 128 MiB than a report has.
    rest = bytes(MAX_BODY - BEGIN - len(b"end") - 1)
    slow = [Sender(write_header(step) + token + rest, b"end") for token in spent]
    honest = [upload(step, who.tokens(size)) for _ in range(2)]

    async def scenario() -> list[int]:
        app = who.app(SqliteStore(tmp_path / "db"), Analyst(who))
        transport = httpx.ASGITransport(app)
        client = httpx.AsyncClient(transport=transport, base_url="http://shuffler")
        async with app.router.lifespan_context(app), client:
            await client.post(path, content=upload(step, spent))
            stalled = [asyncio.create_task(each.post(client, path)) for each in slow]
            await asyncio.sleep(0.1)
            answers = [await client.post(path, content=body) for body in honest]
            for each in slow:
                each.goes_on.set()
            refused = [reason(answer) for answer in await asyncio.gather(*stalled)]
            assert "storage-full" in refused
        return [answer.json().get("accepted", 0) for answer in answers]

    assert asyncio.run(scenario()) == [size, size]


@pytest.mark.parametrize(
    "bits", [0, pytest.param(11, marks=pytest.mark.slow)], ids=["small", "large"]
)
def test_batches_do_not_wait_for_stalled_manifests_of_strangers(
    bits: int, tmp_path: Path
) -> None:
    who = analyst_parties.parties()
    batch = usual_batch(who, bits=bits)
    assert (len(split(batch)[0]) > SMALL_BODY) is bool(bits)
    path = f"/tasks/{who.task.identity}/batches"
    begin = MAGIC + MAX_HEADER.to_bytes(4, "big")
    slow = [Sender(begin + bytes(MAX_HEADER - 1), b"}") for _ in range(9)]

    async def scenario(service: analyst_parties.Service) -> int:
        stalled = [
            asyncio.create_task(each.post(service.client, path)) for each in slow
        ]
        await asyncio.sleep(0.1)
        manifest, _ = split(batch)
        accepted = await service.client.post(path, content=manifest)
        for each in slow:
            each.goes_on.set()
        refused = {reason(answer) for answer in await asyncio.gather(*stalled)}
        assert refused == {"storage-full", "malformed"}
        return accepted.status_code

    assert analyst_parties.serve(tmp_path, who, scenario) == 202
