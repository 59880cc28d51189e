"""Canaries are sent as anybody's reports are, and their record is there before them."""

import asyncio
from collections.abc import Callable

import httpx
import numpy as np
import pytest
from service_parties import Parties, parties
from test_device import Shuffler

from shuffledp.errors import InvalidInputError
from shuffledp_services.audit.canary_records import canary_record, draw_canaries
from shuffledp_services.audit.canary_uploads import (
    open_step,
    seal_canaries,
    send_canaries,
)
from shuffledp_services.device.simulated_devices import Delivery
from shuffledp_services.wire.canonical import sha256
from shuffledp_services.wire.inclusion import KeptReceipt
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.sealing import Opener
from shuffledp_services.wire.upload_format import read_messages

URL = "https://shuffler.example"
COUNT = 12


def sing(
    made: Parties,
    handler: Callable[[httpx.Request], httpx.Response],
    keep: Callable[[bytes], object],
    *,
    seconds: float = 0.0,
) -> tuple[Delivery, list[tuple[bytes, ...]]]:
    """Sends canaries; returns what became of them, and the hashes of their messages."""

    async def run() -> tuple[Delivery, list[tuple[bytes, ...]]]:
        rng = np.random.default_rng(1)
        async with httpx.AsyncClient(transport=httpx.MockTransport(handler)) as client:
            step = await open_step(client, URL, task=made.task)
            drawn = draw_canaries(made.task, COUNT, rng=rng)
            uploads = seal_canaries(
                step,
                drawn.values,
                drawn.levels,
                tokens=made.enroller.tokens(COUNT),
                rng=rng,
            )
            delivery = await send_canaries(
                client,
                uploads,
                step=step,
                shuffler=URL,
                keep=keep,
                rng=rng,
                seconds=seconds,
            )
            record = canary_record(step, drawn, uploads)
            assert not record.receipts.any()
            sent = [
                each.tobytes().ljust(32, b"\0") for each in record.hashes.reshape(-1)
            ]
            assert sent == [message for each in uploads for message in each.hashes]
            return delivery, [upload.hashes for upload in uploads]

    return asyncio.run(run())


def test_each_is_an_upload_of_its_own_in_the_order_of_the_record() -> None:
    made = parties("frequency", mode="stratified")
    shuffler, receipts = Shuffler(made), list[bytes]()

    delivery, hashes = sing(made, shuffler, receipts.append)

    assert delivery == Delivery(COUNT, {})
    assert shuffler.uploads == [1] * COUNT
    kept = [tuple(map(sha256, sealed)) for _, _, sealed in shuffler.kept]
    assert kept == hashes
    named = [KeptReceipt.read(line, made.task).messages for line in receipts]
    assert named == hashes
    for step, level, sealed in shuffler.kept:
        opener = Opener(made.task.suite, made.analyst.private_key, step.info(level))
        text = opener.open(sealed[0])
        assert text is not None
        assert 0 <= int(read_messages(text)[0][0]) < 4


def test_what_was_taken_in_before_a_failure_keeps_its_receipt() -> None:
    made = parties("frequency")
    shuffler, receipts = Shuffler(made), list[bytes]()

    def closing(request: httpx.Request) -> httpx.Response:
        if len(shuffler.uploads) == 5 and request.method == "POST":
            problem = Refusal(Reason.NOT_OPEN, "Closed.").problem
            return httpx.Response(problem.status, json=problem.to_dict())
        return shuffler(request)

    with pytest.raises(Refusal) as caught:
        sing(made, closing, receipts.append)

    assert caught.value.reason is Reason.NOT_OPEN
    assert len(receipts) == 5


def test_they_come_at_random_times_within_the_time_that_is_given() -> None:
    made = parties("frequency")
    shuffler, times = Shuffler(made), list[float]()

    def timed(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            times.append(asyncio.get_running_loop().time())
        return shuffler(request)

    sing(made, timed, lambda _: None, seconds=0.3)

    # The largest gap of twelve uniform times is hardly ever below a tenth of all.
    assert max(np.diff(times)) > 0.03


def test_none_is_sent_where_nothing_is_taken_or_people_choose_targets() -> None:
    made, items = parties("frequency"), parties("items")
    closed = Shuffler(made)

    def answers(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={**closed.document(), "phase": "closed"})

    with pytest.raises(Refusal) as caught:
        sing(made, answers, lambda _: None)
    assert caught.value.reason is Reason.NOT_OPEN
    with pytest.raises(InvalidInputError, match="people choose levels"):
        sing(items, Shuffler(items), lambda _: None)
    with pytest.raises(Refusal, match="the task that was agreed to"):
        sing(made, Shuffler(parties("frequency")), lambda _: None)
