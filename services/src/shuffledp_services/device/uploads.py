"""Uploads of simulated devices: randomizes, seals and sends reports, checks receipts.

Each answer is randomized with its own random stream and sealed separately, as on a device;
only the request is shared. A real device does the same with one report per request.
"""

import asyncio
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpx
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng, stream_of
from shuffledp.types import Floats
from shuffledp_services.device.encode import seal_reports
from shuffledp_services.device.permanent_randomness import PermanentRandomness
from shuffledp_services.http.http_client import Refused, ask
from shuffledp_services.wire.canonical import sha256
from shuffledp_services.wire.inclusion import keep_receipt
from shuffledp_services.wire.receipt import Receipt, messages_digest
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.upload_format import (
    MEDIA_TYPE,
    max_reports,
    read_reports,
    write_reports,
)

# Above this number of messages, several processes seal them: starting these takes time.
_MANY_MESSAGES = 50_000
_AT_A_TIME = 4
_HEADERS = {"Content-Type": MEDIA_TYPE}
# Refusals of a single report: its token was used, or the shuffler has this very message.
_KNOWN = (Reason.TOKEN_SPENT, Reason.MESSAGE_REPEATED)


@dataclass(frozen=True, eq=False)
class SimulatedPeople:
    """Participants whose devices are simulated.

    Attributes:
        values: Values of the n participants, as the task's protocol takes them.
        choices: Choices of the participants, shape (n,).
        tokens: One token per participant.
    """

    values: NDArray[Any]
    choices: Floats
    tokens: Sequence[bytes] = field(repr=False)

    def __post_init__(self) -> None:
        sizes = {len(self.values), self.choices.size, len(self.tokens)}
        if len(sizes) != 1 or 0 in sizes:
            raise InvalidInputError("Expected one value, choice and token per person.")


class Sender:
    """Uploads reports of participants, and counts accepted and refused ones."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        url: str,
        reports_per_upload: int,
        rng: Rng | PermanentRandomness,
        dummy: bool,
        progress: Callable[[int, int], None],
        keep: Callable[[bytes], object],
        total: int,
    ) -> None:
        self._client, self._url = client, f"{url}/reports"
        self._largest, self._rng, self._dummy = reports_per_upload, rng, dummy
        self._progress, self._keep = progress, keep
        self._total, self._done = total, 0
        self.accepted = 0
        self.refused: Counter[Reason] = Counter()

    async def answer(self, people: SimulatedPeople, step: Step) -> None:
        """Uploads one report per participant in an open step.

        Raises:
            Refusal: If the shuffler refuses, or another shuffler answers; or as
                `PermanentRandomness.streams`.
            InvalidInputError: As `PermanentRandomness.streams`.
            UnreachableError: If it does not answer.
        """
        self.accepted = 0
        count = len(people.tokens)
        size = min(self._largest, max_reports(step))
        slots = asyncio.Semaphore(_AT_A_TIME)
        rng = self._rng
        if isinstance(rng, PermanentRandomness):
            rng = rng.streams(step, people.values, people.choices)
        many = count * step.messages_per_report > _MANY_MESSAGES
        pool = _processes() if many else None
        try:
            async with asyncio.TaskGroup() as group:
                for start in range(0, count, size):
                    # Acquired before randomizing, so that few uploads are in memory.
                    await slots.acquire()
                    part = slice(start, start + size)
                    body = self._sealed(pool, people, step, part, rng)
                    upload = self._upload(body, step, len(people.tokens[part]))
                    group.create_task(upload).add_done_callback(
                        lambda _: slots.release()
                    )
        except BaseExceptionGroup as errors:
            # The first error cancelled the others.
            raise errors.exceptions[0] from None
        finally:
            if pool is not None:
                pool.shutdown(cancel_futures=True)

    def _sealed(
        self,
        pool: Executor | None,
        people: SimulatedPeople,
        step: Step,
        part: slice,
        rng: Rng,
    ) -> "asyncio.Future[bytes]":
        """Randomizes reports, and returns an upload that is being sealed in the pool."""
        choices, tokens = people.choices[part], people.tokens[part]
        stream = stream_of(rng, part)
        messages = step.run.randomize(people.values[part], choices, rng=stream)
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(
            pool, _upload_of, step, messages, choices, tokens, self._dummy
        )

    async def _upload(
        self, sealed: "asyncio.Future[bytes]", step: Step, count: int
    ) -> None:
        await self.deliver(await sealed, step, count)

    async def deliver(self, body: bytes, step: Step, count: int) -> None:
        """Uploads sealed reports in an open step.

        Args:
            body: Body of the request.
            step: Step of the reports.
            count: Number of reports.

        Raises:
            Refusal: As `answer`.
            UnreachableError: If the shuffler does not answer.
        """
        try:
            reply = await ask(
                self._client, "POST", self._url, content=body, headers=_HEADERS
            )
        except Refused as refusal:
            # A refusal of a single report: an earlier attempt may have been accepted.
            if refusal.reason not in _KNOWN or count > 1:
                raise
            self._count(count, {refusal.reason: 1}, refusal.attempts)
            return
        receipt = Receipt.read(reply.document, step.task.shuffler_signing_key)
        reports = read_reports(step, body)
        hashes = [sha256(part) for each in reports for part in each.sealed]
        stated = (receipt.task, receipt.epoch, receipt.stage, receipt.messages)
        digest = messages_digest(hashes)
        sent = (step.task.digest, step.epoch, int(step.stage), digest)
        plan = None if step.plan is None else step.plan_digest
        whole = receipt.accepted + len(receipt.refused) == count
        if stated != sent or receipt.plan != plan or not whole:
            raise Refusal(Reason.SIGNATURE_FORGED, "Expected a receipt of this upload.")
        # After a lost answer all reports may be refused: then the receipt confirms none.
        if receipt.accepted:
            self._keep(keep_receipt(step.task, hashes, reply.document))
        reasons = Counter(reason for _, reason in receipt.refused)
        self._count(count, reasons, reply.attempts)

    def _count(self, count: int, refused: dict[Reason, int], attempts: int) -> None:
        lost = Counter(refused)
        if attempts > 1:
            # An earlier attempt, whose answer was lost, delivered these reports.
            del lost[Reason.MESSAGE_REPEATED]
        self.refused += lost
        self.accepted += count - lost.total()
        self._done += count
        self._progress(self._done, self._total)


def _processes() -> ProcessPoolExecutor:
    # Forked copies of a process with threads may deadlock: fresh ones are spawned.
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
