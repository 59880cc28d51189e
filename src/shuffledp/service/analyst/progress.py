"""How far a collection is, asked from the shuffler's public page; or that it is silent."""

import ssl
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote

from shuffledp.errors import DataError
from shuffledp.extras import require
from shuffledp.service.collection.shuffler_state import ShufflerPhase
from shuffledp.service.wire.canonical import read_object
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.task import Task

require("httpx", extra="service", what="A service")

import httpx  # noqa: E402

SECONDS = 1.5
# A page about 64 choices and 18 reasons, and a task of 10,000 categories, with room.
MAX_ANSWER = 16 * 2**20


@dataclass(frozen=True)
class Progress:
    """What the shuffler says of the step it collects.

    Attributes:
        epoch: From 1.
        stage: "choice" or "answer".
        phase: "open", "closed", "delivered" or "skipped".
        people: Accepted reports with each choice; in all, if choices are not named.
        refused: (what is wrong with them, how many) of reports it did not accept.
        batch_refused: Why the analyst refused the closed batch; None if she did not.
    """

    epoch: int
    stage: str
    phase: str
    people: tuple[int, ...]
    refused: tuple[tuple[str, int], ...]
    batch_refused: str | None = None


async def ask_shuffler(url: str | None, task: Task) -> Progress | None:
    """Returns what the shuffler says; None if it says nothing, late or nonsense."""
    if url is None:
        return None
    address = f"{url.rstrip('/')}/tasks/{quote(task.identity)}"
    content = bytearray()
    try:
        async with (
            httpx.AsyncClient(
                timeout=SECONDS, trust_env=False, verify=_certificates()
            ) as client,
            client.stream("GET", address) as answer,
        ):
            answer.raise_for_status()
            async for part in answer.aiter_bytes():
                content += part
                if len(content) > MAX_ANSWER:
                    return None
        return read_progress(read_object(bytes(content), "progress"), task)
    except (httpx.HTTPError, httpx.InvalidURL, Refusal, DataError):
        return None


@cache
def _certificates() -> ssl.SSLContext:
    """Whom to believe. Reading that takes 17 ms, longer than all else that a page needs."""
    return httpx.create_ssl_context(trust_env=False)


def read_progress(value: dict[str, Any], task: Task) -> Progress:
    """Reads what the shuffler says of a task.

    Raises:
        DataError: If it is nonsense.
    """
    try:
        return _read(value, task)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            "Expected the shuffler to say where the task stands."
        ) from error


def _read(value: dict[str, Any], task: Task) -> Progress:
    people, refused = value["people"], value["refused"]
    if not isinstance(people, list) or len(people) != len(task.counted):
        raise ValueError("Expected people per choice.")
    if not isinstance(refused, dict):
        raise ValueError("Expected counts by reason.")
    numbers = [value["epoch"], *people, *refused.values()]
    if any(type(number) is not int or number < 0 for number in numbers):
        raise ValueError("Expected whole numbers from 0.")
    stage, phase = value["stage"], value["phase"]
    stages = [stage.name.lower() for stage in task.stages]
    if stage not in stages or phase not in list(ShufflerPhase):
        raise ValueError("Expected a known stage and phase.")
    reasons = {Reason(code): count for code, count in refused.items()}
    said = tuple(
        (_title(reason), count) for reason, count in sorted(reasons.items()) if count
    )
    code = value.get("hand_over", {}).get("refused")
    why = None if code is None else _title(Reason(code))
    return Progress(value["epoch"], stage, phase, tuple(people), said, why)


def _title(reason: Reason) -> str:
    return Refusal(reason, "").problem.title
