"""Simulated devices: answers for many people, step by step."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.randomness import Rng
from shuffledp.service.device.encode import choice_places
from shuffledp.service.device.permanent_randomness import PermanentRandomness
from shuffledp.service.device.uploads import Sender, SimulatedPeople
from shuffledp.service.http.http_client import (
    TIMEOUT,
    UnreachableError,
    ask,
    service_url,
)
from shuffledp.service.http.trusted_certificates import service_client
from shuffledp.service.wire.canonical import canonical
from shuffledp.service.wire.plan import PublishedPlan, prove_plan_rule
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.step import MAX_EPOCH, Step
from shuffledp.service.wire.task_reading import read_task
from shuffledp.statistics.survey import EpochStage

require("httpx", extra="service", what="A simulated device")

import httpx  # noqa: E402

_POLL = 0.25


def nothing(_done: int, _total: int) -> None:
    """Is told how many reports were delivered, of how many, and does nothing."""


def forget(_receipt: bytes) -> None:
    """Is given a receipt to keep, and does not."""


@dataclass(frozen=True)
class Delivery:
    """What became of the reports.

    Attributes:
        accepted: How many the shuffler keeps, in the last step.
        refused: How many it does not keep, for each reason, in all steps.
    """

    accepted: int
    refused: dict[Reason, int]


@dataclass(frozen=True)
class Now:
    """Where a task stands at the shuffler.

    Attributes:
        step: What reports are for.
        is_open: Whether reports come in.
    """

    step: Step
    is_open: bool

    @classmethod
    def read(cls, document: dict[str, Any], expected: bytes | None) -> "Now":
        """Reads what the shuffler says of a task.

        Args:
            document: What it answered.
            expected: SHA-256 of the task that people agreed to; None to take its word.

        Raises:
            Refusal: If it is another task, or no task at all; or its plan is not signed,
                is of another epoch, or breaks the task's rule.
        """
        value, plan = document.get("task"), document.get("plan")
        epoch, stages = document.get("epoch"), {s.name.lower(): s for s in EpochStage}
        stage = stages.get(str(document.get("stage")))
        if not isinstance(value, dict) or type(epoch) is not int or stage is None:
            raise Refusal(Reason.MALFORMED, "Expected a task, its epoch and its step.")
        if not 1 <= epoch <= MAX_EPOCH:
            raise Refusal(Reason.MALFORMED, "Expected an epoch from 1.")
        task = read_task(canonical(value))
        if expected is not None and task.digest != expected:
            # Its key might be the shuffler's own.
            why = "Expected the task that was agreed to."
            if task.succeeds == expected:
                why = (
                    "Expected the task that was agreed to, got one that replaces its "
                    "keys: get task.json from whoever asks, and a new token."
                )
            raise Refusal(Reason.UNKNOWN_TASK, why)
        # Before it is settled who may answer, nobody's report is taken.
        enrolled = document.get("enrolment") is not None
        is_open = document.get("phase") == "open" and enrolled
        if stage not in task.stages:
            raise Refusal(Reason.WRONG_STAGE, "Expected a step of this task.")
        if stage is task.stages[0]:
            return cls(Step(task, epoch, stage), is_open)
        prove_plan_rule(task)
        judged = PublishedPlan.read(plan, task, epoch)
        return cls(Step(task, epoch, stage, judged.protocol), is_open)


async def send(
    people: SimulatedPeople,
    *,
    shuffler: str,
    identity: str,
    rng: Rng | PermanentRandomness,
    expected: bytes | None = None,
    reports_per_upload: int = 2000,
    patience: float = 600.0,
    dummy: bool = False,
    progress: Callable[[int, int], None] = nothing,
    keep: Callable[[bytes], object] = forget,
    client: httpx.AsyncClient | None = None,
    ca: Path | None = None,
) -> Delivery:
    """Answers for people; where they choose targets, first reports their choices.

    Args:
        people: Who they are.
        shuffler: Its URL.
        identity: Of the task.
        rng: `PermanentRandomness` for people's data: whoever is asked again sends the
            same. In simulations a seeded generator, or `SystemRandom()`.
        expected: SHA-256 of the task that people agreed to; None to take the shuffler's
            word for it, and for the key that answers are sealed for.
        reports_per_upload: 1 as a real device does it.
        patience: Seconds to wait for the plan that follows choices.
        dummy: Whether everybody sends what the analyst drops, and nobody else can tell.
        progress: Is told how many reports are done, of how many.
        keep: Is given a line for each receipt, as `keep_receipt` writes it.
        client: For tests.
        ca: As in `trusted_certificates`.

    Raises:
        Refusal: If the shuffler refuses, its answers are not the task's shuffler's, or
            it asks for more than people were invited to.
        InvalidInputError: If somebody's answer is not the one that was sent before.
        UnreachableError: If it does not answer, or the plan does not come.
        UnknownLevelError: If a choice is none of the task's.
    """
    if reports_per_upload < 1:
        raise InvalidInputError("Expected at least one report per upload.")
    url = f"{service_url(shuffler)}/tasks/{identity}"
    async with AsyncExitStack() as stack:
        if client is None:
            client = await stack.enter_async_context(service_client(TIMEOUT, ca=ca))
        now = await look(client, url, expected)
        # Somebody's wrong choice should not stop half of the others.
        choice_places(now.step.task, people.choices)
        stages = now.step.task.stages
        left = stages[stages.index(now.step.stage) :]
        total = len(left) * len(people.tokens)
        sender = Sender(
            client, url, reports_per_upload, rng, dummy, progress, keep, total
        )
        for stage in left:
            if now.step.stage is not stage:
                now = await _next(client, url, now.step, patience)
            if not now.is_open:
                raise Refusal(Reason.NOT_OPEN, "Expected a step that takes reports.")
            await sender.answer(people, now.step)
        return Delivery(sender.accepted, dict(sender.refused))


async def _next(
    client: httpx.AsyncClient, url: str, before: Step, patience: float
) -> Now:
    """Waits until the step is over, and returns the next one of its epoch."""
    waited = 0.0
    while True:
        now = await look(client, url, before.task.digest)
        if now.step.epoch != before.epoch:
            raise Refusal(Reason.WRONG_EPOCH, "Expected the epoch to go on.")
        if now.step.stage is not before.stage:
            return now
        if waited >= patience:
            raise UnreachableError("Expected a plan for the answers, got none yet.")
        await asyncio.sleep(_POLL)
        waited += _POLL


async def look(client: httpx.AsyncClient, url: str, expected: bytes | None) -> Now:
    """Returns where a task stands.

    Args:
        client: To ask with.
        url: Of the task at the shuffler.
        expected: As in `Now.read`.

    Raises:
        Refusal: If it is another task, or no task at all.
        UnreachableError: If nobody answers.
    """
    return Now.read((await ask(client, "GET", url)).document, expected)
