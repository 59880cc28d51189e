"""A receipt can be checked against what a signed result was computed from."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from analyst_parties import Parties, Service, parties, serve, usual_batch

from shuffledp.types import Mode
from shuffledp_services.device.receipt_check import missing_messages
from shuffledp_services.wire.canonical import sha256, to_text
from shuffledp_services.wire.inclusion import (
    KeptReceipt,
    check_list,
    check_result,
    includes,
    keep_receipt,
)
from shuffledp_services.wire.receipt import Receipt, messages_digest
from shuffledp_services.wire.refusal import Reason, Refusal


def signed(who: Parties, *messages: bytes, **changed: Any) -> dict[str, Any]:
    """A receipt as the shuffler signs it."""
    digest = messages_digest(map(sha256, messages))
    receipt = Receipt(who.task.digest, 1, 0, digest, 1, ())
    signed: dict[str, Any] = json.loads(
        replace(receipt, **changed).signed(who.shuffler_key)
    )
    return signed


def kept(who: Parties, *messages: bytes, **changed: Any) -> bytes:
    """What the page saves."""
    line = keep_receipt(who.task, list(map(sha256, messages)), signed(who, *messages))
    return json.dumps(json.loads(line) | changed).encode()


async def missing(service: Service, who: Parties, *messages: bytes) -> int:
    receipt = KeptReceipt.read(kept(who, *messages), who.task)
    transport = service.client._transport
    return await missing_messages(
        [receipt], who.task, "https://analyst", transport=transport
    )


def published(
    tmp_path: Path, who: Parties, batch: bytes
) -> tuple[dict[str, Any], bytes]:
    """Returns the result, and the list of its messages."""

    async def scenario(service: Service) -> tuple[dict[str, Any], bytes]:
        assert (await service.post(batch)).is_success
        await service.counted()
        path = f"/tasks/{who.task.identity}/epochs/1/messages"
        listed = await service.client.get(path)
        return (await service.result()).json(), listed.content

    return serve(tmp_path, who, scenario)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_every_message_that_was_handed_over_is_found(
    tmp_path: Path, mode: Mode
) -> None:
    who, sealed = parties(mode=mode), list[bytes]()
    batch = usual_batch(who, disorder=sealed.extend)

    async def scenario(service: Service) -> int:
        path = f"/tasks/{who.task.identity}/epochs/1/messages"
        assert (await service.client.get(path)).status_code == 404
        assert (await service.post(batch)).is_success
        await service.counted()
        return await missing(service, who, *sealed)

    assert serve(tmp_path, who, scenario) == 0
    assert len(sealed) == 180


@pytest.mark.slow
def test_a_message_that_the_shuffler_dropped_is_missed(tmp_path: Path) -> None:
    who, sealed = parties(), list[bytes]()

    def drop(messages: list[bytes]) -> None:
        # Another one is in its place, so that the numbers of people are kept.
        sealed.append(messages[3])
        messages[3] = bytes(len(messages[3]))

    batch = usual_batch(who, spoil=drop)

    async def scenario(service: Service) -> int:
        assert (await service.post(batch)).is_success
        await service.counted()
        return await missing(service, who, *sealed)

    assert serve(tmp_path, who, scenario) == 1


@pytest.mark.slow
def test_a_result_is_signed_and_a_changed_one_is_refused(tmp_path: Path) -> None:
    who = parties()
    result, listed = published(tmp_path, who, usual_batch(who))
    digest = check_result(result, who.task, 1)
    row = result["estimate"]["rows"][0]

    assert digest == sha256(listed)
    for changed in (
        {"people": [61, 60, 60]},
        {"epoch": 2},
        {"spent": [0.0, 0.0, 0.0]},
        {"batch": {**result["batch"], "messages": to_text(sha256(b""))}},
        {"estimate": {**result["estimate"], "rows": [{**row, "value": 0.5}]}},
        {"more": 1},
    ):
        with pytest.raises(Refusal) as refused:
            check_result(result | changed, who.task, 1)
        assert refused.value.reason is Reason.SIGNATURE_FORGED
    with pytest.raises(Refusal, match="epoch 2"):
        check_result(result, who.task, 2)
    with pytest.raises(Refusal):
        check_result(result, parties().task, 1)


@pytest.mark.slow
def test_a_list_that_is_not_the_one_of_the_result_is_refused(tmp_path: Path) -> None:
    who = parties()
    result, listed = published(tmp_path, who, usual_batch(who))
    digest = check_result(result, who.task, 1)

    check_list(listed, digest)
    assert len(listed) == 32 * 180
    assert not includes(listed, bytes(32))
    assert not includes(listed, b"\xff" * 32)
    for other in (listed[32:], listed + listed[:32], listed[:-1], b""):
        with pytest.raises(Refusal, match="that the result names"):
            check_list(other, digest)
    turned = listed[32:64] + listed[:32] + listed[64:]
    with pytest.raises(Refusal, match="that the result names"):
        check_list(turned, sha256(turned))


@pytest.mark.slow
def test_a_list_outlives_the_service_and_one_of_no_result_does_not(
    tmp_path: Path,
) -> None:
    who = parties()
    _, listed = published(tmp_path, who, usual_batch(who))
    folder = tmp_path / "analyst.db.batches"
    (folder / f"{who.task.identity}.2.messages").write_bytes(b"unfinished")

    async def again(service: Service) -> bytes:
        path = f"/tasks/{who.task.identity}/epochs/1/messages"
        return (await service.client.get(path)).content

    assert serve(tmp_path, who, again) == listed
    assert [path.name for path in folder.iterdir()] == [
        f"{who.task.identity}.1.messages"
    ]


@pytest.mark.slow
def test_a_list_that_another_one_stands_for_is_refused(tmp_path: Path) -> None:
    who = parties()
    result, listed = published(tmp_path, who, usual_batch(who))

    def lie(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("messages"):
            return httpx.Response(200, content=listed[:-32])
        return httpx.Response(200, json=result)

    receipt = KeptReceipt.read(kept(who, b"mine"), who.task)
    checking = missing_messages(
        [receipt], who.task, "https://analyst", transport=httpx.MockTransport(lie)
    )
    with pytest.raises(Refusal, match="that the result names"):
        asyncio.run(checking)


@pytest.mark.parametrize(
    "changed",
    [
        {"task": "00" * 32},
        {"messages": []},
        {"messages": "x"},
        {"messages": [1]},
        {"messages": ["short"]},
        {"receipt": {}},
        {"receipt": 1},
        {"more": 1},
    ],
)
def test_what_is_no_receipt_is_refused(changed: dict[str, Any]) -> None:
    who = parties()

    with pytest.raises(Refusal):
        KeptReceipt.read(kept(who, b"mine", **changed), who.task)


def test_a_receipt_of_another_shuffler_or_of_nothing_kept_is_refused() -> None:
    who, other = parties(), parties()
    spent = ((0, Reason.TOKEN_SPENT),)
    refused = signed(who, b"mine", accepted=0, refused=spent)
    forged = signed(replace(who, shuffler_key=other.shuffler_key), b"mine")

    for receipt in (refused, forged):
        with pytest.raises(Refusal):
            KeptReceipt.read(kept(who, b"mine", receipt=receipt), who.task)


def test_a_receipt_proves_to_anybody_which_messages_the_shuffler_took() -> None:
    who = parties()
    claimed = keep_receipt(who.task, [sha256(b"lies")], signed(who, b"mine"))

    with pytest.raises(Refusal) as refusal:
        KeptReceipt.read(claimed, who.task)
    assert refusal.value.reason is Reason.SIGNATURE_FORGED


def test_of_many_reports_those_that_were_refused_are_not_looked_for() -> None:
    who = parties()
    sealed = [b"a0", b"a1", b"b0", b"b1", b"c0", b"c1"]
    spent = ((1, Reason.TOKEN_SPENT),)
    receipt = signed(who, *sealed, accepted=2, refused=spent)

    hashes = list(map(sha256, sealed))
    found = KeptReceipt.read(keep_receipt(who.task, hashes, receipt), who.task)

    assert found.messages == (*hashes[:2], *hashes[4:])
    uneven = signed(who, *sealed[:5], accepted=2, refused=spent)
    with pytest.raises(Refusal):
        KeptReceipt.read(keep_receipt(who.task, hashes[:5], uneven), who.task)
