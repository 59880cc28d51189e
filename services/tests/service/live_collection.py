"""A collection through two live services, by the package's own devices and operator.

The minimum of every level is exactly its number of people: a report that was lost keeps the
step from being closed, and one that counts twice shows in the numbers of people.
"""

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import httpx
import numpy as np
import pytest
from live_services import Live
from numpy.typing import NDArray
from service_parties import LEVELS, Parties, answers, noisy_parties, parties

from shuffledp.identity import Identity
from shuffledp.population import Population
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.items.items_framework import ItemsFramework
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.survey import EpochStage
from shuffledp.types import Ints, Mode
from shuffledp_services.collection.planning import best_plan
from shuffledp_services.device.simulated_devices import Delivery, send
from shuffledp_services.device.uploads import SimulatedPeople
from shuffledp_services.http.http_client import UnreachableError
from shuffledp_services.operator.shuffler_commands import operate_with
from shuffledp_services.wire.command import Action
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.signed_plan import PublishedPlan
from shuffledp_services.wire.step import Step

Case = Literal["frequency", "stratified", "items", "dummies"]

PER_UPLOAD = 10
_PATIENCE = 60.0


@dataclass(frozen=True)
class People:
    """Who takes part in an epoch, and the coins of their devices."""

    values: NDArray[Any]
    levels: NDArray[np.float64]
    tokens: list[bytes]
    seed: int

    def part(self, start: int, end: int) -> "People":
        piece = slice(start, end)
        return People(
            self.values[piece],
            self.levels[piece],
            self.tokens[piece],
            self.seed + start,
        )


def task_for(
    case: Case, per_level: int = 20, *, allowance: tuple[float, ...] = (50.0,) * 3
) -> Parties:
    """A task that so many people at each level, and no fewer, complete."""
    changes: dict[str, Any] = {
        "task_id": os.urandom(16),
        "minimum": (per_level,) * 3,
        "allowance": allowance,
        "absent": 0,
    }
    if case == "items":
        # The smallest level is rarely planned for without an error.
        changes["minimum"] = (3 * per_level,) * 3
        return parties("items", **changes)
    if case == "dummies":
        changes["minimum"] = (3 * per_level,) * 3
        return noisy_parties(**changes)
    mode: Mode = "stratified" if case == "stratified" else "agnostic"
    return parties("frequency", mode=mode, **changes)


def people_of(who: Parties, epoch: int, per_level: int = 20) -> People:
    """So many people at each level, in a random order."""
    rng = np.random.default_rng(epoch)
    levels = rng.permutation(np.repeat(LEVELS, per_level))
    values = answers(who.task.question.survey.words.name, levels.size, rng)
    tokens = who.enroller.tokens(levels.size, epoch=epoch)
    return People(values, levels, tokens, 1000 * epoch)


async def deliver(
    shuffler: Live,
    people: People,
    *,
    url: str | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    client: httpx.AsyncClient | None = None,
) -> Delivery:
    """Everybody's devices, `PER_UPLOAD` reports at a time."""
    return await send(
        SimulatedPeople(people.values, people.levels, people.tokens),
        shuffler=url or shuffler.url,
        identity=shuffler.setup.who.task.identity,
        expected=shuffler.setup.who.task.digest,
        rng=np.random.default_rng(people.seed),
        reports_per_upload=PER_UPLOAD,
        patience=_PATIENCE,
        progress=progress,
        client=client,
    )


async def fetched(service: Live, path: str = "") -> httpx.Response:
    """What a service says of the task, once it answers."""
    end = time.monotonic() + _PATIENCE
    # It is asked fifty times a second; certificates would take 17 ms each time.
    async with httpx.AsyncClient(trust_env=False, verify=False, timeout=10) as client:
        while time.monotonic() < end:
            with suppress(httpx.TransportError):
                answer = await client.get(f"{service.path}{path}")
                if answer.is_success:
                    return answer
            await asyncio.sleep(0.02)
    raise TimeoutError("The service is silent.")


async def status_of(service: Live) -> dict[str, Any]:
    """Where a task stands, as everybody may know it."""
    status: dict[str, Any] = (await fetched(service)).json()
    return status


async def until(
    service: Live, happened: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """What a service says, once it says what is waited for."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        status = await status_of(service)
        if happened(status):
            return status
        await asyncio.sleep(0.02)
    raise TimeoutError(f"It did not happen: {status}")


async def operate(
    shuffler: Live, what: Action, happened: Callable[[dict[str, Any]], bool]
) -> None:
    """What an operator does: asks until it happened."""
    who, end = shuffler.setup.who, time.monotonic() + _PATIENCE
    while not happened(await status_of(shuffler)):
        assert time.monotonic() < end, f"{what} did not happen."
        with suppress(Refusal, UnreachableError):
            await operate_with(who.task, who.shuffler, shuffler.url, what)


async def close(shuffler: Live, epoch: int, stage: str = "answer") -> None:
    def happened(status: dict[str, Any]) -> bool:
        now = (status["epoch"], status["stage"])
        return now != (epoch, stage) or status["phase"] != "open"

    await operate(shuffler, Action.CLOSE, happened)


async def close_too_early(shuffler: Live) -> None:
    """Below the minimum nothing is closed, whatever happened before."""
    who = shuffler.setup.who

    async def heard() -> bool:
        # Asked again, should it be killed now.
        with suppress(UnreachableError):
            await operate_with(who.task, who.shuffler, shuffler.url, Action.CLOSE)
            return True
        return False

    async def ask_until_heard() -> None:
        while not await heard():
            pass

    with pytest.raises(Refusal) as caught:
        await ask_until_heard()
    assert caught.value.reason is Reason.TOO_FEW_PEOPLE


async def one_value_epoch(
    shuffler: Live, analyst: Live, people: People, epoch: int
) -> dict[str, Any]:
    """Two halves of the people, a close after each; what is published."""
    half = people.levels.size // 2
    for start in (0, half):
        delivery = await deliver(shuffler, people.part(start, start + half))
        assert (delivery.accepted, delivery.refused) == (half, {})
        if start == 0:
            await close_too_early(shuffler)
    await close(shuffler, epoch)
    await until(shuffler, lambda status: status["phase"] == "delivered")
    return await published(analyst, epoch)


async def planned_epoch(
    shuffler: Live, analyst: Live, people: People
) -> tuple[Identity, dict[str, Any]]:
    """Levels, a plan, items or answers; what is published."""
    number, heard = people.levels.size, asyncio.Event()

    def progress(done: int, _total: int) -> None:
        if done == number:
            heard.set()

    async def close_levels() -> None:
        await heard.wait()
        await close(shuffler, 1, "choice")

    await close_too_early(shuffler)
    delivery, _ = await asyncio.gather(
        deliver(shuffler, people, progress=progress), close_levels()
    )
    assert (delivery.accepted, delivery.refused) == (number, {})
    status = await status_of(shuffler)
    plan = PublishedPlan.read(status["plan"], shuffler.setup.who.task, 1).protocol
    await close(shuffler, 1)
    await until(shuffler, lambda status: status["phase"] == "delivered")
    return plan, await published(analyst, 1)


async def published(analyst: Live, epoch: int) -> dict[str, Any]:
    """The result of an epoch, which is over exactly once."""
    status = await until(
        analyst, lambda now: now["epoch"] == epoch and now["phase"] == "published"
    )
    assert [entry["epoch"] for entry in status["epochs"]] == list(range(1, epoch + 1))
    document: dict[str, Any] = (await fetched(analyst, f"/epochs/{epoch}")).json()
    return document


def _sent(step: Step, people: People, rng: np.random.Generator) -> NDArray[np.int64]:
    """What devices sent, upload by upload, from the same coins."""
    parts = [
        step.run.randomize(
            people.values[start : start + PER_UPLOAD],
            people.levels[start : start + PER_UPLOAD],
            rng=rng,
        )
        for start in range(0, people.levels.size, PER_UPLOAD)
    ]
    return np.concatenate(parts)


def estimate_of_one_value(
    who: Parties, people: People, epoch: int
) -> dict[str, list[Any]]:
    """What the protocol finds in one process, without any service."""
    task, half = who.task, people.levels.size // 2
    halves = [people.part(0, half), people.part(half, 2 * half)]
    messages = np.concatenate(
        [
            _sent(Step(task, epoch), part, np.random.default_rng(part.seed))
            for part in halves
        ]
    )
    protocol: Any = Step(task, epoch).answer_run.protocol
    reports = Reports(protocol.identity, messages[:, 0], people.levels)
    crowd = Population.from_budgets(people.levels)
    found = protocol.estimate(shuffle(reports, rng=np.random.default_rng(5)), crowd)
    return _values(found)


def estimate_of_items(
    who: Parties, people: People, plan: Identity
) -> dict[str, list[Any]]:
    """The same of items, whose plan must be the one that was published."""
    task, rng = who.task, np.random.default_rng(people.seed)
    named = _sent(Step(task, 1, EpochStage.CHOICE), people, rng)
    step = Step(task, 1, EpochStage.ANSWER, plan)
    messages = _sent(step, people, rng)
    framework = ItemsFramework(4, 2, LEVELS, task.delta, absent=task.absent)
    order = np.random.default_rng(5)

    def shuffled(identity: Identity, rows: Ints) -> ShuffledReports:
        return shuffle(Reports(identity, rows, None, "pool"), rng=order)

    chosen = shuffled(framework.choices.identity, named)
    assert plan == best_plan(task, framework.choices.tally(chosen))
    items, counts = Items.from_record(plan.record), framework.count_choices(chosen)
    return _values(items.estimate(shuffled(plan, messages), counts))


def _values(found: Any) -> dict[str, list[Any]]:
    return {
        "value": np.atleast_1d(found.value).tolist(),
        "standard_error": np.atleast_1d(found.standard_error).tolist(),
        "interval": np.reshape(found.interval(), (-1, 2)).tolist(),
        "population_error": np.atleast_1d(found.population_error).tolist(),
    }
