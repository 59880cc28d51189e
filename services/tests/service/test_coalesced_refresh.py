import asyncio
from itertools import pairwise

import pytest

from shuffledp_services.http.coalesced_refresh import CoalescedRefresh


class Place:
    """Is looked at; what a look found is what was there when it began."""

    def __init__(self) -> None:
        self.there, self.found, self.looked = 0, -1, 0
        self.goes_on = asyncio.Event()

    async def look(self) -> None:
        seen = self.there
        self.looked += 1
        await self.goes_on.wait()
        self.found = seen


def test_whoever_asks_gets_a_look_that_begins_afterwards() -> None:
    async def run() -> None:
        place = Place()
        looks = CoalescedRefresh(place.look)
        first = asyncio.create_task(looks.refresh())
        while not place.looked:
            await asyncio.sleep(0)
        place.there = 1
        second = asyncio.create_task(looks.refresh())
        await asyncio.sleep(0)
        place.goes_on.set()
        await first
        assert place.found == 0
        await second
        assert place.found == 1

    asyncio.run(run())


def test_all_who_ask_before_it_begins_share_a_look() -> None:
    async def run() -> None:
        place = Place()
        place.goes_on.set()
        looks = CoalescedRefresh(place.look)
        await asyncio.gather(*(looks.refresh() for _ in range(500)))
        assert place.looked == 1

    asyncio.run(run())


def test_looks_follow_each_other_slowly_however_many_ask() -> None:
    begun = list[float]()

    async def run() -> None:
        async def look() -> None:
            begun.append(asyncio.get_running_loop().time())

        looks = CoalescedRefresh(look)
        for _ in range(3):
            await asyncio.gather(*(looks.refresh() for _ in range(50)))

    asyncio.run(run())
    assert len(begun) == 3
    assert all(after - before >= 0.09 for before, after in pairwise(begun))


def test_all_who_share_a_look_hear_that_it_failed_and_the_next_one_is_another() -> None:
    async def run() -> None:
        failures = [OSError("gone")]

        async def look() -> None:
            if failures:
                raise failures.pop()

        looks = CoalescedRefresh(look)
        heard = await asyncio.gather(
            looks.refresh(), looks.refresh(), return_exceptions=True
        )
        assert [str(each) for each in heard] == ["gone", "gone"]
        await looks.refresh()

    asyncio.run(run())


def test_a_look_ends_with_its_process_and_not_with_one_who_asked() -> None:
    async def run() -> None:
        place = Place()
        looks = CoalescedRefresh(place.look)
        impatient, patient = (asyncio.create_task(looks.refresh()) for _ in range(2))
        while not place.looked:
            await asyncio.sleep(0)
        impatient.cancel()
        place.goes_on.set()
        await patient
        assert place.found == 0

        place.goes_on.clear()
        last = asyncio.create_task(looks.refresh())
        while place.looked < 2:
            await asyncio.sleep(0.01)
        await looks.stop()
        with pytest.raises(asyncio.CancelledError):
            await last

    asyncio.run(run())
