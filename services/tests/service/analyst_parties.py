"""Everything around an analyst in tests: a task, its keys, and batches of a shuffler."""

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
import numpy as np
from service_parties import NOTICE, Enroller, question, rule_for
from whole_batches import split, write_whole

from shuffledp.types import Floats, Ints, Mode
from shuffledp_services.analyst.analyst_app import create_analyst
from shuffledp_services.analyst.analyst_host import AnalystHost, ignore_boundary
from shuffledp_services.analyst.sqlite_analyst_store import SqliteAnalystStore
from shuffledp_services.device.encode import seal_reports
from shuffledp_services.storage.key_files import AnalystSecrets
from shuffledp_services.wire.canonical import sha256
from shuffledp_services.wire.sealing import Suite
from shuffledp_services.wire.signing import new_signing_key, verify_key_of
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task

Result = TypeVar("Result")

LEVELS = (0.5, 1.0, 2.0)
NAMES = ("apples", "pears", "plums", "figs")


@dataclass(frozen=True)
class Parties:
    """A task, and who signs for whom."""

    hosted: AnalystHost
    shuffler_key: bytes
    enroller: Enroller

    @property
    def task(self) -> Task:
        return self.hosted.task

    def batch(
        self,
        step: Step,
        messages: Ints,
        levels: Floats,
        *,
        batch_id: bytes | None = None,
        spoil: Callable[[list[bytes]], None] | None = None,
        disorder: Callable[[list[bytes]], None] | None = None,
        dummies: int = 0,
        shuffler_key: bytes | None = None,
        after: int | None = None,
        bits: int = 0,
    ) -> bytes:
        """What the shuffler hands over.

        `spoil` changes sealed messages in place, and `disorder` what is handed over.
        """
        tokens = [os.urandom(32) for _ in levels]
        real = len(tokens) - dummies
        reports = seal_reports(step, messages[:real], levels[:real], tokens[:real])
        if dummies:
            reports += seal_reports(
                step, messages[real:], levels[real:], tokens[real:], dummy=True
            )
        piles: list[list[bytes]] = [[] for _ in range(step.groups)]
        for report in reports:
            piles[report.choice if step.linked else 0] += report.sealed
        sealed = [message for pile in piles for message in pile]
        if spoil is not None:
            spoil(sealed)
        start = 0
        for pile in piles:
            end = start + len(pile)
            sealed[start:end] = sorted(sealed[start:end], key=sha256)
            start = end
        if disorder is not None:
            disorder(sealed)
        counts = [int((levels == level).sum()) for level in self.task.choices]
        people = tuple(counts) if step.task.choices_are_levels else (len(tokens),)
        return write_whole(
            step,
            batch_id or os.urandom(16),
            people,
            sealed,
            shuffler_key or self.shuffler_key,
            enrolment=self.enroller.enrolment(step.epoch),
            after=step.epoch - 1 if after is None else after,
            bits=bits,
        )


def parties(
    statistic: str = "frequency", mode: Mode = "agnostic", **changes: Any
) -> Parties:
    """A task for 40 or more people per level, whose keys are new."""
    asked = question(statistic, mode, text="What do you like?", categories=NAMES)
    suite, shuffler_key = Suite.X25519, new_signing_key()
    secrets = AnalystSecrets.new(suite)
    analyst_key, analyst_signing_key = secrets.public_keys()
    enroller_key = new_signing_key()
    stated: dict[str, Any] = {
        "task_id": os.urandom(16),
        "name": "Fruit",
        "notice": NOTICE,
        "question": asked,
        "choices": LEVELS,
        "minimum": (40, 40, 40),
        "promise": (0.5, 1.0, 2.0),
        "allowance": (5.0, 5.0, 5.0),
        "delta": 1e-3,
        "absent": 2,
        "suite": suite,
        "analyst_key": analyst_key,
        "analyst_signing_key": analyst_signing_key,
        "shuffler_signing_key": verify_key_of(shuffler_key),
        "enroller_signing_key": verify_key_of(enroller_key),
    }
    stated |= changes
    task = Task(**{"plan_rule": rule_for(stated), **stated})
    enroller = Enroller(task, enroller_key)
    return Parties(AnalystHost(task, secrets), shuffler_key, enroller)


def crowd_levels(per_level: int = 60) -> Floats:
    """So many people at each level."""
    return np.repeat(LEVELS, per_level)


def answers(step: Step, levels: Floats, *, seed: int = 1) -> Ints:
    """What the devices of people with random values send."""
    rng, n = np.random.default_rng(seed), levels.size
    values = {
        "frequency": rng.integers(0, 4, n),
        "mean": rng.random(n) * 10.0,
        "sum": rng.integers(0, 2, n),
        "items": np.argsort(rng.random((n, 4)), axis=1)[:, :2],
        "counts": np.stack(
            [rng.integers(0, 4, n), rng.integers(4, 6, n), rng.integers(6, 9, n)],
            axis=1,
        ),
    }[step.task.question.survey.words.name]
    return step.run.randomize(values, levels, rng=rng)


def usual_batch(
    who: Parties, *, epoch: int = 1, per_level: int = 60, **more: Any
) -> bytes:
    """A batch of answers to a question about one value."""
    step, levels = Step(who.task, epoch), crowd_levels(per_level)
    return who.batch(step, answers(step, levels, seed=epoch), levels, **more)


def some_result(
    names: Sequence[str], values: Sequence[float], *, spread: float = 0.01
) -> dict[str, Any]:
    """As much of a published result as a picture needs."""
    rows = [
        {
            "name": name,
            "value": value,
            "standard_error": spread / 2,
            "interval": [value - spread, value + spread],
            "population_interval": [value - spread, value + spread],
        }
        for name, value in zip(names, values, strict=True)
    ]
    estimate = {"rows": rows, "num_users": 1234, "confidence": 0.95}
    enrolment = {"tokens": 5000}
    digest = "0123456789abcdef" * 4
    return {"digest": digest, "epoch": 3, "estimate": estimate, "enrolment": enrolment}


@dataclass(frozen=True)
class Service:
    """An analyst that runs, as seen over HTTP."""

    client: httpx.AsyncClient
    task: Task

    async def post(self, batch: bytes, task: Task | None = None) -> httpx.Response:
        """Hands a batch over: what is said in the end, or to what is refused first."""
        path = f"/tasks/{(task or self.task).identity}/batches"
        manifest, shards = split(batch)
        answer = await self.client.post(path, content=manifest)
        if answer.status_code != 202:
            return answer
        for place in answer.json()["missing"]:
            put = await self.put(manifest, place, shards[place])
            if put.status_code != 204:
                return put
        return await self.client.post(path, content=manifest)

    async def put(self, manifest: bytes, place: int, shard: bytes) -> httpx.Response:
        """Sends one shard of the batch that a manifest is of."""
        batch_id = json.loads(manifest[9:])["batch_id"]
        path = f"/tasks/{self.task.identity}/batches/{batch_id}/shards/{place}"
        return await self.client.put(path, content=shard)

    async def counted(self) -> dict[str, Any]:
        """Where the task stands, once nothing is being counted."""
        # Half a second of work; a machine that runs much else may take very long.
        end = time.monotonic() + 300.0
        while time.monotonic() < end:
            answer = await self.client.get(f"/tasks/{self.task.identity}")
            status: dict[str, Any] = answer.json()
            if status["phase"] != "received":
                return status
            await asyncio.sleep(0.01)
        raise AssertionError("The batch was never counted.")

    async def result(self, epoch: int = 1) -> httpx.Response:
        return await self.client.get(f"/tasks/{self.task.identity}/epochs/{epoch}")

    async def page(self, epoch: int | None = None) -> str:
        end = "" if epoch is None else f"/{epoch}"
        answer = await self.client.get(f"/tasks/{self.task.identity}/dashboard{end}")
        assert answer.status_code == 200
        return answer.text


def serve(
    folder: Path,
    who: Parties,
    scenario: Callable[[Service], Awaitable[Result]],
    *,
    shuffler_url: str | None = None,
    reached: Callable[[str], None] = ignore_boundary,
) -> Result:
    """Runs an analyst, whose disk is a folder, for as long as the scenario takes."""
    store = SqliteAnalystStore(folder / "analyst.db")
    tasks = {who.task.identity: who.hosted}
    app = create_analyst(tasks, store, shuffler_url=shuffler_url, reached=reached)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)

    async def live() -> Result:
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://analyst") as client,
        ):
            return await scenario(Service(client, who.task))

    return asyncio.run(live())
