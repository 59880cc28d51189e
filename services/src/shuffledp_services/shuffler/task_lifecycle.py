"""Lifecycle of one task at the shuffler: enrolment, close, hand-over, next epoch."""

import asyncio
import logging
import os
from collections.abc import Callable

from shuffledp.errors import DataError
from shuffledp_services.collection.continuation import (
    replace_keys,
    resume_after_loss,
)
from shuffledp_services.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp_services.http.coalesced_refresh import CoalescedRefresh
from shuffledp_services.monitoring.event_log import Event, log_event
from shuffledp_services.shuffler.shuffler_host import ShufflerHost, ignore_boundary
from shuffledp_services.shuffler.store import ShufflerStore, storage_refusal
from shuffledp_services.shuffler.task_record import zero_counts
from shuffledp_services.shuffler.task_replica import TaskReplica
from shuffledp_services.wire.batch import BatchHeader, Shard, write_manifest
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import Roster
from shuffledp_services.wire.signed_plan import Acknowledgement
from shuffledp_services.wire.task import ID_SIZE

_PATIENCE_SECONDS = 10.0

_log = logging.getLogger("shuffledp_services")


class TaskLifecycle(TaskReplica):
    """Performs the state transitions of a task, each in one transaction of the store."""

    def __init__(
        self,
        hosted: ShufflerHost,
        store: ShufflerStore,
        *,
        entropy: Callable[[int], bytes] = os.urandom,
        reached: Callable[[str], None] = ignore_boundary,
    ) -> None:
        super().__init__(hosted, store)
        self._roster: Roster | None = None
        self._roster_error = ""
        self._entropy, self._reached = entropy, reached
        self._refreshes, self._closing = CoalescedRefresh(self._refresh), False

    async def restore(self) -> None:
        """Loads the task from the store, and replaces its keys if they are new.

        Raises:
            DataError: If the store has another task, or one that this task cannot succeed
                in its present state.
        """
        task, former = self.hosted.task, self.hosted.former
        try:
            self._adopt(await self._store.load(ShufflerState.begin(task), former))
        except Refusal as error:
            raise DataError("Could not read the database: try again later.") from error
        if self.state.task != task:
            try:
                after = replace_keys(self.state, task, self.people)
            except Refusal as error:
                raise DataError(str(error)) from error
            if await self._change_or_follow(after):
                log_event(Event.KEYS_REPLACED, after)
        await self.enroll()

    async def stop(self) -> None:
        """Stops refreshing."""
        await self._refreshes.stop()

    async def enroll(self) -> None:
        """Adopts the roster of the current epoch, as soon as there is one.

        A roster that is damaged, not signed by the enroller, or different from the one
        that the epoch began with is logged and ignored: uploads are refused until there
        is a valid one, and everything else goes on.
        """
        try:
            await self._enroll()
        except (DataError, Refusal) as error:
            # Logged once per cause: this is called every second.
            if str(error) != self._roster_error:
                _log.warning("Nobody is enrolled: %s", error)
            self._roster_error = str(error)

    async def _enroll(self) -> None:
        async with self._changing:
            state, adopted = self.state, self._roster
            if adopted is not None and adopted.enrolment == state.enrolment:
                return
            roster = await asyncio.to_thread(self.hosted.rosters, state.epoch)
            if roster is None:
                return
            after = state.enroll(roster.enrolment)
            self._roster = roster
            if after is not state and await self._change_or_follow(after):
                log_event(Event.ENROLLED, after)

    async def refresh(self) -> None:
        """Reloads the task if another process may have changed it.

        Raises:
            Refusal: If the store does not answer within `_PATIENCE_SECONDS`.
        """
        # No other process changes the task while this one closes a step.
        if self._store.is_exclusive or self._closing:
            return
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self._refreshes.refresh()
        except TimeoutError:
            raise storage_refusal() from None

    async def _refresh(self) -> None:
        if not await self.reload():
            raise storage_refusal()
        await self.enroll()

    def roster_for(self, state: ShufflerState) -> Roster:
        """Returns the roster that a state was enrolled with.

        Raises:
            Refusal: If there is no roster yet.
        """
        roster = self._roster
        if roster is None or roster.enrolment != state.enrolment:
            raise Refusal(Reason.NOT_OPEN, "Expected nothing yet: nobody is enrolled.")
        return roster

    async def close(self, epoch: int, stage: str) -> None:
        """Closes the open step: seals its batch and deletes the keyed digests.

        Args:
            epoch: The expected epoch.
            stage: The name of the expected step.

        Raises:
            Refusal: If a minimum is not reached, no step is open, or the disk is full.
        """
        # The analyst recognizes a repeated batch by it. Among dummies it is theirs.
        batch_id = self._entropy(ID_SIZE)
        closed = self.people

        # Called by the store inside the transaction that closes the step.
        def seal(
            people: tuple[int, ...], bits: int, shards: tuple[Shard, ...]
        ) -> tuple[ShufflerState, bytes]:
            # Uploads may have been stored since the check below.
            nonlocal closed
            sealed_id = batch_id if dummies is None else dummies.batch_id
            after, step, closed = state.close(people, sealed_id), state.step, people
            header = BatchHeader(
                task=step.task.digest,
                epoch=step.epoch,
                after=state.after,
                stage=step.stage,
                batch_id=sealed_id,
                people=people,
                sealed_size=step.sealed_size,
                bits=bits,
                shards=shards,
                enrolment=enrolment,
                messages_per_report=step.messages_per_report,
            )
            manifest = write_manifest(header, self.hosted.secrets.signing_key)
            self._reached("in close")
            return after, manifest

        async with self._changing:
            state = self.state
            self.check_step(epoch, stage)
            # Checked first, before millions of messages are read.
            state.close(self.people, batch_id)
            # Raises Refusal until the roster of the step is read.
            enrolment = self.roster_for(state).enrolment
            dummies = self.hosted.batch_dummies(state.step)
            self._reached("before close")
            # No refresh meanwhile: it would wait for the lock that the close holds.
            self._closing = True
            try:
                draw = None if dummies is None else dummies.draw
                after = await self._store.seal_batch(state, seal, draw)
            except Refusal as refusal:
                await self._reload(refusal)
                raise
            finally:
                self._closing = False
            self._reached("after close")
            self._apply(after, closed)
            log_event(Event.CLOSED, state)

    async def deliver(self, acknowledgement: Acknowledgement, *, lease: int) -> None:
        """Deletes the acknowledged batch, and changes to the next step.

        Args:
            acknowledgement: As signed by the analyst.
            lease: Of the hand-over.

        Raises:
            Refusal: If another batch is acknowledged, or the disk is full.
        """
        async with self._changing:
            state = self.state
            after = state.deliver(acknowledgement)
            await self._change_state(after, self._people_after(after), lease=lease)
            log_event(Event.HANDED_OVER, state)
            self._reached("after forgetting")

    async def set_deadline(self, deadline: int, epoch: int, stage: str) -> None:
        """Sets the deadline of the open step; reopens a step that waits.

        Args:
            deadline: In seconds since 1970 UTC.
            epoch: The expected epoch.
            stage: The name of the expected step.

        Raises:
            Refusal: If nothing is open, or the disk is full.
        """
        async with self._changing:
            self.check_step(epoch, stage)
            await self._change_state(self.state.with_deadline(deadline), self.people)
            self._reached("after deadline")

    async def end_intake(self, epoch: int, stage: str) -> None:
        """Ends the intake of the open step, and keeps the collected reports.

        Args:
            epoch: The expected epoch.
            stage: The name of the expected step.

        Raises:
            Refusal: If nothing is open, or the disk is full.
        """
        async with self._changing:
            self.check_step(epoch, stage)
            await self._change_state(self.state.wait(), self.people)
            log_event(Event.INTAKE_ENDED, self.state)
            self._reached("after deadline passed")

    async def skip(self, epoch: int, stage: str, *, refused: bool, lease: int) -> None:
        """Ends an epoch that cannot be finished, and deletes its reports.

        Args:
            epoch: The expected epoch.
            stage: The name of the expected step.
            refused: Whether the analyst refused the closed batch, if there is one.
            lease: Of the hand-over.

        Raises:
            Refusal: If the epoch is over, the analyst may have its batch, or the disk is
                full.
        """
        async with self._changing:
            self.check_step(epoch, stage)
            state = self.state
            after = state.skip(refused=refused)
            await self._change_state(after, zero_counts(after), lease=lease)
            log_event(Event.SKIPPED, state)
            self._reached("after skipping")

    async def resume(self, awaited: int) -> None:
        """Begins the epoch after the one in which a database was lost.

        Args:
            awaited: The epoch that the analyst waits for.

        Raises:
            Refusal: If nothing was lost, or the disk is full.
        """
        async with self._changing:
            # An epoch with a roster may have begun: its tokens may be used.
            last_roster = await asyncio.to_thread(self.hosted.last_roster)
            after = resume_after_loss(self.state, awaited, known=last_roster)
            await self._change_state(after, zero_counts(after))
            self._reached("after resuming")
        await self.enroll()

    async def next_epoch(self) -> None:
        """Begins the next epoch.

        Raises:
            Refusal: If the current epoch is not over, or the disk is full.
        """
        async with self._changing:
            after = self.state.next_epoch()
            await self._change_state(after, zero_counts(after))
            log_event(Event.EPOCH_BEGUN, after)
            self._reached("after next epoch")
        await self.enroll()

    def _people_after(self, after: ShufflerState) -> tuple[int, ...]:
        return (
            self.people
            if after.phase is ShufflerPhase.DELIVERED
            else zero_counts(after)
        )
