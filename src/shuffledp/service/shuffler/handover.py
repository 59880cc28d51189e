"""Hands closed batches to the analyst, again and again until she signs for them.

A batch has one id and one content for good, whoever crashes: she knows it when it comes a
second time, and the shuffler forgets it only once it has read her signature. She gets its
manifest, says which shards she has not yet, and gets these, in any order.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial

from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.monitoring.events import Event, log_crash, log_event
from shuffledp.service.shuffler.analyst_client import (
    AnalystClient,
    AnalystFullError,
    UnansweredError,
    UntrustedAnalystError,
)
from shuffledp.service.shuffler.store import ShufflerStore, storage_refusal
from shuffledp.service.shuffler.task_lifecycle import TaskLifecycle
from shuffledp.service.shuffler.task_record import HandoverAttempts
from shuffledp.service.wire.refusal import Reason, Refusal


class Handover:
    """The hand-over of one task's batches."""

    def __init__(
        self,
        lifecycle: TaskLifecycle,
        store: ShufflerStore,
        analyst: AnalystClient,
        reached: Callable[[str], None],
    ) -> None:
        self._lifecycle, self._store = lifecycle, store
        self._analyst, self._reached = analyst, reached

    async def run(self, tends: asyncio.Event) -> None:
        """Hands over whatever is closed, until it is canceled.

        Args:
            tends: Is set while this is the process that does.
        """
        while True:
            await self._lifecycle.batch_closed.wait()
            await tends.wait()
            await asyncio.sleep(await self._attempt())

    async def skip(self, epoch: int, stage: str) -> None:
        """Ends an epoch that cannot be finished.

        Args:
            epoch: Which one is meant.
            stage: Which step of it, by name.

        Raises:
            Refusal: If it is over, she may have its batch, or the disk is full.
        """
        if self._lifecycle.state.phase is ShufflerPhase.CLOSED:
            self._check_refused()
        async with self._alone() as lease:
            attempts = self._lifecycle.record.attempts
            refused = attempts.refused is not None and not attempts.unsettled
            await self._lifecycle.skip(epoch, stage, refused=refused, lease=lease)

    async def resume(self) -> None:
        """Begins where the analyst is, after a database was lost.

        Raises:
            Refusal: If she does not answer, nothing was lost, or the disk is full.
        """
        try:
            awaited = await self._analyst.awaited(self._lifecycle.hosted.task)
        except UnansweredError as error:
            raise Refusal(Reason.NOT_OPEN, str(error)) from error
        await self._lifecycle.resume(awaited)

    async def check_allowance(self) -> None:
        """Raises Refusal if the analyst says that another epoch cannot be paid for.

        If she is not reached nothing is known, and she will refuse the batch herself.
        """
        task = self._lifecycle.hosted.task
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
    async def _alone(self) -> AsyncIterator[int]:
        """Keeps everybody else from handing over, and knows how that goes.

        Gives the number of the lease, which every change inside of this names.

        Raises:
            Refusal: If the store does not answer.
        """
        async with self._store.handover_lease(self._lifecycle.hosted.task) as lease:
            if not await self._lifecycle.reload():
                raise storage_refusal()
            yield lease

    def _check_refused(self) -> None:
        if self._lifecycle.record.attempts.refused is None:
            raise Refusal(
                Reason.NOT_OPEN,
                "Expected a batch that the analyst refused: this one is still being "
                "handed over.",
            )

    async def _attempt(self) -> float:
        state, before = self._lifecycle.state, self._lifecycle.record.attempts
        moved, lease = False, None

        def progress() -> None:
            nonlocal moved
            moved = True
            self._reached("after sending")

        try:
            async with self._alone() as lease:
                state, before = self._lifecycle.state, self._lifecycle.record.attempts
                if state.phase is not ShufflerPhase.CLOSED:
                    return 0.0
                if before.refused is not None:
                    # Whoever finds that does not drop it: she may have it by then.
                    begun = replace(before, unsettled=True)
                    await self._lifecycle.record_attempts(begun, lease=lease)
                try:
                    self._reached("before hand-over")
                    acknowledgement = await self._analyst.send(
                        state, partial(self._store.read_batch, state), progress
                    )
                    self._reached("after hand-over")
                    await self._lifecycle.deliver(acknowledgement, lease=lease)
                except Refusal as refusal:
                    # STORAGE is our own: her full disk is a server's error.
                    if refusal.reason is Reason.STORAGE:
                        raise
                    after = HandoverAttempts(before.failed + 1, refusal.reason)
                    await self._lifecycle.record_attempts(after, lease=lease)
                    # Once for all attempts: a service may try for days.
                    if before.refused is not refusal.reason:
                        log_event(Event.REFUSED, state, reason=refusal.reason.value)
                    return self._analyst.refused_wait
        except Exception as error:
            # Nothing is in vain while there are fewer shards to send each time.
            failed = 0 if moved else before.failed + 1
            after = HandoverAttempts(failed, full=isinstance(error, AnalystFullError))
            if self._lifecycle.state == state:
                # Nobody knows whether she has it.
                with suppress(Refusal):
                    await self._lifecycle.record_attempts(after, lease=lease)
            return self._failed(error, state, before, after)
        return 0.0

    def _failed(
        self,
        error: Exception,
        state: ShufflerState,
        before: HandoverAttempts,
        after: HandoverAttempts,
    ) -> float:
        """Logs that an attempt failed; returns seconds to wait."""
        if not isinstance(error, UnansweredError | Refusal):
            log_crash(error)
        elif after.full and not before.full:
            log_event(Event.UNANSWERED, state, reason=Reason.STORAGE.value)
        elif after.failed == 1 and not after.full:
            untrusted = isinstance(error, UntrustedAnalystError)
            why = {"reason": "certificate-not-trusted"} if untrusted else {}
            log_event(Event.UNANSWERED, state, **why)
        doubled = self._analyst.first_wait * 2.0 ** min(max(after.failed - 1, 0), 30)
        return min(doubled, self._analyst.longest_wait)
