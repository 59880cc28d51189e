"""Simulated devices: send answers for many participants, step by step."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.device.encode import choice_indices
from shuffledp_services.device.permanent_randomness import PermanentRandomness
from shuffledp_services.device.uploads import Sender, SimulatedPeople
from shuffledp_services.http.http_client import (
    TIMEOUT,
    UnreachableError,
    ask,
    service_url,
)
from shuffledp_services.http.trusted_certificates import service_client
from shuffledp_services.wire.canonical import canonical
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.signed_plan import PublishedPlan, prove_plan_rule
from shuffledp_services.wire.step import MAX_EPOCH, Step
from shuffledp_services.wire.task_reading import read_task

_POLL = 0.25


def ignore_progress(_done: int, _total: int) -> None:
    """Progress callback that does nothing."""


def ignore_receipt(_receipt: bytes) -> None:
    """Receipt callback that keeps nothing."""


@dataclass(frozen=True)
class Delivery:
    """Outcome of sending reports.

    Attributes:
        accepted: Number of reports that the shuffler accepted in the last step.
        refused: Number of refused reports by reason, over all steps.
    """

    accepted: int
    refused: dict[Reason, int]


@dataclass(frozen=True)
class TaskSnapshot:
    """Public state of a task at the shuffler.

    Attributes:
        step: Current step.
        is_open: Whether the step takes reports.
    """

    step: Step
    is_open: bool

    @classmethod
    def read(cls, document: dict[str, Any], expected: bytes | None) -> "TaskSnapshot":
        """Reads the shuffler's answer about a task.

        Args:
            document: Answer of the shuffler.
            expected: SHA-256 of the task that participants agreed to; None to trust the
                shuffler.

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
            # The key of another task might be the shuffler's own.
            why = "Expected the task that was agreed to."
            if task.succeeds == expected:
                why = (
                    "Expected the task that was agreed to, got one that replaces its "
                    "keys: get task.json from whoever asks, and a new token."
                )
            raise Refusal(Reason.UNKNOWN_TASK, why)
        # Without an enrolment no participant is eligible yet.
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
    progress: Callable[[int, int], None] = ignore_progress,
    keep: Callable[[bytes], object] = ignore_receipt,
    client: httpx.AsyncClient | None = None,
    ca: Path | None = None,
) -> Delivery:
    """Sends answers; if participants choose targets, first reports their choices.

    Args:
        people: Participants.
        shuffler: URL of the shuffler.
        identity: Identity of the task.
        rng: `PermanentRandomness` for participants' data: it repeats the same message if
            the question is repeated. In simulations a seeded generator, or
            `SystemRandom()`.
        expected: SHA-256 of the task that participants agreed to; None to trust the
            shuffler with it, and with the key that answers are sealed for.
        reports_per_upload: Number of reports per request; real devices send 1.
        patience: Seconds to wait for the plan that follows choices.
        dummy: Whether to send dummies, which only the analyst can recognize and drops.
        progress: Called with the number of reports sent, and their total number.
        keep: Called with one line per receipt, as `keep_receipt` writes it.
        client: HTTP client for tests.
        ca: As in `trusted_certificates`.

    Raises:
        Refusal: If the shuffler refuses, its answers are not signed by the task's
            shuffler, or it asks for more than participants were invited to.
        InvalidInputError: If an answer differs from the one that was sent before.
        UnreachableError: If it does not answer, or publishes no plan in time.
        UnknownLevelError: If a choice is none of the task's.
    """
    if reports_per_upload < 1:
        raise InvalidInputError("Expected at least one report per upload.")
    url = f"{service_url(shuffler)}/tasks/{identity}"
    async with AsyncExitStack() as stack:
        if client is None:
            client = await stack.enter_async_context(service_client(TIMEOUT, ca=ca))
        # The task comes from the server; `expected` ties it to the one that was agreed
        # to.
        snapshot = await fetch_snapshot(client, url, expected)
        # Checked before anything is sent: a wrong choice should not stop half of them.
        choice_indices(snapshot.step.task, people.choices)
        stages = snapshot.step.task.stages
        # A participant who comes after the choices were closed can only answer.
        remaining = stages[stages.index(snapshot.step.stage) :]
        total = len(remaining) * len(people.tokens)
        sender = Sender(
            client, url, reports_per_upload, rng, dummy, progress, keep, total
        )
        for stage in remaining:
            if snapshot.step.stage is not stage:
                snapshot = await _next(client, url, snapshot.step, patience)
            if not snapshot.is_open:
                raise Refusal(
                    Reason.NOT_OPEN,
                    "Expected an open step, but the shuffler takes no reports now.",
                )
            await sender.answer(people, snapshot.step)
        return Delivery(sender.accepted, dict(sender.refused))


async def _next(
    client: httpx.AsyncClient, url: str, before: Step, patience: float
) -> TaskSnapshot:
    """Waits until the step is over, and returns the state in the next one of its epoch."""
    seconds = 0.0
    while True:
        snapshot = await fetch_snapshot(client, url, before.task.digest)
        if snapshot.step.epoch != before.epoch:
            raise Refusal(Reason.WRONG_EPOCH, "Expected the epoch to go on.")
        if snapshot.step.stage is not before.stage:
            return snapshot
        if seconds >= patience:
            raise UnreachableError("Expected a plan for the answers, got none yet.")
        await asyncio.sleep(_POLL)
        seconds += _POLL


async def fetch_snapshot(
    client: httpx.AsyncClient, url: str, expected: bytes | None
) -> TaskSnapshot:
    """Fetches the state of a task at the shuffler.

    Args:
        client: HTTP client.
        url: URL of the task at the shuffler.
        expected: As in `TaskSnapshot.read`.

    Raises:
        Refusal: If it is another task, or no task at all.
        UnreachableError: If the shuffler does not answer.
    """
    return TaskSnapshot.read((await ask(client, "GET", url)).document, expected)
