"""Leases of a hand-over: what lost its own changes nothing any more, in both stores."""

import asyncio

import pytest
from shuffler_parties import StoreMaker, parties

from shuffledp_services.collection.shuffler_state import ShufflerState
from shuffledp_services.shuffler.task_record import HandoverAttempts
from shuffledp_services.wire.refusal import Reason, Refusal

pytest_plugins = ["store_fixtures"]


def test_what_stood_still_changes_nothing_under_a_lease_that_another_has(
    make_store: StoreMaker,
) -> None:
    who = parties()

    async def run() -> tuple[list[int], HandoverAttempts, ShufflerState]:
        store = make_store()
        await store.open([who.task])
        begun = ShufflerState.begin(who.task)
        await store.load(begun)
        async with store.handover_lease(who.task) as former:
            await store.record_attempts(begun, HandoverAttempts(1), lease=former)
        async with store.handover_lease(who.task) as lease:
            await store.record_attempts(begun, HandoverAttempts(2), lease=lease)
        late = HandoverAttempts(3, Reason.WRONG_EPOCH)
        with pytest.raises(Refusal, match="no other process"):
            await store.record_attempts(begun, late, lease=former)
        with pytest.raises(Refusal, match="no other process"):
            await store.change_state(begun, begun.skip(), (0, 0, 0), lease=former)
        record = await store.load(begun)
        await store.close()
        return [former, lease], record.attempts, record.state

    leases, attempts, state = asyncio.run(run())

    assert leases == [1, 2]
    assert attempts == HandoverAttempts(2)
    assert state == ShufflerState.begin(who.task)
