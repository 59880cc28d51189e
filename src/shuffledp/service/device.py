"""Simulated devices: many people's answers, randomized, sealed and uploaded.

Each person's answer is randomized with coins of its own and sealed alone, as on a device;
only the upload is shared. A real device does the same with one report per upload.
"""

import asyncio
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.randomness import Rng
from shuffledp.service.calls import TIMEOUT, Refused, UnreachableError, ask, service_url
from shuffledp.service.encode import choice_places, seal_reports
from shuffledp.service.wire.canonical import canonical, sha256
from shuffledp.service.wire.plan import read_plan
from shuffledp.service.wire.receipt import Receipt
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.reports import MEDIA_TYPE, max_reports, write_reports
from shuffledp.service.wire.step import MAX_EPOCH, Step
from shuffledp.service.wire.task import Task
from shuffledp.statistics.survey import EpochStage
from shuffledp.types import Floats

require("httpx", extra="service", what="A simulated device")

import httpx  # noqa: E402

# More messages than this are sealed by several processes: starting them takes a while.
_MANY_MESSAGES = 50_000
_AT_A_TIME = 4
_POLL = 0.25
_HEADERS = {"Content-Type": MEDIA_TYPE}


def nothing(_done: int, _total: int) -> None:
    """Is told how many reports were delivered, of how many, and does nothing."""


@dataclass(frozen=True, eq=False)
class SimulatedPeople:
    """People whose devices are simulated.

    Attributes:
        values: What they hold, as the task's protocol takes it: n of it.
        choices: What they choose of what the task offers, shape (n,).
        tokens: One for each person.
    """

    values: NDArray[Any]
    choices: Floats
    tokens: Sequence[bytes] = field(repr=False)

    def __post_init__(self) -> None:
        sizes = {len(self.values), self.choices.size, len(self.tokens)}
        if len(sizes) != 1 or 0 in sizes:
            raise InvalidInputError("Expected one value, choice and token per person.")


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
            Refusal: If it is another task, or no task at all.
        """
        value, plan = document.get("task"), document.get("plan")
        epoch, stages = document.get("epoch"), {s.name.lower(): s for s in EpochStage}
        stage = stages.get(str(document.get("stage")))
        if not isinstance(value, dict) or type(epoch) is not int or stage is None:
            raise Refusal(Reason.MALFORMED, "Expected a task, its epoch and its step.")
        if not 1 <= epoch <= MAX_EPOCH:
            raise Refusal(Reason.MALFORMED, "Expected an epoch from 1.")
        task = Task.from_json(canonical(value))
        if expected is not None and task.digest != expected:
            # Its key might be the shuffler's own.
            raise Refusal(Reason.UNKNOWN_TASK, "Expected the task that was agreed to.")
        # Before it is settled who may answer, nobody's report is taken.
        enrolled = document.get("enrolment") is not None
        is_open = document.get("phase") == "open" and enrolled
        if stage not in task.stages:
            raise Refusal(Reason.WRONG_STAGE, "Expected a step of this task.")
        if stage is task.stages[0]:
            return cls(Step(task, epoch, stage), is_open)
        return cls(Step(task, epoch, stage, read_plan(plan, task)), is_open)


async def send(
    people: SimulatedPeople,
    *,
    shuffler: str,
    identity: str,
    rng: Rng,
    expected: bytes | None = None,
    reports_per_upload: int = 2000,
    patience: float = 600.0,
    dummy: bool = False,
    progress: Callable[[int, int], None] = nothing,
    client: httpx.AsyncClient | None = None,
) -> Delivery:
    """Answers for people; where they choose targets, first reports their choices.

    Args:
        people: Who they are.
        shuffler: Its URL.
        identity: Of the task.
        rng: `SystemRandom()` for people's data, a seeded generator in simulations.
        expected: SHA-256 of the task that people agreed to; None to take the shuffler's
            word for it, and for the key that answers are sealed for.
        reports_per_upload: 1 as a real device does it.
        patience: Seconds to wait for the plan that follows choices.
        dummy: Whether everybody sends what the analyst drops, and nobody else can tell.
        progress: Is told how many reports are done, of how many.
        client: For tests.

    Raises:
        Refusal: If the shuffler refuses, or its answers are not the task's shuffler's.
        UnreachableError: If it does not answer, or the plan does not come.
        UnknownLevelError: If a choice is none of the task's.
    """
    if reports_per_upload < 1:
        raise InvalidInputError("Expected at least one report per upload.")
    url = f"{service_url(shuffler)}/tasks/{identity}"
    async with AsyncExitStack() as stack:
        if client is None:
            client = await stack.enter_async_context(
                httpx.AsyncClient(timeout=TIMEOUT, trust_env=False)
            )
        now = await _look(client, url, expected)
        # Somebody's wrong choice should not stop half of the others.
        choice_places(now.step.task, people.choices)
        stages = now.step.task.stages
        left = stages[stages.index(now.step.stage) :]
        total = len(left) * len(people.tokens)
        sender = _Sender(client, url, reports_per_upload, rng, dummy, progress, total)
        for stage in left:
            if now.step.stage is not stage:
                now = await _next(client, url, now.step, patience)
            await sender.answer(people, now)
        return Delivery(sender.accepted, dict(sender.refused))


async def _next(
    client: httpx.AsyncClient, url: str, before: Step, patience: float
) -> Now:
    """Waits until the step is over, and returns the next one of its epoch."""
    waited = 0.0
    while True:
        now = await _look(client, url, before.task.digest)
        if now.step.epoch != before.epoch:
            raise Refusal(Reason.WRONG_EPOCH, "Expected the epoch to go on.")
        if now.step.stage is not before.stage:
            return now
        if waited >= patience:
            raise UnreachableError("Expected a plan for the answers, got none yet.")
        await asyncio.sleep(_POLL)
        waited += _POLL


async def _look(client: httpx.AsyncClient, url: str, expected: bytes | None) -> Now:
    return Now.read((await ask(client, "GET", url)).document, expected)


class _Sender:
    """Uploads the reports of some people."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        url: str,
        reports_per_upload: int,
        rng: Rng,
        dummy: bool,
        progress: Callable[[int, int], None],
        total: int,
    ) -> None:
        self._client, self._url = client, f"{url}/reports"
        self._largest, self._rng, self._dummy = reports_per_upload, rng, dummy
        self._progress, self._total, self._done = progress, total, 0
        self.accepted = 0
        self.refused: Counter[Reason] = Counter()

    async def answer(self, people: SimulatedPeople, now: Now) -> None:
        """Uploads one report for each person."""
        if not now.is_open:
            raise Refusal(Reason.NOT_OPEN, "Expected a step that takes reports.")
        self.accepted = 0
        step, count = now.step, len(people.tokens)
        size = min(self._largest, max_reports(step))
        places = asyncio.Semaphore(_AT_A_TIME)
        many = count * step.messages_per_report > _MANY_MESSAGES
        pool = _processes() if many else None
        try:
            async with asyncio.TaskGroup() as group:
                for start in range(0, count, size):
                    # Before randomizing, so that only a few uploads are in memory.
                    await places.acquire()
                    part = slice(start, start + size)
                    body = self._sealed(pool, people, step, part)
                    upload = self._upload(body, step, len(people.tokens[part]))
                    group.create_task(upload).add_done_callback(
                        lambda _: places.release()
                    )
        except BaseExceptionGroup as errors:
            # One reason is enough: it stopped the others.
            raise errors.exceptions[0] from None
        finally:
            if pool is not None:
                pool.shutdown(cancel_futures=True)

    def _sealed(
        self, pool: Executor | None, people: SimulatedPeople, step: Step, part: slice
    ) -> "asyncio.Future[bytes]":
        """Returns an upload, which some process or thread is making."""
        choices, tokens = people.choices[part], people.tokens[part]
        messages = step.run.randomize(people.values[part], choices, rng=self._rng)
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(
            pool, _upload_of, step, messages, choices, tokens, self._dummy
        )

    async def _upload(
        self, sealed: "asyncio.Future[bytes]", step: Step, count: int
    ) -> None:
        body = await sealed
        try:
            reply = await ask(
                self._client, "POST", self._url, content=body, headers=_HEADERS
            )
        except Refused as refusal:
            # Of one report alone. Sent before without being heard, it was accepted then.
            if refusal.reason is not Reason.TOKEN_SPENT or count > 1:
                raise
            self._count(count, {Reason.TOKEN_SPENT: 1}, refusal.attempts)
            return
        receipt = Receipt.read(reply.document, step.task.shuffler_signing_key)
        stated = (receipt.task, receipt.epoch, receipt.stage, receipt.upload)
        sent = (step.task.digest, step.epoch, int(step.stage), sha256(body))
        if stated != sent or receipt.accepted + len(receipt.refused) != count:
            raise Refusal(Reason.SIGNATURE_FORGED, "Expected a receipt of this upload.")
        reasons = Counter(reason for _, reason in receipt.refused)
        self._count(count, reasons, reply.attempts)

    def _count(self, count: int, refused: dict[Reason, int], attempts: int) -> None:
        lost = Counter(refused)
        if attempts > 1:
            del lost[Reason.TOKEN_SPENT]
        self.refused += lost
        self.accepted += count - lost.total()
        self._done += count
        self._progress(self._done, self._total)


def _processes() -> ProcessPoolExecutor:
    # Copies of a process with threads may stand still: fresh ones are started instead.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(os.cpu_count(), mp_context=context)


def _upload_of(
    step: Step,
    messages: NDArray[Any],
    choices: Floats,
    tokens: Sequence[bytes],
    dummy: bool,
) -> bytes:
    reports = seal_reports(step, messages, choices, tokens, dummy=dummy)
    return write_reports(step, reports)
