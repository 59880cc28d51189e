"""An operator of a shuffler and the people who answer, through whatever goes wrong."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import httpx
from live_collection import (
    People,
    close,
    deliver,
    operate,
    people_of,
    status_of,
    until,
)
from live_services import Running
from service_parties import Parties
from several_services import Several
from witness import Witness

from shuffledp.statistics.survey import EpochStage
from shuffledp_services.device.simulated_devices import Delivery
from shuffledp_services.http.http_client import UnreachableError
from shuffledp_services.operator.shuffler_commands import operate_with
from shuffledp_services.wire.command import Action
from shuffledp_services.wire.refusal import Reason, Refusal

PER_LEVEL = 20
_PATIENCE = 60.0
# Apart from each other by more than people of an epoch.
_ANEW = 100_000
_OVER = ("delivered", "skipped")

Status = dict[str, Any]


class Operator:
    """Collects epochs, and notes what became of them.

    Args:
        who: All keys.
        shuffler: Which runs.
        analyst: Which runs.
        witness: Stands between devices and the network.
        devices: What people ask with.

    Attributes:
        stages: Of every epoch.
        delivered: Epochs that the analyst signed for.
        skipped: Epochs that ended without.
        dropped: Confirmed reports that were dropped, as the operator was told.
        lost: Confirmed reports that were not there when a step was closed.
        doubled: Reports that were there, and that nobody was told of.
    """

    def __init__(
        self,
        who: Parties,
        shuffler: Running | Several,
        analyst: Running,
        *,
        witness: Witness,
        devices: httpx.AsyncClient,
    ) -> None:
        self.who, self.shuffler, self.analyst = who, shuffler, analyst
        self.witness, self.stages = witness, who.task.stages
        self.delivered, self.skipped = set[int](), set[int]()
        self.dropped = self.lost = self.doubled = 0
        self._devices, self._people = devices, dict[int, People]()

    async def collect(
        self,
        epoch: int,
        stage: EpochStage | None = None,
        share: float = 1.0,
        *,
        heard: float = 1.0,
    ) -> "asyncio.Task[Delivery]":
        """Lets people answer; steps before the last one are closed on the way.

        Args:
            epoch: Which one.
            stage: The last step; None for that of the epoch.
            share: Of all people, who answer in it.
            heard: Of these, whose answers are waited for.
        """
        await self._enrolled(epoch)
        people = self._people_of(epoch)
        last = self.stages[-1] if stage is None else stage
        every = people.levels.size
        before, come = self.stages[: self.stages.index(last)], int(share * every)
        going = asyncio.create_task(self._answer(people.part(0, come)))
        # Who does not answer in the last step takes part in those before it.
        if before and come < every:
            staying = asyncio.create_task(self._answer(people.part(come, every)))
        for step in before:
            await self._confirmed(epoch, step, every, going)
            if come < every:
                await let_go(staying)
            await self.close(epoch, step)
            await until(self.shuffler, past(epoch, step))
        await self._confirmed(epoch, last, int(heard * come), going)
        return going

    def _people_of(self, epoch: int) -> People:
        """The same people each time, with the same tokens; their devices draw anew."""
        known = self._people.get(epoch)
        people = (
            people_of(self.who, epoch, PER_LEVEL)
            if known is None
            else replace(known, seed=known.seed + _ANEW)
        )
        self._people[epoch] = people
        return people

    async def _enrolled(self, epoch: int) -> None:
        """Waits until every process knows who may answer: devices do not wait for that."""
        processes = (
            self.shuffler.all if isinstance(self.shuffler, Several) else [self.shuffler]
        )
        for process in processes:
            await until(
                process, lambda now: now["epoch"] != epoch or bool(now["enrolment"])
            )

    async def _answer(self, people: People) -> Delivery:
        return await deliver(self.shuffler, people, client=self._devices)

    async def _confirmed(
        self,
        epoch: int,
        stage: EpochStage,
        number: int,
        sending: "asyncio.Task[Delivery]",
    ) -> None:
        end = time.monotonic() + _PATIENCE
        while (heard := self.witness.confirmed(epoch, stage)) < number:
            where = f"{heard} of {number} answer {stage.name.lower()} {epoch}"
            # Devices that gave up would be waited for in vain.
            assert not sending.done(), f"{where}: {sending.exception() or sending}"
            assert time.monotonic() < end, f"{where}."
            await asyncio.sleep(0.005)

    async def close(self, epoch: int, stage: EpochStage) -> None:
        """Closes a step in which all that will answer did; they are counted first."""
        name = stage.name.lower()
        status = await self._exact()
        if (status["epoch"], status["stage"], status["phase"]) == (epoch, name, "open"):
            more = sum(status["people"]) - self.witness.confirmed(epoch, stage)
            self.lost, self.doubled = (
                self.lost + max(-more, 0),
                self.doubled + max(more, 0),
            )
        await close(self.shuffler, epoch, name)

    async def skip_refused(self, epoch: int, reason: str) -> None:
        """Ends an epoch whose closed batch the analyst refused."""
        await until(self.shuffler, lambda now: now["hand_over"]["refused"] == reason)
        await operate(self.shuffler, Action.SKIP, over(epoch))

    async def is_over(self) -> None:
        """Asks for another epoch until it is refused, as none is paid for."""
        end = time.monotonic() + _PATIENCE
        reason = None
        while reason is not Reason.ALLOWANCE_SPENT:
            assert time.monotonic() < end, f"Refused for {reason}."
            try:
                await operate_with(
                    self.who.task, self.who.shuffler, self.shuffler.url, Action.NEXT
                )
            except Refusal as refusal:
                reason = refusal.reason
            except UnreachableError:
                continue

    async def set_deadline(self, epoch: int, stage: EpochStage) -> None:
        """Soon: it is given in whole seconds."""
        is_past, now = past(epoch, stage), await status_of(self.shuffler)
        while now["deadline"] is None and not is_past(now):
            await self._command(Action.DEADLINE, at=int(time.time()) + 2)
            now = await status_of(self.shuffler)

    async def next(self, epoch: int) -> int:
        await operate(self.shuffler, Action.NEXT, lambda now: now["epoch"] > epoch)
        return epoch + 1

    async def ends(self, epoch: int, *ways: str) -> int:
        now = await until(self.shuffler, over(epoch))
        assert now["epoch"] == epoch, now
        assert now["phase"] in ways, now
        if now["phase"] == "delivered":
            self.delivered.add(epoch)
        else:
            self.skipped.add(epoch)
            self.drop(epoch)
        return epoch

    def drop(self, epoch: int) -> None:
        self.dropped += sum(self.witness.forget(epoch, stage) for stage in self.stages)

    async def _exact(self) -> Status:
        """Where it stands, with the numbers of this moment."""
        end = time.monotonic() + _PATIENCE
        while (status := await self._command(Action.STATUS)) is None:
            assert time.monotonic() < end, "The shuffler does not answer."
        return status

    async def _command(self, what: Action, at: int | None = None) -> Status | None:
        who, url = self.who, self.shuffler.url
        with suppress(Refusal, UnreachableError):
            return await operate_with(who.task, who.shuffler, url, what, at=at)
        return None


def over(epoch: int) -> Callable[[Status], bool]:
    return lambda now: now["epoch"] != epoch or now["phase"] in _OVER


def past(epoch: int, stage: EpochStage) -> Callable[[Status], bool]:
    place = epoch, stage.name.lower()
    ended = (*_OVER, "waiting")
    return lambda now: (now["epoch"], now["stage"]) != place or now["phase"] in ended


async def let_go(sending: "asyncio.Task[Delivery]") -> None:
    """Ends devices that wait for what does not come, or were refused for it."""
    sending.cancel()
    with suppress(Refusal, asyncio.CancelledError):
        await sending
