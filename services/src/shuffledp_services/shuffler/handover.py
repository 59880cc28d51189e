"""Hand-over of closed batches to the analyst, repeated until they are acknowledged.

The id and the content of a batch never change, even if a service crashes: the analyst
recognizes a batch that comes twice, and the shuffler deletes it only after it has read the
signed acknowledgement. The analyst receives the manifest, names the missing shards, and
receives these in any order.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial

from shuffledp_services.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp_services.monitoring.event_log import Event, log_crash, log_event
from shuffledp_services.shuffler.analyst_client import (
    AnalystClient,
    AnalystFullError,
    UnansweredError,
    UntrustedAnalystError,
)
from shuffledp_services.shuffler.store import ShufflerStore, storage_refusal
from shuffledp_services.shuffler.task_lifecycle import TaskLifecycle
from shuffledp_services.shuffler.task_record import HandoverAttempts
from shuffledp_services.wire.refusal import Reason, Refusal


class Handover:
    """Hands over the batches of one task."""

    def __init__(
        self,
        lifecycle: TaskLifecycle,
        store: ShufflerStore,
        analyst: AnalystClient,
        reached: Callable[[str], None],
    ) -> None:
        self._lifecycle, self._store = lifecycle, store
        self._analyst, self._reached = analyst, reached

    async def run(self, leads: asyncio.Event) -> None:
        """Hands over every closed batch, until it is canceled.

        Args:
            leads: Set while this process is the leader.
        """
        while True:
            await self._lifecycle.batch_closed.wait()
            await leads.wait()
            # 0 after a success: the next step may be closed already.
            await asyncio.sleep(await self._attempt())

    async def skip(self, epoch: int, stage: str) -> None:
        """Ends an epoch that cannot be finished.

        Args:
            epoch: The expected epoch.
            stage: The name of the expected step.

        Raises:
            Refusal: If the epoch is over, the analyst may have its batch, or the disk is
                full.
        """
        # Before the lease, which an attempt may hold for minutes.
        if self._lifecycle.state.phase is ShufflerPhase.CLOSED:
            self._check_refused()
        async with self._leased() as lease:
            attempts = self._lifecycle.record.attempts
            # Read under the lease: another process may have tried again.
            refused = attempts.refused is not None and not attempts.unsettled
            await self._lifecycle.skip(epoch, stage, refused=refused, lease=lease)

    async def resume(self) -> None:
        """Begins the epoch that the analyst waits for, after a database was lost.

        Raises:
            Refusal: If the analyst does not answer, nothing was lost, or the disk is full.
        """
        try:
            awaited = await self._analyst.awaited(self._lifecycle.hosted.task)
        except UnansweredError as error:
            raise Refusal(Reason.NOT_OPEN, str(error)) from error
        await self._lifecycle.resume(awaited)

    async def check_allowance(self) -> None:
        """Raises Refusal if the analyst reports too little allowance for another epoch."""
        task = self._lifecycle.hosted.task
        try:
            exhausted = await self._analyst.exhausted(task)
        except UnansweredError:
            # Unknown: the analyst would refuse the batch in that case.
            return
        if exhausted:
            choices = ", ".join(f"{choice:g}" for choice in exhausted)
            raise Refusal(
                Reason.ALLOWANCE_SPENT,
                f"Expected enough left for another epoch at {task.choice_word} {choices}.",
            )

    @asynccontextmanager
    async def _leased(self) -> AsyncIterator[int]:
        """Locks the hand-over, reloads its progress, and yields the lease.

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
        progressed, lease = False, None

        def on_shard_sent() -> None:
            nonlocal progressed
            progressed = True
            self._reached("after sending")

        try:
            async with self._leased() as lease:
                state, before = self._lifecycle.state, self._lifecycle.record.attempts
                # Another process may have handed it over before this one got the lease.
                if state.phase is not ShufflerPhase.CLOSED:
                    return 0.0
                if before.refused is not None:
                    # If this process dies now, another must not drop the batch: the
                    # analyst may accept this attempt.
                    begun = replace(before, unsettled=True)
                    await self._lifecycle.record_attempts(begun, lease=lease)
                try:
                    self._reached("before hand-over")
                    acknowledgement = await self._analyst.send(
                        state, partial(self._store.read_batch, state), on_shard_sent
                    )
                    self._reached("after hand-over")
                    await self._lifecycle.deliver(acknowledgement, lease=lease)
                except Refusal as refusal:
                    # STORAGE is this service's disk: the analyst's is a server error.
                    if refusal.reason is Reason.STORAGE:
                        raise
                    after = HandoverAttempts(before.failed + 1, refusal.reason)
                    await self._lifecycle.record_attempts(after, lease=lease)
                    # Logged once for all attempts: a service may retry for days.
                    if before.refused is not refusal.reason:
                        log_event(Event.REFUSED, state, reason=refusal.reason.value)
                    return self._analyst.refused_wait
        # Any error is retried, as a batch must not be stuck because of one bug.
        except Exception as error:
            # An attempt that delivered a shard is not a failure: fewer remain to be sent.
            failed = 0 if progressed else before.failed + 1
            after = HandoverAttempts(failed, full=isinstance(error, AnalystFullError))
            if self._lifecycle.state == state:
                # The analyst may have the batch: `refused` is cleared.
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
        """Logs a failed attempt; returns the seconds to wait (exponential backoff)."""
        if not isinstance(error, UnansweredError | Refusal):
            log_crash(error)
        elif after.full and not before.full:
            log_event(Event.UNANSWERED, state, reason=Reason.STORAGE.value)
        elif after.failed == 1 and not after.full:
            untrusted = isinstance(error, UntrustedAnalystError)
            fields = {"reason": "certificate-not-trusted"} if untrusted else {}
            log_event(Event.UNANSWERED, state, **fields)
        # The exponent is bounded, as 2.0**1024 overflows.
        doubled = self._analyst.first_wait * 2.0 ** min(max(after.failed - 1, 0), 30)
        return min(doubled, self._analyst.longest_wait)
