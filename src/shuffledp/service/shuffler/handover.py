"""Hands closed batches to the analyst, again and again until she signs for them.

A batch has one id and one content for good, whoever crashes: she knows it when it comes a
second time, and the shuffler forgets it only once it has read her signature.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from shuffledp.errors import ShuffledpError
from shuffledp.extras import require
from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.events import Event, log_crash, say
from shuffledp.service.shuffler.steps import Steps
from shuffledp.service.shuffler.store import Attempts, ShufflerStore, full
from shuffledp.service.wire.batch import MEDIA_TYPE
from shuffledp.service.wire.canonical import read_object
from shuffledp.service.wire.plan import Acknowledgement
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.task import Task

require("httpx", extra="service", what="A service")

import httpx  # noqa: E402

_CONNECT, _WRITE, _READ = 10.0, 60.0, 600.0
# An operator waits for an answer to a short question.
_SHORT = 5.0
_MAX_ANSWER = 16 * 2**20


class UnansweredError(ShuffledpError):
    """The analyst was not reached, or said nothing that counts."""


class AnalystClient:
    """Where the analyst is, and how long to wait between attempts.

    Args:
        url: Of her service.
        transport: How to get there; None for the network.
        first_wait: Seconds after the first unanswered attempt, doubled each time.
        longest_wait: Seconds that the wait does not grow beyond.
        refused_wait: Seconds after a batch that she refuses.
    """

    def __init__(
        self,
        url: str,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        first_wait: float = 0.5,
        longest_wait: float = 30.0,
        refused_wait: float = 60.0,
    ) -> None:
        self._url, self._transport = url.rstrip("/"), transport
        self.first_wait, self.longest_wait = first_wait, longest_wait
        self.refused_wait = refused_wait

    async def send(self, task: Task, batch: AsyncIterator[bytes]) -> Acknowledgement:
        """Sends a batch once.

        Raises:
            Refusal: If she refuses it.
            UnansweredError: If it is not known whether she has it.
        """
        wait = httpx.Timeout(_READ, connect=_CONNECT, write=_WRITE, pool=_CONNECT)
        try:
            # Addresses of proxies in the environment would see who talks to whom.
            async with httpx.AsyncClient(
                transport=self._transport, timeout=wait, trust_env=False
            ) as client:
                response = await client.post(
                    f"{self._url}/tasks/{task.identity}/batches",
                    content=batch,
                    headers={"Content-Type": MEDIA_TYPE},
                )
        except httpx.HTTPError as error:
            raise UnansweredError("Expected the analyst to answer.") from error
        if response.is_client_error:
            raise _refusal(response)
        if response.status_code != HTTPStatus.OK:
            raise UnansweredError("Expected the analyst to accept a batch.")
        try:
            value = read_object(response.content, "an acknowledgement")
            return Acknowledgement.read(value, task)
        except Refusal as error:
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

    async def _status(self, task: Task) -> dict[str, Any]:
        content = bytearray()
        try:
            async with (
                asyncio.timeout(_SHORT),
                httpx.AsyncClient(
                    transport=self._transport, timeout=_SHORT, trust_env=False
                ) as client,
                client.stream("GET", f"{self._url}/tasks/{task.identity}") as answer,
            ):
                answer.raise_for_status()
                async for part in answer.aiter_bytes():
                    content += part
                    if len(content) > _MAX_ANSWER:
                        raise UnansweredError("Expected a short answer.")
            return read_object(bytes(content), "a status")
        except (httpx.HTTPError, TimeoutError, Refusal) as error:
            raise UnansweredError("Expected the analyst to answer.") from error


class Handover:
    """The hand-over of one task's batches."""

    def __init__(
        self,
        steps: Steps,
        store: ShufflerStore,
        analyst: AnalystClient,
        reached: Callable[[str], None],
    ) -> None:
        self._steps, self._store = steps, store
        self._analyst, self._reached = analyst, reached

    async def run(self, tends: asyncio.Event) -> None:
        """Hands over whatever is closed, until it is canceled.

        Args:
            tends: Is set while this is the process that does.
        """
        while True:
            await self._steps.closed.wait()
            await tends.wait()
            await asyncio.sleep(await self._attempt())

    async def abandon(self) -> None:
        """Drops a batch that the analyst refused.

        Raises:
            Refusal: If she did not refuse it, or the disk is full.
        """
        self._refused_for()
        # She may be accepting it at this moment: an attempt under way is waited for.
        async with self._alone():
            await self._steps.abandon(self._refused_for(settled=True))

    async def skip(self, epoch: int, stage: str) -> None:
        """Ends an epoch that cannot be finished.

        Args:
            epoch: Which one is meant.
            stage: Which step of it, by name.

        Raises:
            Refusal: If it is over, she may have its batch, or the disk is full.
        """
        if self._steps.state.phase is ShufflerPhase.CLOSED:
            self._refused_for()
        async with self._alone():
            attempts = self._steps.known.attempts
            refused = attempts.refused is not None and not attempts.unsettled
            await self._steps.skip(epoch, stage, refused=refused)

    async def resume(self) -> None:
        """Begins where the analyst is, after a database was lost.

        Raises:
            Refusal: If she does not answer, nothing was lost, or the disk is full.
        """
        try:
            awaited = await self._analyst.awaited(self._steps.hosted.task)
        except UnansweredError as error:
            raise Refusal(Reason.NOT_OPEN, str(error)) from error
        await self._steps.resume(awaited)

    async def check_allowance(self) -> None:
        """Raises Refusal if the analyst says that another epoch cannot be paid for.

        If she is not reached nothing is known, and she will refuse the batch herself.
        """
        task = self._steps.hosted.task
        try:
            exhausted = await self._analyst.exhausted(task)
        except UnansweredError:
            return
        if exhausted:
            who = ", ".join(f"{choice:g}" for choice in exhausted)
            raise Refusal(
                Reason.ALLOWANCE_SPENT,
                f"Expected enough left for another epoch at {task.choice_word} {who}.",
            )

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Keeps everybody else from handing over, and knows how that goes.

        Raises:
            Refusal: If the store does not answer.
        """
        async with self._store.handing_over(self._steps.hosted.task):
            if not await self._steps.look_again():
                raise full()
            yield

    def _refused_for(self, *, settled: bool = False) -> Reason:
        attempts = self._steps.known.attempts
        if attempts.refused is None or (settled and attempts.unsettled):
            raise Refusal(
                Reason.NOT_OPEN,
                "Expected a batch that the analyst refused: this one is still being "
                "handed over."
                if self._steps.state.phase is ShufflerPhase.CLOSED
                else "Expected a closed batch that the analyst refused.",
            )
        return attempts.refused

    async def _attempt(self) -> float:
        state, before = self._steps.state, self._steps.known.attempts
        try:
            async with self._alone():
                state, before = self._steps.state, self._steps.known.attempts
                if state.phase is not ShufflerPhase.CLOSED:
                    return 0.0
                if before.refused is not None:
                    # Whoever finds that does not drop it: she may have it by then.
                    await self._steps.note(replace(before, unsettled=True))
                try:
                    self._reached("before hand-over")
                    acknowledgement = await self._analyst.send(
                        state.task, self._store.batch(state)
                    )
                    self._reached("after hand-over")
                    await self._steps.deliver(acknowledgement)
                except Refusal as refusal:
                    # STORAGE is our own: her full disk is a server's error.
                    if refusal.reason is Reason.STORAGE:
                        raise
                    after = Attempts(before.failed + 1, refusal.reason)
                    await self._steps.note(after)
                    # Once for all attempts: a service may try for days.
                    if before.refused is not refusal.reason:
                        say(Event.REFUSED, state, reason=refusal.reason.value)
                    return self._analyst.refused_wait
        except Exception as error:
            return await self._failed(error, state, before.failed + 1)
        return 0.0

    async def _failed(
        self, error: Exception, state: ShufflerState, failed: int
    ) -> float:
        """Notes that nobody knows whether she has it; returns seconds to wait."""
        if self._steps.state == state:
            with suppress(Refusal):
                await self._steps.note(Attempts(failed))
        if not isinstance(error, UnansweredError | Refusal):
            log_crash(error)
        elif failed == 1:
            say(Event.UNANSWERED, state)
        doubled = self._analyst.first_wait * 2.0 ** min(failed - 1, 30)
        return min(doubled, self._analyst.longest_wait)


def _refusal(response: httpx.Response) -> Refusal:
    # Her words are for whoever wrote this program: what is shown is a reason we know.
    try:
        kind = json.loads(response.content)["type"]
        reason = Reason(kind.removeprefix("urn:shuffledp:problem:"))
    except (ValueError, KeyError, TypeError, AttributeError):
        reason = Reason.MALFORMED
    return Refusal(reason, "Expected the analyst to accept the batch.")
