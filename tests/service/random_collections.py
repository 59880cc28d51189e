"""Collections of several epochs in which much goes wrong, even if no service is killed.

    finished   epochs are closed
    skipped    one is skipped, while people still answer
    deadline   a step ends by itself: it is closed, or its epoch is skipped
    lost       the shuffler's database is lost, and it resumes
    refused    the analyst refuses a batch; it is abandoned, and people answer again
    unpaid     she has too little left: a batch is abandoned, and its epoch skipped

Afterwards an account is made of everything that was confirmed to somebody.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import httpx
import numpy as np
from live_collection import (
    People,
    close,
    deliver,
    fetched,
    operate,
    people_of,
    status_of,
    until,
)
from live_services import Running
from oracles.service_parties import Parties
from witness import Witness

from shuffledp.service.calls import UnreachableError
from shuffledp.service.operate import operate_with
from shuffledp.service.wire.command import Action
from shuffledp.service.wire.refusal import Refusal
from shuffledp.statistics.survey import EpochStage

Plot = Literal["finished", "skipped", "deadline", "lost", "refused", "unpaid"]
PLOTS: tuple[Plot, ...] = get_args(Plot)

PER_LEVEL = 20
_PATIENCE = 60.0
_OVER = ("delivered", "skipped")
_JUDGED = ("published", "withheld")

Status = dict[str, Any]


@dataclass(frozen=True)
class Account:
    """What became of all reports of a collection.

    Attributes:
        reports: That were confirmed.
        dropped: Of these, in epochs that were skipped or batches that were abandoned.
        lost: Of these, neither dropped nor in what was published.
        doubled: Reports of people who have another one in the same result.
        missing: Epochs that were delivered, and whose cost is not in the ledger.
        wrong: What else is wrong; empty if every published number is that of the protocol
            in one process.
    """

    reports: int
    dropped: int
    lost: int
    doubled: int
    missing: int
    wrong: str


class Collection:
    """A task's epochs, one after the other.

    Args:
        who: All keys.
        shuffler: Which runs.
        analyst: Which runs.
        witness: Stands between devices and the network.
        lose: Empties the shuffler's database, while it is down.
        rng: The operator's coins.
    """

    def __init__(
        self,
        who: Parties,
        shuffler: Running,
        analyst: Running,
        *,
        witness: Witness,
        lose: Callable[[], None],
        rng: np.random.Generator,
    ) -> None:
        self._who, self._shuffler, self._analyst = who, shuffler, analyst
        self._lose, self._rng = lose, rng
        self._witness, self._stages = witness, who.task.stages
        self._devices = httpx.AsyncClient(transport=witness, timeout=10)
        self._delivered, self._skipped = set[int](), set[int]()
        self._dropped = self._lost = self._doubled = 0
        self._settled = Counter[int]()

    async def play(self, plot: Plot) -> None:
        """Goes through a plot.

        Raises:
            AssertionError: If something else happens than may.
        """
        plots = {
            "finished": self._finish,
            "skipped": self._skip,
            "deadline": self._deadline,
            "lost": self._lose_all,
            "refused": self._refuse,
            "unpaid": self._owe,
        }
        epoch = 1
        if plot in ("lost", "unpaid") or self._coin():
            await self._finish(epoch)
            # The analyst would say that too little is left.
            with self._analyst.down() if plot == "unpaid" else nullcontext():
                epoch = await self._next(epoch)
        epoch = await plots[plot](epoch)
        if plot != "unpaid":
            if epoch in self._delivered | self._skipped:
                epoch = await self._next(epoch)
            await self._finish(epoch)

    async def account(self) -> Account:
        """Compares what devices know with what was published, and with the ledger."""
        last = max(self._delivered)
        done = await until(
            self._analyst,
            lambda now: now["epoch"] == last and now["phase"] in _JUDGED,
        )
        missing, wrong, total = 0, list[str](), np.zeros(len(done["spent"]))
        entries = {entry["epoch"]: entry for entry in done["epochs"]}
        if list(entries) != list(range(1, last + 1)):
            wrong.append(f"the ledger has epochs {list(entries)}")
        for epoch, entry in entries.items():
            spent, skipped = np.array(entry["spent"]), entry["phase"] == "skipped"
            total += spent
            missing += epoch in self._delivered and not (spent > 0.0).all()
            if skipped and epoch not in self._delivered and not spent.any():
                self._drop(epoch)
            elif entry["phase"] != "published" or epoch in self._skipped:
                wrong.append(f"epoch {epoch} is {entry}")
            elif epoch not in self._settled:
                wrong.append(await self._settle(epoch, entry["spent"]))
        if not np.allclose(total, done["spent"], rtol=1e-12, atol=0.0):
            wrong.append(f"{done['spent']} was spent, not {total}")
        return Account(
            reports=self._settled.total() + self._dropped,
            dropped=self._dropped,
            lost=self._lost,
            doubled=self._doubled,
            missing=missing,
            wrong="; ".join(filter(None, wrong)),
        )

    async def _settle(self, epoch: int, spent: list[float]) -> str:
        """Accounts for a published epoch; returns what is wrong with it."""
        path = f"/epochs/{epoch}"
        result = (await fetched(self._analyst, path)).json()
        listed = (await fetched(self._analyst, f"{path}/messages")).content
        told = self._witness.compare(result, listed)
        self._lost, self._doubled = self._lost + told.lost, self._doubled + told.doubled
        self._settled[epoch] = sum(
            self._witness.forget(epoch, stage) for stage in self._stages
        )
        costs = [] if result["spent"] == spent else [f"it cost {result['spent']}"]
        said = "; ".join(filter(None, [told.wrong, *costs]))
        return said and f"epoch {epoch}: {said}"

    # What happens in an epoch. Each returns the epoch that it ended with.

    async def _finish(self, epoch: int) -> int:
        """Everybody answers, and it is closed."""
        await (await self._collect(epoch))
        await self._close(epoch, self._stages[-1])
        return await self._ends(epoch, "delivered")

    async def _skip(self, epoch: int) -> int:
        """It is skipped, while people still answer."""
        stage = self._any_stage()
        sending = await self._collect(epoch, stage, heard=self._rng.random())
        await operate(self._shuffler, Action.SKIP, _over(epoch))
        await _let_go(sending)
        return await self._ends(epoch, "skipped")

    async def _deadline(self, epoch: int) -> int:
        """A step ends by itself: it is closed, or the epoch is skipped."""
        stage, share = self._any_stage(), 1.0 if self._coin() else 0.5
        # Where choices are made first, all are heard: a plan for fewer may be none.
        early = len(self._stages) == 1 and self._coin()
        sending = await self._collect(epoch, stage, share, heard=0.0 if early else 1.0)
        await self._set_deadline(epoch, stage)
        now = await until(self._shuffler, _past(epoch, stage))
        if now["phase"] == "open":
            # Choices are closed, and there is a plan.
            await sending
            await self._close(epoch, self._stages[-1])
            return await self._ends(epoch, "delivered")
        await _let_go(sending)
        return await self._ends(epoch, "delivered", "skipped")

    async def _lose_all(self, epoch: int) -> int:
        """The shuffler's database is lost; returns the epoch that begins then."""
        stage, closed = self._any_stage(), self._coin()
        sending = await self._collect(epoch, stage, 1.0 if closed else 0.5)
        if closed:
            await self._close(epoch, stage)
        with self._shuffler.down():
            self._lose()
        await _let_go(sending)
        assert (await status_of(self._shuffler))["epoch"] == 1
        perhaps = closed and stage is self._stages[-1]
        if not perhaps:
            self._drop(epoch)
            self._skipped.add(epoch)
        if not closed and self._coin():
            # Nobody noticed: people answer an epoch that the analyst has.
            await self._answer_again()
            assert await self._next(1) == epoch
            await operate(self._shuffler, Action.SKIP, _over(epoch))
            return epoch
        await operate(self._shuffler, Action.RESUME, lambda now: now["epoch"] > epoch)
        begun = int((await status_of(self._shuffler))["epoch"])
        # She may have had the batch; the epoch that she waited for then is skipped.
        assert begun - epoch in ((1, 2) if perhaps else (1,))
        self._skipped |= set(range(epoch + 1, begun))
        return begun

    async def _answer_again(self) -> None:
        """The first epoch is collected a second time, and refused."""
        [entry] = (await until(self._analyst, lambda now: now["epochs"]))["epochs"]
        wrong = await self._settle(1, entry["spent"])
        assert not wrong, wrong
        sending = await self._collect(1, self._stages[0])
        await self._close(1, self._stages[0])
        await self._abandon(1, "already-delivered", "skipped")
        await _let_go(sending)

    async def _refuse(self, epoch: int) -> int:
        """The analyst's service runs without the task for a while."""
        stage, known = self._any_stage(), self._analyst.setup
        sending = await self._collect(epoch, stage)
        with self._analyst.down():
            self._analyst.setup = replace(known, hosts=False)
        await self._close(epoch, stage)
        await self._abandon(epoch, "unknown-task", "open")
        await _let_go(sending)
        with self._analyst.down():
            self._analyst.setup = known
        return await self._finish(epoch)

    async def _owe(self, epoch: int) -> int:
        """Nothing is left to pay for it: it is tried twice, and skipped."""
        stage = self._stages[0]
        for again in (True, False):
            sending = await self._collect(epoch, stage)
            await self._close(epoch, stage)
            await self._is_refused("allowance-spent")
            if again:
                await self._abandon(epoch, "allowance-spent", "open")
            else:
                await operate(self._shuffler, Action.SKIP, _over(epoch))
            await _let_go(sending)
        return await self._ends(epoch, "skipped")

    # What people and the operator do.

    async def _collect(
        self,
        epoch: int,
        stage: EpochStage | None = None,
        share: float = 1.0,
        *,
        heard: float = 1.0,
    ) -> "asyncio.Task[None]":
        """Lets people answer; steps before the last one are closed on the way.

        Args:
            epoch: Which one.
            stage: The last step; None for that of the epoch.
            share: Of all people, who answer in it.
            heard: Of these, whose answers are waited for.
        """
        people = people_of(self._who, epoch, PER_LEVEL)
        last, every = stage or self._stages[-1], people.levels.size
        before, come = self._stages[: self._stages.index(last)], int(share * every)
        going = asyncio.create_task(self._answer(people.part(0, come)))
        # Who does not answer in the last step takes part in those before it.
        if before and come < every:
            staying = asyncio.create_task(self._answer(people.part(come, every)))
        for step in before:
            await self._confirmed(epoch, step, every)
            if come < every:
                await _let_go(staying)
            await self._close(epoch, step)
            await until(self._shuffler, _past(epoch, step))
        await self._confirmed(epoch, last, int(heard * come))
        return going

    async def _answer(self, people: People) -> None:
        await deliver(self._shuffler, people, client=self._devices)

    async def _confirmed(self, epoch: int, stage: EpochStage, number: int) -> None:
        end = time.monotonic() + _PATIENCE
        while self._witness.confirmed(epoch, stage) < number:
            assert time.monotonic() < end, f"Nobody answers in epoch {epoch}."
            await asyncio.sleep(0.005)

    async def _close(self, epoch: int, stage: EpochStage) -> None:
        """Closes a step in which all that will answer did; they are counted first."""
        name = stage.name.lower()
        status = await self._exact()
        if (status["epoch"], status["stage"], status["phase"]) == (epoch, name, "open"):
            more = sum(status["people"]) - self._witness.confirmed(epoch, stage)
            self._lost, self._doubled = (
                self._lost + max(-more, 0),
                self._doubled + max(more, 0),
            )
        await close(self._shuffler, epoch, name)

    async def _exact(self) -> Status:
        who, end = self._who, time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            with suppress(Refusal, UnreachableError):
                return await operate_with(
                    who.task, who.shuffler, self._shuffler.url, Action.STATUS
                )
        raise TimeoutError("The shuffler does not say where it is.")

    async def _abandon(self, epoch: int, reason: str, then: str) -> None:
        """Drops the closed batch once the analyst refused it."""
        await self._is_refused(reason)
        [stage] = [
            step
            for step in self._stages
            if step.name.lower() == (await status_of(self._shuffler))["stage"]
        ]
        await operate(
            self._shuffler, Action.ABANDON, lambda now: now["phase"] != "closed"
        )
        status = await self._exact()
        assert (status["epoch"], status["phase"]) == (epoch, then), status
        assert then == "skipped" or not any(status["people"]), status
        self._dropped += self._witness.forget(epoch, stage)

    async def _is_refused(self, reason: str) -> None:
        await until(self._shuffler, lambda now: now["hand_over"]["refused"] == reason)

    async def _set_deadline(self, epoch: int, stage: EpochStage) -> None:
        """Soon: it is given in whole seconds."""
        who, end = self._who, time.monotonic() + _PATIENCE
        past = _past(epoch, stage)
        while time.monotonic() < end:
            now = await status_of(self._shuffler)
            if now["deadline"] is not None or past(now):
                return
            with suppress(Refusal, UnreachableError):
                await operate_with(
                    who.task,
                    who.shuffler,
                    self._shuffler.url,
                    Action.DEADLINE,
                    at=int(time.time()) + 2,
                )
        raise TimeoutError("There is no deadline.")

    async def _next(self, epoch: int) -> int:
        await operate(self._shuffler, Action.NEXT, lambda now: now["epoch"] > epoch)
        return epoch + 1

    async def _ends(self, epoch: int, *ways: str) -> int:
        now = await until(self._shuffler, _over(epoch))
        assert now["epoch"] == epoch, now
        assert now["phase"] in ways, now
        if now["phase"] == "delivered":
            self._delivered.add(epoch)
        else:
            self._skipped.add(epoch)
            self._drop(epoch)
        return epoch

    def _drop(self, epoch: int) -> None:
        self._dropped += sum(
            self._witness.forget(epoch, stage) for stage in self._stages
        )

    def _any_stage(self) -> EpochStage:
        return self._stages[self._rng.integers(len(self._stages))]

    def _coin(self) -> bool:
        return bool(self._rng.random() < 0.5)


def _over(epoch: int) -> Callable[[Status], bool]:
    return lambda now: now["epoch"] != epoch or now["phase"] in _OVER


def _past(epoch: int, stage: EpochStage) -> Callable[[Status], bool]:
    place = epoch, stage.name.lower()
    return lambda now: (now["epoch"], now["stage"]) != place or now["phase"] in _OVER


async def _let_go(sending: "asyncio.Task[None]") -> None:
    """Ends devices that wait for what does not come, or were refused for it."""
    sending.cancel()
    with suppress(Refusal, asyncio.CancelledError):
        await sending
