"""The order of a batch: a function of its sealed messages, which the analyst checks."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

import httpx
import pytest
from analyst_parties import Service, answers, crowd_levels, parties, serve
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.service.analyst.intake import BatchIntake
from shuffledp.service.wire.batch import write_batch
from shuffledp.service.wire.order import OrderCheck, in_order
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.step import Step
from shuffledp.types import Mode


def by_hash(messages: Sequence[bytes]) -> list[bytes]:
    return sorted(messages, key=lambda message: hashlib.sha256(message).digest())


def check(piles: Sequence[Sequence[bytes]], cuts: Sequence[int] = ()) -> None:
    """Checks piles of messages of 7 bytes, cut at these places on their way."""
    content = b"".join(message for pile in piles for message in pile)
    order = OrderCheck([len(pile) for pile in piles], 7)
    edges = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    for start, end in pairwise(edges):
        order.add(content[start:end])


MESSAGES = st.lists(st.binary(min_size=7, max_size=7), unique=True, max_size=30)


@given(st.lists(MESSAGES, max_size=4), st.lists(st.integers(0, 900), max_size=9))
def test_sorted_piles_are_accepted_however_they_are_cut(
    piles: list[list[bytes]], cuts: list[int]
) -> None:
    ordered = [in_order(b"".join(pile), 7) for pile in piles]

    rows = [[row.tobytes() for row in pile] for pile in ordered]

    assert rows == [by_hash(pile) for pile in piles]
    check(rows, cuts)


@given(MESSAGES.filter(lambda pile: len(pile) > 1), st.randoms())
def test_every_other_order_and_every_copy_is_refused(
    pile: list[bytes], random: Random
) -> None:
    right = by_hash(pile)
    wrong, place = list(right), len(pile) // 2
    random.shuffle(wrong)

    bad = [[*right[:place], right[place], *right[place:]]]
    bad += [wrong] if wrong != right else []
    for messages in bad:
        with pytest.raises(Refusal) as caught:
            check([messages])
        assert caught.value.reason is Reason.WRONG_ORDER


def test_the_order_of_arrival_does_not_show() -> None:
    messages = [os.urandom(57) for _ in range(2000)]

    orders = {
        in_order(b"".join(arrived), 57).tobytes()
        for arrived in (messages, messages[::-1], sorted(messages))
    }

    assert len(orders) == 1


def test_a_message_more_than_there_are_people_is_refused() -> None:
    right = by_hash([os.urandom(7) for _ in range(3)])
    order = OrderCheck([2], 7)

    with pytest.raises(Refusal, match="no more"):
        order.add(b"".join(right))


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
@pytest.mark.parametrize("trouble", ["as they arrived", "repeated"])
def test_the_analyst_takes_no_batch_in_another_order(
    tmp_path: Path, mode: Mode, trouble: str
) -> None:
    who = parties(mode=mode)
    step, levels = Step(who.task, 1), crowd_levels()
    messages = answers(step, levels)

    def disorder(sealed: list[bytes]) -> None:
        sealed[-1], sealed[-2] = sealed[-2], sealed[-1]
        if trouble == "repeated":
            sealed[-2] = sealed[-1]

    async def scenario(service: Service) -> tuple[httpx.Response, int, httpx.Response]:
        wrong = who.batch(step, messages, levels, disorder=disorder)
        bad = await service.post(wrong)
        kept = len(list((tmp_path / "analyst.db.batches").iterdir()))
        return bad, kept, await service.post(who.batch(step, messages, levels))

    bad, kept, good = serve(tmp_path, who, scenario)

    assert bad.json()["type"] == "urn:shuffledp:problem:wrong-order"
    assert (bad.status_code, kept, good.status_code) == (400, 0, 200)


def test_a_batch_is_checked_before_all_of_it_has_come(tmp_path: Path) -> None:
    who = parties()
    step = Step(who.task, 1)
    wrong = by_hash([os.urandom(step.sealed_size) for _ in range(3000)])[::-1]
    content = write_batch(
        step,
        bytes(16),
        (1000,) * 3,
        b"".join(wrong),
        who.shuffler_key,
        enrolment=who.enroller.enrolment(1),
        after=0,
    )
    read = 0

    async def parts() -> AsyncIterator[bytes]:
        nonlocal read
        for start in range(0, len(content), 1000):
            read += 1000
            yield content[start : start + 1000]

    async def receive() -> None:
        intake = BatchIntake(parts())
        header = await intake.header(who.task)
        await intake.save(header, tmp_path / "incoming")

    with pytest.raises(Refusal) as caught:
        asyncio.run(receive())

    assert caught.value.reason is Reason.WRONG_ORDER
    assert read < 5000
