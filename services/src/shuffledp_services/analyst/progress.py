"""Progress of a collection, queried from the shuffler's public status."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from shuffledp.errors import DataError
from shuffledp_services.collection.shuffler_state import ShufflerPhase
from shuffledp_services.http.coalesced_refresh import CoalescedRefresh
from shuffledp_services.http.trusted_certificates import service_client
from shuffledp_services.wire.canonical import read_object
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.task import Task

SECONDS = 1.5
# Ample for the status of 64 choices and 18 reasons, and a task of 10,000 categories.
MAX_ANSWER = 16 * 2**20


@dataclass(frozen=True)
class Progress:
    """Status of the step that the shuffler collects.

    Attributes:
        epoch: Number of the epoch, from 1.
        stage: "choice" or "answer".
        phase: "open", "waiting", "closed", "delivered" or "skipped".
        people: Number of accepted reports with each choice; in total, if choices are not
            named.
        refused: Pairs of a reason and the number of reports refused for it, over all epochs
            and steps since the task began.
        batch_refused: Why the analyst refused the closed batch; None if it was not refused.
    """

    epoch: int
    stage: str
    phase: str
    people: tuple[int, ...]
    refused: tuple[tuple[str, int], ...]
    batch_refused: str | None = None


class ShufflerProgress:
    """Queries the shuffler for visitors of the dashboard, once for concurrent ones.

    Args:
        url: URL of the shuffler; None to query none.
        ca: As in `trusted_certificates`.
    """

    def __init__(self, url: str | None, ca: Path | None) -> None:
        self._url, self._ca = url, ca
        self._client: httpx.AsyncClient | None = None
        # By task: the last answer with its progress; the current progress; refreshes.
        self._read: dict[bytes, tuple[bytes, Progress]] = {}
        self._known: dict[bytes, Progress | None] = {}
        self._refreshes: dict[bytes, CoalescedRefresh] = {}

    async def ask(self, task: Task) -> Progress | None:
        """Returns the current progress; None if the answer is missing, late or invalid."""
        if self._url is None:
            return None
        # Concurrent visitors share a query, which costs more than the rest of a page: a
        # few milliseconds of processor time.
        refresh = self._refreshes.get(task.digest)
        if refresh is None:
            refresh = self._refreshes[task.digest] = CoalescedRefresh(
                partial(self._refresh, task)
            )
        await refresh.refresh()
        return self._known[task.digest]

    async def close(self) -> None:
        """Closes all connections."""
        for refresh in self._refreshes.values():
            await refresh.stop()
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _refresh(self, task: Task) -> None:
        self._known[task.digest] = await self._ask(task, self._url or "")

    async def _ask(self, task: Task, url: str) -> Progress | None:
        address = f"{url.rstrip('/')}/tasks/{quote(task.identity)}"
        content = bytearray()
        try:
            if self._client is None:
                self._client = service_client(SECONDS, ca=self._ca)
            async with self._client.stream("GET", address) as answer:
                answer.raise_for_status()
                async for part in answer.aiter_bytes():
                    content += part
                    # While it arrives: a larger answer must not fill the memory.
                    if len(content) > MAX_ANSWER:
                        return None
            return self._read_once(bytes(content), task)
        # Whatever fails, the page is shown, without progress.
        except (httpx.HTTPError, httpx.InvalidURL, Refusal, DataError):
            return None

    def _read_once(self, content: bytes, task: Task) -> Progress:
        known = self._read.get(task.digest)
        # The same bytes were parsed and checked before.
        if known is None or known[0] != content:
            progress = read_progress(read_object(content, "progress"), task)
            known = self._read[task.digest] = content, progress
        return known[1]


def read_progress(value: dict[str, Any], task: Task) -> Progress:
    """Reads the shuffler's status of a task.

    Raises:
        DataError: If it is invalid.
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
    # A bool is an int in Python, and no count.
    if any(type(number) is not int or number < 0 for number in numbers):
        raise ValueError("Expected whole numbers from 0.")
    stage, phase = value["stage"], value["phase"]
    stages = [stage.name.lower() for stage in task.stages]
    if stage not in stages or phase not in list(ShufflerPhase):
        raise ValueError("Expected a known stage and phase.")
    reasons = {Reason(code): count for code, count in refused.items()}
    refusals = tuple(
        (_title(reason), count) for reason, count in sorted(reasons.items()) if count
    )
    code = value.get("hand_over", {}).get("refused")
    batch_refused = None if code is None else _title(Reason(code))
    return Progress(
        value["epoch"], stage, phase, tuple(people), refusals, batch_refused
    )


def _title(reason: Reason) -> str:
    return Refusal(reason, "").problem.title
