"""Canary devices: reports whose values an auditor drew, sent as anybody's are.

The ordinary device code randomizes, seals and uploads them. All are sealed before the first
is sent, so that a record of every message can be kept beforehand: what is written down
later could be what one wishes to have sent.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.randomness import Rng
from shuffledp.service.device.encode import seal_reports
from shuffledp.service.device.simulated_devices import Delivery, look, nothing
from shuffledp.service.device.uploads import Sender
from shuffledp.service.http.http_client import service_url
from shuffledp.service.wire.canonical import sha256
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.reports import write_reports
from shuffledp.service.wire.step import Step
from shuffledp.service.wire.task import Task
from shuffledp.types import Floats

require("httpx", extra="service", what="A canary device")

import httpx  # noqa: E402


@dataclass(frozen=True)
class SealedUpload:
    """A canary's report, as it is sent: alone, as by every real device.

    Attributes:
        body: The upload.
        hashes: SHA-256 of each of its sealed messages.
    """

    body: bytes = field(repr=False)
    hashes: tuple[bytes, ...]


async def open_step(client: httpx.AsyncClient, shuffler: str, *, task: Task) -> Step:
    """Returns the step in which a shuffler takes answers now.

    Args:
        client: To ask with.
        shuffler: Its URL.
        task: From whoever asks the question.

    Raises:
        InvalidInputError: If people choose targets in the task.
        Refusal: If no reports come in, or it is another task.
        UnreachableError: If it does not answer.
    """
    check_audited(task)
    url = f"{service_url(shuffler)}/tasks/{task.identity}"
    now = await look(client, url, task.digest)
    if not now.is_open:
        raise Refusal(Reason.NOT_OPEN, "Expected a step that takes reports.")
    return now.step


def check_audited(task: Task) -> None:
    """Raises InvalidInputError unless canaries can be sent in a task."""
    if not task.names_choices:
        raise InvalidInputError(
            "Expected a task in which people choose levels: where they choose targets, "
            "what a canary is promised is not known before it is sent."
        )


def seal_canaries(
    step: Step,
    values: NDArray[Any],
    levels: Floats,
    *,
    tokens: Sequence[bytes],
    rng: Rng,
) -> list[SealedUpload]:
    """Returns an upload of each canary, in the order in which they are to be sent.

    Args:
        step: That they are for.
        values: What each holds, as the task's protocol takes it, shape (n,).
        levels: At which each randomizes, shape (n,).
        tokens: One for each.
        rng: `SystemRandom()` in an audit, a seeded generator in simulations.

    Raises:
        UnknownLevelError: If a level is none of the task's.
    """
    messages = step.run.randomize(values, levels, rng=rng)
    reports = seal_reports(step, messages, levels, tokens)
    return [
        SealedUpload(write_reports(step, [report]), tuple(map(sha256, report.sealed)))
        for report in reports
    ]


async def send_canaries(
    client: httpx.AsyncClient,
    uploads: Sequence[SealedUpload],
    *,
    step: Step,
    shuffler: str,
    keep: Callable[[bytes], object],
    rng: Rng,
    seconds: float = 0.0,
    progress: Callable[[int, int], None] = nothing,
) -> Delivery:
    """Sends uploads one after the other, at random times.

    Args:
        client: To send with.
        uploads: In their order.
        step: That they are for.
        shuffler: Its URL.
        keep: Is given a line for each receipt, as `keep_receipt` writes it.
        rng: For the times.
        seconds: Over how long they are spread; 0 sends each as soon as the one before
            was taken in.
        progress: Is told how many reports are done, of how many.

    Raises:
        Refusal: If the shuffler refuses: what it took in before has its receipt.
        UnreachableError: If it does not answer.
    """
    url = f"{service_url(shuffler)}/tasks/{step.task.identity}"
    # Times of people who come independently of each other, in order.
    times = np.sort(rng.random(len(uploads))) * seconds
    loop = asyncio.get_running_loop()
    sender = Sender(client, url, 1, rng, False, progress, keep, len(uploads))
    begun = loop.time()
    for upload, time in zip(uploads, times.tolist(), strict=True):
        await asyncio.sleep(max(0.0, begun + time - loop.time()))
        await sender.deliver(upload.body, step, 1)
    return Delivery(sender.accepted, dict(sender.refused))
