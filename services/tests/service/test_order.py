"""The order of a batch: a function of its sealed messages, which the analyst checks."""

import hashlib
import os
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from analyst_parties import Service, answers, crowd_levels, parties, serve
from hypothesis import given
from hypothesis import strategies as st
from shuffler_parties import reason
from whole_batches import leading, split, write_whole

from shuffledp.types import Mode
from shuffledp_services.wire.batch import Shard
from shuffledp_services.wire.canonical import to_text
from shuffledp_services.wire.message_order import ShardCheck, sort_by_hash
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.step import Step

SIZE = 7


def by_hash(messages: Sequence[bytes]) -> list[bytes]:
    return sorted(messages, key=lambda message: hashlib.sha256(message).digest())


def check(
    messages: Sequence[bytes],
    cuts: Sequence[int] = (),
    *,
    prefix: int = 0,
    bits: int = 0,
    signed: Sequence[bytes] | None = None,
) -> None:
    """Checks a shard of small messages, cut at these places on their way."""
    content = b"".join(messages)
    expected = messages if signed is None else signed
    digest = hashlib.sha256(b"".join(expected)).digest()
    order = ShardCheck(Shard(0, prefix, len(expected), digest), bits=bits, size=SIZE)
    edges = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    for start, end in pairwise(edges):
        order.add(content[start:end])
    order.finish()


def reason_of(*arguments: Any, **options: Any) -> Reason:
    with pytest.raises(Refusal) as caught:
        check(*arguments, **options)
    return caught.value.reason


MESSAGES = st.lists(st.binary(min_size=SIZE, max_size=SIZE), unique=True, max_size=30)


@given(MESSAGES, st.lists(st.integers(0, 230), max_size=9))
def test_a_sorted_shard_is_accepted_however_it_is_cut(
    messages: list[bytes], cuts: list[int]
) -> None:
    ordered = sort_by_hash(b"".join(messages), SIZE)

    rows = [row.tobytes() for row in ordered]

    assert rows == by_hash(messages)
    check(rows, cuts)


@given(MESSAGES.filter(lambda pile: len(pile) > 1), st.randoms(), st.integers(0, 230))
def test_every_other_order_and_every_copy_is_refused(
    pile: list[bytes], random: Random, cut: int
) -> None:
    right = by_hash(pile)
    wrong, place = list(right), len(pile) // 2
    random.shuffle(wrong)

    bad = [[*right[:place], right[place], *right[place:]]]
    bad += [wrong] if wrong != right else []
    for messages in bad:
        assert reason_of(messages, [cut]) is Reason.WRONG_ORDER


@given(MESSAGES, st.integers(1, 12), st.data())
def test_a_shard_has_the_messages_of_its_prefix_alone(
    messages: list[bytes], bits: int, data: st.DataObject
) -> None:
    right = by_hash(messages)
    prefixes = [leading(message, bits) for message in right]
    prefix = data.draw(st.sampled_from([*prefixes, 0, (1 << bits) - 1]))

    check(
        [m for m, p in zip(right, prefixes, strict=True) if p == prefix],
        prefix=prefix,
        bits=bits,
    )
    if any(p != prefix for p in prefixes):
        assert reason_of(right, prefix=prefix, bits=bits) is Reason.WRONG_ORDER


def test_a_shard_that_is_not_the_one_that_was_signed_is_refused() -> None:
    right = by_hash([os.urandom(SIZE) for _ in range(9)])

    for other in (right[:-1], right[1:], right[:4] + right[5:], []):
        assert reason_of(other, signed=right) is Reason.WRONG_SIZE
        assert reason_of(right, signed=other) is Reason.WRONG_SIZE
    others = by_hash([os.urandom(SIZE) for _ in range(9)])
    assert reason_of(others, signed=right) is Reason.WRONG_SIZE
    cut = [*right[:-1], right[-1][:-1]]
    assert reason_of(cut, signed=right) is Reason.WRONG_SIZE


def test_the_order_of_arrival_does_not_show() -> None:
    messages = [os.urandom(57) for _ in range(2000)]

    orders = {
        sort_by_hash(b"".join(arrived), 57).tobytes()
        for arrived in (messages, messages[::-1], sorted(messages))
    }

    assert len(orders) == 1


@pytest.mark.few_cases(2)
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

    async def scenario(service: Service) -> tuple[httpx.Response, set[str], Any]:
        wrong = who.batch(step, messages, levels, disorder=disorder)
        bad = await service.post(wrong)
        kept = {path.name for path in tmp_path.glob("analyst.db.batches/*/*")}
        return bad, kept, await service.post(who.batch(step, messages, levels))

    bad, kept, good = serve(tmp_path, who, scenario)

    assert bad.json()["type"] == "urn:shuffledp:problem:wrong-order"
    assert (bad.status_code, good.status_code) == (400, 200)
    assert kept <= {"manifest.bin", "0.shard", "1.shard"}


def test_a_shard_is_checked_before_all_of_it_has_come(tmp_path: Path) -> None:
    who = parties()
    step = Step(who.task, 1)
    wrong = by_hash([os.urandom(step.sealed_size) for _ in range(3000)])[::-1]
    content = write_whole(
        step,
        bytes(16),
        (1000,) * 3,
        wrong,
        who.shuffler_key,
        enrolment=who.enroller.enrolment(1),
        after=0,
    )
    manifest, [shard] = split(content)
    read = 0

    async def parts() -> AsyncIterator[bytes]:
        nonlocal read
        for start in range(0, len(shard), 1000):
            read += 1000
            yield shard[start : start + 1000]

    async def scenario(service: Service) -> tuple[httpx.Response, list[str]]:
        path = f"/tasks/{who.task.identity}/batches"
        assert (await service.client.post(path, content=manifest)).status_code == 202
        path += f"/{to_text(bytes(16))}/shards/0"
        answer = await service.client.put(path, content=parts())
        kept = tmp_path.glob("analyst.db.batches/*/*")
        return answer, [path.name for path in kept]

    answer, kept = serve(tmp_path, who, scenario)

    assert reason(answer) == "wrong-order"
    assert read < 5000
    assert kept == ["manifest.bin"]
