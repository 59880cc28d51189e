"""Canary devices: reports whose values an auditor drew, sent as participants' are.

The ordinary device code randomizes, seals and uploads them. All are sealed before the first
is sent, so that every message is on record beforehand.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng
from shuffledp.types import Floats
from shuffledp_services.device.encode import seal_reports
from shuffledp_services.device.simulated_devices import (
    Delivery,
    fetch_snapshot,
    ignore_progress,
)
from shuffledp_services.device.uploads import Sender
from shuffledp_services.http.http_client import service_url
from shuffledp_services.wire.canonical import sha256
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.upload_format import write_reports


@dataclass(frozen=True)
class SealedUpload:
    """A canary's report as sent: alone in its request, as by every real device.

    Attributes:
        body: Body of the request.
        hashes: SHA-256 of each of its sealed messages.
    """

    body: bytes = field(repr=False)
    hashes: tuple[bytes, ...]


async def open_step(client: httpx.AsyncClient, shuffler: str, *, task: Task) -> Step:
    """Returns the step in which a shuffler currently takes answers.

    Args:
        client: HTTP client.
        shuffler: URL of the shuffler.
        task: Obtained from the party that asks the question.

    Raises:
        InvalidInputError: If participants choose targets in the task.
        Refusal: If the shuffler takes no reports, or serves another task.
        UnreachableError: If it does not answer.
    """
    check_audited(task)
    url = f"{service_url(shuffler)}/tasks/{task.identity}"
    snapshot = await fetch_snapshot(client, url, task.digest)
    if not snapshot.is_open:
        raise Refusal(
            Reason.NOT_OPEN,
            "Expected an open step, but the shuffler takes no reports now.",
        )
    return snapshot.step


def check_audited(task: Task) -> None:
    """Raises InvalidInputError unless canaries can be sent in a task."""
    if not task.choices_are_levels:
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
    """Returns one upload per canary, in the order in which they are to be sent.

    Args:
        step: Step that takes the uploads.
        values: Value of each canary, as the task's protocol takes it, shape (n,).
        levels: Local epsilon at which each canary randomizes, shape (n,).
        tokens: One token per canary.
        rng: `SystemRandom()` in an audit, a seeded generator in simulations.

    Raises:
        UnknownLevelError: If a level is none of the task's.
    """
    messages = step.run.randomize(values, levels, rng=rng)
    # A record written after the first is sent could be adjusted to the outcome.
    reports = seal_reports(step, messages, levels, tokens)
    return [
        # One report per upload, like every real device.
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
    progress: Callable[[int, int], None] = ignore_progress,
) -> Delivery:
    """Sends uploads one after the other, at random times.

    Args:
        client: HTTP client.
        uploads: In the order of `seal_canaries`.
        step: Step that takes the uploads.
        shuffler: URL of the shuffler.
        keep: Called with one line per receipt, as `keep_receipt` writes it.
        rng: Draws the times.
        seconds: Length of the interval of the times; 0 sends each upload as soon as the
            one before was accepted.
        progress: Called with the number of reports sent, and their total number.

    Raises:
        Refusal: If the shuffler refuses; uploads accepted before have their receipts.
        UnreachableError: If it does not answer.
    """
    url = f"{service_url(shuffler)}/tasks/{step.task.identity}"
    # Independent uniform times, sorted: arrivals of participants who act independently.
    times = np.sort(rng.random(len(uploads))) * seconds
    loop = asyncio.get_running_loop()
    sender = Sender(client, url, 1, rng, False, progress, keep, len(uploads))
    begun = loop.time()
    for upload, time in zip(uploads, times.tolist(), strict=True):
        # Relative to the beginning, so that slow answers do not shift all later times.
        await asyncio.sleep(max(0.0, begun + time - loop.time()))
        await sender.deliver(upload.body, step, 1)
    return Delivery(sender.accepted, dict(sender.refused))
