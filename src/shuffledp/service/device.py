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

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.randomness import Rng
from shuffledp.service.calls import TIMEOUT, Refused, UnreachableError, ask, service_url
from shuffledp.service.encode import level_places, randomized, seal_reports
from shuffledp.service.wire.canonical import canonical, sha256
from shuffledp.service.wire.plan import PublishedPlan
from shuffledp.service.wire.receipt import Receipt
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.reports import MEDIA_TYPE, max_reports, write_reports
from shuffledp.service.wire.step import MAX_EPOCH, Stage, Step
from shuffledp.service.wire.task import Task
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
class Crowd:
    """The people whose devices are simulated.

    Attributes:
        values: What they hold: shape (n,); (n, set_size) for items.
        levels: Their privacy levels, shape (n,).
        tokens: One for each person.
    """

    values: NDArray[Any]
    levels: Floats
    tokens: Sequence[bytes] = field(repr=False)

    def __post_init__(self) -> None:
        sizes = {len(self.values), self.levels.size, len(self.tokens)}
        if len(sizes) != 1 or 0 in sizes:
            raise InvalidInputError("Expected one value, level and token per person.")


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
        plan: What items are sent with; None otherwise.
        is_open: Whether reports come in.
    """

    step: Step
    plan: PublishedPlan | None
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
        epoch, stages = document.get("epoch"), {s.name.lower(): s for s in Stage}
        stage = stages.get(str(document.get("stage")))
        if not isinstance(value, dict) or type(epoch) is not int or stage is None:
            raise Refusal(Reason.MALFORMED, "Expected a task, its epoch and its step.")
        if not 1 <= epoch <= MAX_EPOCH:
            raise Refusal(Reason.MALFORMED, "Expected an epoch from 1.")
        task = Task.from_json(canonical(value))
        if expected is not None and task.digest != expected:
            # Its key might be the shuffler's own.
            raise Refusal(Reason.UNKNOWN_TASK, "Expected the task that was agreed to.")
        is_open = document.get("phase") == "open"
        if stage is Stage.LEVELS or not task.has_items:
            return cls(Step(task, epoch, stage), None, is_open)
        known = PublishedPlan.from_dict(plan, task)
        step = Step(task, epoch, stage, known.report_size, known.digest)
        return cls(step, known, is_open)


async def send(
    crowd: Crowd,
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
    """Answers for a crowd; for items twice, waiting for the plan in between.

    Args:
        crowd: The people.
        shuffler: Its URL.
        identity: Of the task.
        rng: `SystemRandom()` for people's data, a seeded generator in simulations.
        expected: SHA-256 of the task that people agreed to; None to take the shuffler's
            word for it, and for the key that answers are sealed for.
        reports_per_upload: 1 as a real device does it.
        patience: Seconds to wait for the plan of items.
        dummy: Whether everybody sends what the analyst drops, and nobody else can tell.
        progress: Is told how many reports are done, of how many.
        client: For tests.

    Raises:
        Refusal: If the shuffler refuses, or its answers are not the task's shuffler's.
        UnreachableError: If it does not answer, or the plan does not come.
        UnknownLevelError: If a level is none of the task's.
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
        # Somebody's wrong level should not stop half of the others.
        level_places(now.step.task, crowd.levels)
        steps = 2 if now.step.stage is Stage.LEVELS else 1
        total = steps * len(crowd.tokens)
        sender = _Sender(client, url, reports_per_upload, rng, dummy, progress, total)
        await sender.answer(crowd, now)
        if now.step.stage is Stage.LEVELS:
            first, waited = now.step, 0.0
            while now.step.stage is Stage.LEVELS:
                if waited >= patience:
                    raise UnreachableError("Expected a plan for items, got none yet.")
                await asyncio.sleep(_POLL)
                waited += _POLL
                now = await _look(client, url, first.task.digest)
                if now.step.epoch != first.epoch:
                    raise Refusal(Reason.WRONG_EPOCH, "Expected the epoch to go on.")
            await sender.answer(crowd, now)
        return Delivery(sender.accepted, dict(sender.refused))


async def _look(client: httpx.AsyncClient, url: str, expected: bytes | None) -> Now:
    return Now.read((await ask(client, "GET", url)).document, expected)


class _Sender:
    """Uploads the reports of one crowd."""

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

    async def answer(self, crowd: Crowd, now: Now) -> None:
        """Uploads one report for each person."""
        if not now.is_open:
            raise Refusal(Reason.NOT_OPEN, "Expected a step that takes reports.")
        self.accepted = 0
        step, count = now.step, len(crowd.tokens)
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
                    body = self._sealed(pool, crowd, now, part)
                    upload = self._upload(body, now.step, len(crowd.tokens[part]))
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
        self, pool: Executor | None, crowd: Crowd, now: Now, part: slice
    ) -> "asyncio.Future[bytes]":
        """Returns an upload, which some process or thread is making."""
        levels, tokens = crowd.levels[part], crowd.tokens[part]
        values: ArrayLike = crowd.values[part]
        messages = randomized(now.step, values, levels, plan=now.plan, rng=self._rng)
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(
            pool, _upload_of, now.step, messages, levels, tokens, self._dummy
        )

    async def _upload(
        self, sealed: "asyncio.Future[bytes]", step: Step, count: int
    ) -> None:
        body = await sealed
        try:
            answer = await ask(
                self._client, "POST", self._url, content=body, headers=_HEADERS
            )
        except Refused as refusal:
            # Of one report alone. Sent before without being heard, it was accepted then.
            if refusal.reason is not Reason.TOKEN_SPENT or count > 1:
                raise
            self._count(count, {Reason.TOKEN_SPENT: 1}, refusal.attempts)
            return
        receipt = Receipt.read(answer.document, step.task.shuffler_signing_key)
        stated = (receipt.task, receipt.epoch, receipt.stage, receipt.upload)
        sent = (step.task.digest, step.epoch, int(step.stage), sha256(body))
        if stated != sent or receipt.accepted + len(receipt.refused) != count:
            raise Refusal(Reason.SIGNATURE_FORGED, "Expected a receipt of this upload.")
        reasons = Counter(reason for _, reason in receipt.refused)
        self._count(count, reasons, answer.attempts)

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
    messages: NDArray[np.int64],
    levels: Floats,
    tokens: Sequence[bytes],
    dummy: bool,
) -> bytes:
    reports = seal_reports(step, messages, levels, tokens, dummy=dummy)
    return write_reports(step, reports)
