"""The analyst, as the shuffler speaks to her."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from email.utils import mktime_tz, parsedate_tz
from http import HTTPStatus
from pathlib import Path
from typing import Any

from shuffledp.errors import ShuffledpError
from shuffledp.extras import require
from shuffledp.service.collection.shuffler_state import ShufflerState
from shuffledp.service.http.trusted_certificates import (
    service_client,
    trusted_certificates,
    untrusted_reason,
)
from shuffledp.service.shuffler.clock import seconds_ahead
from shuffledp.service.shuffler.store import MANIFEST
from shuffledp.service.wire.batch import MEDIA_TYPE
from shuffledp.service.wire.canonical import read_object, to_text
from shuffledp.service.wire.plan import Acknowledgement
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.task import Task

require("httpx", extra="service", what="A service")

import httpx  # noqa: E402

_CONNECT, _WRITE, _READ = 10.0, 60.0, 600.0
# An operator waits for an answer to a short question.
_SHORT = 5.0
_MAX_ANSWER = 16 * 2**20
# Shards on their way: while one is checked, another one travels.
_AT_ONCE = 4


class UnansweredError(ShuffledpError):
    """The analyst was not reached, or said nothing that counts."""


class UntrustedAnalystError(UnansweredError):
    """Her certificate is not trusted."""


class AnalystFullError(UnansweredError):
    """She has no room for it now."""


class AnalystClient:
    """Where the analyst is, and how long to wait between attempts.

    Args:
        url: Of her service.
        transport: How to get there; None for the network.
        ca: As in `trusted_certificates`.
        first_wait: Seconds after the first unanswered attempt, doubled each time.
        longest_wait: Seconds that the wait does not grow beyond.
        refused_wait: Seconds after a batch that she refuses.

    Attributes:
        clock_ahead: Seconds that her clock was ahead of this machine's when she answered
            last, to a second or as late as her answer came; 0 before.
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
        # A file that cannot be read shows now, rather than when a batch is ready.
        trusted_certificates(ca)
        self._ca = ca
        self.first_wait, self.longest_wait = first_wait, longest_wait
        self.refused_wait = refused_wait
        self.clock_ahead = 0.0

    async def send(
        self,
        state: ShufflerState,
        batch: Callable[[int], AsyncIterator[bytes]],
        on_shard_sent: Callable[[], None],
    ) -> Acknowledgement:
        """Sends what the analyst has not yet of a batch.

        Args:
            state: In which it is closed.
            batch: Yields the shard at a place, or the manifest, as `ShufflerStore.batch`.
            on_shard_sent: Called for each shard that the analyst accepts.

        Raises:
            Refusal: If she refuses it, or publishes a plan that breaks the rule.
            UnansweredError: If it is not known whether she has it.
        """
        wait = httpx.Timeout(_READ, connect=_CONNECT, write=_WRITE, pool=_CONNECT)
        path = f"{self._url}/tasks/{state.task.identity}/batches"
        shards = f"{path}/{to_text(state.batch_id or b'')}/shards"
        manifest = b"".join([piece async for piece in batch(MANIFEST)])
        try:
            async with service_client(
                wait, ca=self._ca, transport=self._transport
            ) as client:
                client.event_hooks = {"response": [self._compare_clocks]}

                async def send(place: int) -> None:
                    put = f"{shards}/{place}"
                    answer = await client.put(put, content=batch(place))
                    if answer.status_code != HTTPStatus.NO_CONTENT:
                        trouble = _trouble(answer)
                        # She was started again, or has the batch from elsewhere: she
                        # says what is missing when she is asked again.
                        if trouble.reason is Reason.NOT_OPEN:
                            raise UnansweredError("Expected her to wait for a shard.")
                        raise trouble
                    on_shard_sent()

                headers = {"Content-Type": MEDIA_TYPE}
                answer = await client.post(path, content=manifest, headers=headers)
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
            raise _trouble(answer)
        try:
            value = read_object(answer.content, "an acknowledgement")
            return Acknowledgement.read(value, state.task, state.epoch)
        except Refusal as error:
            if error.reason is Reason.PLAN_REFUSED:
                # She signed for the batch: the epoch can be skipped.
                raise
            raise UnansweredError("Expected a signed acknowledgement.") from error

    async def exhausted(self, task: Task) -> tuple[float, ...]:
        """Returns the choices with too little left for another epoch, as she says.

        Raises:
            UnansweredError: If she says nothing in time, or nonsense.
        """
        try:
            spent = (await self._status(task))["exhausted"]
            # Of what she names, only what the task offers is repeated.
            return tuple(choice for choice in task.choices if choice in spent)
        except (KeyError, TypeError) as error:
            raise UnansweredError("Expected the analyst to answer.") from error

    async def awaited(self, task: Task) -> int:
        """Returns the epoch that she waits for, as she says.

        Raises:
            UnansweredError: If she says nothing in time, or nonsense.
        """
        epoch = (await self._status(task)).get("awaited")
        if type(epoch) is not int:
            raise UnansweredError("Expected the analyst to name an epoch.")
        return epoch

    async def _compare_clocks(self, answer: httpx.Response) -> None:
        with suppress(ValueError, OverflowError, TypeError):
            if (sent := parsedate_tz(answer.headers.get("date", ""))) is not None:
                self.clock_ahead = seconds_ahead(mktime_tz(sent))

    async def _status(self, task: Task) -> dict[str, Any]:
        content = bytearray()
        try:
            async with (
                asyncio.timeout(_SHORT),
                service_client(
                    _SHORT, ca=self._ca, transport=self._transport
                ) as client,
                client.stream("GET", f"{self._url}/tasks/{task.identity}") as answer,
            ):
                await self._compare_clocks(answer)
                answer.raise_for_status()
                async for part in answer.aiter_bytes():
                    content += part
                    if len(content) > _MAX_ANSWER:
                        raise UnansweredError("Expected a short answer.")
            return read_object(bytes(content), "a status")
        except (httpx.HTTPError, TimeoutError, Refusal) as error:
            raise UnansweredError("Expected the analyst to answer.") from error


async def _few_at_a_time(
    put: Callable[[int], Awaitable[None]], places: Sequence[int]
) -> None:
    """Puts all places, `_AT_ONCE` at a time, until one cannot be put."""
    left = iter(places)

    async def some() -> None:
        for place in left:
            await put(place)

    putting = [asyncio.create_task(some()) for _ in range(_AT_ONCE)]
    try:
        await asyncio.gather(*putting)
    finally:
        for task in putting:
            task.cancel()
        await asyncio.gather(*putting, return_exceptions=True)


def _missing(answer: httpx.Response) -> list[int]:
    """Returns the places of shards that the analyst has not."""
    try:
        missing = read_object(answer.content, "places of shards").get("missing")
    except Refusal as error:
        raise UnansweredError("Expected the analyst to say what is missing.") from error
    if not isinstance(missing, list) or any(type(p) is not int for p in missing):
        raise UnansweredError("Expected the analyst to say what is missing.")
    return missing


def _trouble(answer: httpx.Response) -> Refusal:
    """Returns why she refuses.

    Raises:
        UnansweredError: If she does not say so.
    """
    if answer.status_code == HTTPStatus.INSUFFICIENT_STORAGE:
        raise AnalystFullError("Expected the analyst to have room for a batch.")
    if not answer.is_client_error:
        raise UnansweredError("Expected the analyst to accept a batch.")
    # Her words are for whoever wrote this program: what is shown is a reason we know.
    try:
        kind = json.loads(answer.content)["type"]
        reason = Reason(kind.removeprefix("urn:shuffledp:problem:"))
    except (ValueError, KeyError, TypeError, AttributeError):
        reason = Reason.MALFORMED
    return Refusal(reason, "Expected the analyst to accept the batch.")
