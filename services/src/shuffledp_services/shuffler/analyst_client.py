"""HTTP client of the shuffler for the analyst's service."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from email.utils import mktime_tz, parsedate_tz
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx

from shuffledp.errors import ShuffledpError
from shuffledp_services.collection.shuffler_state import ShufflerState
from shuffledp_services.http.trusted_certificates import (
    service_client,
    trusted_certificates,
    untrusted_reason,
)
from shuffledp_services.shuffler.clock import elapsed_seconds, seconds_ahead
from shuffledp_services.shuffler.store import MANIFEST
from shuffledp_services.wire.batch import MEDIA_TYPE
from shuffledp_services.wire.canonical import read_object, to_text
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.signed_plan import Acknowledgement
from shuffledp_services.wire.task import Task

_CONNECT, _WRITE, _READ = 10.0, 60.0, 600.0
# Timeout of short queries, while an operator waits.
_SHORT = 5.0
# Upper bound of a status document, whose sender is not trusted with memory.
_MAX_ANSWER = 16 * 2**20
# Concurrent uploads of shards: while one is checked, another one is transferred.
_AT_ONCE = 4
# Names the moment at which a request was begun.
_BEGUN = "shuffledp.begun"


class UnansweredError(ShuffledpError):
    """The analyst was not reached, or gave no valid answer."""


class UntrustedAnalystError(UnansweredError):
    """The analyst's certificate is not trusted."""


class AnalystFullError(UnansweredError):
    """The analyst's disk is full."""


class AnalystClient:
    """Client of the analyst's service, with the delays between attempts.

    Args:
        url: Of the service.
        transport: Replaces the network, for tests.
        ca: As in `trusted_certificates`.
        first_wait: Seconds after the first unanswered attempt, doubled each time.
        longest_wait: Upper bound of that wait, in seconds.
        refused_wait: Seconds after a batch that the analyst refuses.

    Attributes:
        clock_ahead: Seconds that the analyst's clock was ahead of this machine's at the
            last answer, accurate to a second plus the time that the answer took; 0 before.
    """

    def __init__(
        self,
        url: str,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        ca: Path | None = None,
        first_wait: float = 0.5,
        longest_wait: float = 30.0,
        refused_wait: float = 60.0,
    ) -> None:
        self._url, self._transport = url.rstrip("/"), transport
        # Fails now if the file cannot be read, not when a batch is ready.
        trusted_certificates(ca)
        self._ca = ca
        self.first_wait, self.longest_wait = first_wait, longest_wait
        self.refused_wait = refused_wait
        self.clock_ahead = 0.0
        self._clock_hooks: dict[str, list[Callable[..., Any]]] = {
            "request": [_record_start],
            "response": [self._compare_clocks],
        }

    async def send(
        self,
        state: ShufflerState,
        batch: Callable[[int], AsyncIterator[bytes]],
        on_shard_sent: Callable[[], None],
    ) -> Acknowledgement:
        """Sends the shards of a batch that the analyst misses.

        Args:
            state: The closed state.
            batch: Yields a shard or the manifest, as `ShufflerStore.read_batch`.
            on_shard_sent: Called for each shard that the analyst accepts.

        Raises:
            Refusal: If the analyst refuses it, or publishes a plan that breaks the rule.
            UnansweredError: If it is unknown whether the analyst has it.
        """
        wait = httpx.Timeout(_READ, connect=_CONNECT, write=_WRITE, pool=_CONNECT)
        path = f"{self._url}/tasks/{state.task.identity}/batches"
        shards = f"{path}/{to_text(state.batch_id or b'')}/shards"
        manifest = b"".join([piece async for piece in batch(MANIFEST)])
        try:
            async with service_client(
                wait, ca=self._ca, transport=self._transport
            ) as client:
                client.event_hooks = self._clock_hooks

                async def send(index: int) -> None:
                    url = f"{shards}/{index}"
                    answer = await client.put(url, content=batch(index))
                    if answer.status_code != HTTPStatus.NO_CONTENT:
                        refusal = _refusal(answer)
                        # The analyst restarted, or got the batch from another process:
                        # the next attempt learns which shards are missing.
                        if refusal.reason is Reason.NOT_OPEN:
                            raise UnansweredError(
                                "Expected the analyst to wait for a shard."
                            )
                        raise refusal
                    on_shard_sent()

                headers = {"Content-Type": MEDIA_TYPE}
                answer = await client.post(path, content=manifest, headers=headers)
                # 202 names missing shards. After them the manifest is sent again, for
                # the signature.
                if answer.status_code == HTTPStatus.ACCEPTED:
                    await _few_at_a_time(send, _missing(answer))
                    answer = await client.post(path, content=manifest, headers=headers)
        except httpx.HTTPError as error:
            if untrusted_reason(error):
                raise UntrustedAnalystError(
                    "Expected a trusted certificate."
                ) from error
            raise UnansweredError("Expected the analyst to answer.") from error
        if answer.status_code != HTTPStatus.OK:
            raise _refusal(answer)
        try:
            value = read_object(answer.content, "an acknowledgement")
            return Acknowledgement.read(value, state.task, state.epoch)
        except Refusal as error:
            if error.reason is Reason.PLAN_REFUSED:
                # The signature is valid, and the plan is not: the epoch can be skipped.
                raise
            raise UnansweredError("Expected a signed acknowledgement.") from error

    async def exhausted(self, task: Task) -> tuple[float, ...]:
        """Returns the choices with too little allowance for another epoch.

        Raises:
            UnansweredError: If there is no valid answer in time.
        """
        try:
            spent = (await self._status(task))["exhausted"]
            # The answer is not signed: only choices of the task are passed on.
            return tuple(choice for choice in task.choices if choice in spent)
        except (KeyError, TypeError) as error:
            raise UnansweredError("Expected the analyst to answer.") from error

    async def awaited(self, task: Task) -> int:
        """Returns the epoch that the analyst waits for.

        Raises:
            UnansweredError: If there is no valid answer in time.
        """
        epoch = (await self._status(task)).get("awaited")
        # `type`, not `isinstance`: True is an int.
        if type(epoch) is not int:
            raise UnansweredError("Expected the analyst to name an epoch.")
        return epoch

    async def _compare_clocks(self, answer: httpx.Response) -> None:
        with suppress(ValueError, OverflowError, TypeError):
            if (date := parsedate_tz(answer.headers.get("date", ""))) is not None:
                # Servers date an answer when they begin it: with a plan, minutes earlier.
                age = elapsed_seconds() - answer.request.extensions[_BEGUN]
                self.clock_ahead = seconds_ahead(mktime_tz(date), age=age)

    async def _status(self, task: Task) -> dict[str, Any]:
        content = bytearray()
        try:
            async with (
                asyncio.timeout(_SHORT),
                service_client(
                    _SHORT, ca=self._ca, transport=self._transport
                ) as client,
            ):
                client.event_hooks = self._clock_hooks
                url = f"{self._url}/tasks/{task.identity}"
                async with client.stream("GET", url) as answer:
                    answer.raise_for_status()
                    async for part in answer.aiter_bytes():
                        content += part
                        # Checked while it arrives, as the length is not known in advance.
                        if len(content) > _MAX_ANSWER:
                            raise UnansweredError("Expected a short answer.")
            return read_object(bytes(content), "a status")
        except (httpx.HTTPError, TimeoutError, Refusal) as error:
            raise UnansweredError("Expected the analyst to answer.") from error


async def _record_start(request: httpx.Request) -> None:
    request.extensions[_BEGUN] = elapsed_seconds()


async def _few_at_a_time(
    put: Callable[[int], Awaitable[None]], indices: Sequence[int]
) -> None:
    """Calls `put` for all indices, `_AT_ONCE` at a time, until a call fails."""
    # The workers share one iterator.
    remaining = iter(indices)

    async def work() -> None:
        for index in remaining:
            await put(index)

    workers = [asyncio.create_task(work()) for _ in range(_AT_ONCE)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


def _missing(answer: httpx.Response) -> list[int]:
    """Returns the indices of the shards that the analyst misses."""
    try:
        missing = read_object(answer.content, "places of shards").get("missing")
    except Refusal as error:
        raise UnansweredError("Expected the analyst to say what is missing.") from error
    if not isinstance(missing, list) or any(type(p) is not int for p in missing):
        raise UnansweredError("Expected the analyst to say what is missing.")
    return missing


def _refusal(answer: httpx.Response) -> Refusal:
    """Returns the refusal in an answer.

    Raises:
        UnansweredError: If the answer is not a refusal.
    """
    if answer.status_code == HTTPStatus.INSUFFICIENT_STORAGE:
        raise AnalystFullError("Expected the analyst to have room for a batch.")
    if not answer.is_client_error:
        raise UnansweredError("Expected the analyst to accept a batch.")
    # The analyst's text is not trusted: only a known reason is passed on.
    try:
        kind = json.loads(answer.content)["type"]
        reason = Reason(kind.removeprefix("urn:shuffledp:problem:"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        # An unknown reason: of a newer version, or of a proxy.
        reason = Reason.MALFORMED
    return Refusal(reason, "Expected the analyst to accept the batch.")
