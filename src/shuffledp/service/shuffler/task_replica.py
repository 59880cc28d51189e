"""What one process knows of where a task stands, and how it learns what others did."""

import asyncio
from contextlib import suppress
from dataclasses import replace

from shuffledp.service.collection.coarsened_counts import coarsen_counts
from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.shuffler.keyed_digests import KeyedDigests
from shuffledp.service.shuffler.shuffler_host import ShufflerHost
from shuffledp.service.shuffler.store import ShufflerStore
from shuffledp.service.shuffler.task_record import (
    HandoverAttempts,
    TaskRecord,
    is_same_step,
    zero_counts,
)
from shuffledp.service.wire.refusal import Reason, Refusal


class TaskReplica:
    """Keeps what the store says in memory, and changes both together.

    Attributes:
        hosted: The task and its keys.
        known: What the store said last.
        marks: Of tokens and messages of this step.
        closed: Is set while a batch waits to be handed over.
    """

    def __init__(self, hosted: ShufflerHost, store: ShufflerStore) -> None:
        state = ShufflerState.begin(hosted.task)
        self.hosted, self.record = (
            hosted,
            TaskRecord(state, zero_counts(state), zero_counts(state)),
        )
        self.batch_closed = asyncio.Event()
        self.keyed_digests = KeyedDigests(hosted.secrets.signing_key, self.state.step)
        self._store = store
        self._changing = asyncio.Lock()

    @property
    def state(self) -> ShufflerState:
        """Where the task stands."""
        return self.record.state

    @property
    def people(self) -> tuple[int, ...]:
        """How many reported in this step, as `TaskRecord.people` counts."""
        return self.record.people

    async def reload(self, refusal: Refusal | None = None) -> bool:
        """Goes on where the store stands, if it answers.

        Args:
            refusal: Of the store, if one was the reason to look.

        Returns:
            Whether it answered.
        """
        async with self._changing:
            return await self._reload(refusal)

    def set_challenge(self, challenge: bytes) -> None:
        """Learns what the operator's next command must name."""
        self.record = replace(self.record, challenge=challenge)

    def set_user_counts(self, state: ShufflerState, people: tuple[int, ...]) -> None:
        """Learns how many people reported in a step, if it is this one."""
        if state == self.state:
            self.record = replace(self.record, people=people)

    async def add_refusals(self, more: dict[str, int]) -> None:
        """Writes numbers of refusals down.

        Raises:
            Refusal: If the disk is full.
        """
        refused = await self._store.add_refusals(self.hosted.task, more)
        self.record = replace(self.record, refused=refused)

    async def record_attempts(
        self, attempts: HandoverAttempts, *, lease: int | None
    ) -> None:
        """Writes down how the hand-over goes; this process knows it anyway.

        Args:
            attempts: How it goes.
            lease: Of the attempt; None if it got none, which is not written down.

        Raises:
            Refusal: If the step went on, or the disk is full.
        """
        self.record = replace(self.record, attempts=attempts)
        if lease is not None:
            await self._store.record_attempts(self.state, attempts, lease=lease)

    async def publish_counts(self) -> None:
        """Lets everybody know how many people answered so far, roughly.

        Whoever could choose the moment would see single people come.
        """
        async with self._changing:
            await self._reload()
            shown = coarsen_counts(self.state.task, self.people)
            if shown != self.record.shown:
                with suppress(Refusal):
                    # It is tried again.
                    await self._store.publish_counts(self.state, shown)
                    self.record = replace(self.record, shown=shown)

    def check_step(self, epoch: int, stage: str) -> None:
        """Raises Refusal unless the task is in this step of this epoch."""
        state = self.state
        if (epoch, stage) != (state.epoch, state.stage.name.lower()):
            raise Refusal(
                Reason.NOT_OPEN, "Expected this step to be the one under way."
            )

    async def _change_or_follow(self, after: ShufflerState) -> bool:
        """Goes to a state to which another process may have gone; tells who did."""
        try:
            await self._change_state(after, self.people)
        except Refusal as refusal:
            enrolled = after.enrolment in (None, self.state.enrolment)
            there = self.state.task == after.task and enrolled
            if refusal.reason is not Reason.NOT_OPEN or not there:
                raise
            return False
        return True

    async def _change_state(
        self,
        after: ShufflerState,
        people: tuple[int, ...],
        *,
        lease: int | None = None,
    ) -> None:
        try:
            await self._store.change_state(self.state, after, people, lease=lease)
        except Refusal as refusal:
            await self._reload(refusal)
            raise
        self._apply(after, people)

    async def _reload(self, refusal: Refusal | None = None) -> bool:
        # A commit whose answer was lost may have been made.
        if refusal is None or refusal.reason in (Reason.STORAGE, Reason.NOT_OPEN):
            with suppress(Refusal):
                begun = ShufflerState.begin(self.hosted.task)
                self._adopt(await self._store.load(begun, self.hosted.former))
                return True
        return False

    def _apply(self, state: ShufflerState, people: tuple[int, ...]) -> None:
        """Knows of a change that this process made."""
        shown = zero_counts(state)
        if is_same_step(self.state, state):
            # More may have come meanwhile.
            people, shown = self.people, self.record.shown
        self._adopt(
            replace(
                self.record,
                state=state,
                people=people,
                shown=shown,
                attempts=HandoverAttempts(),
            )
        )

    def _adopt(self, record: TaskRecord) -> None:
        if record.state == self.state:
            own, kept = self.record.attempts, record.attempts
            if own.failed > kept.failed:
                # A full disk keeps no attempts.
                kept = replace(own, unsettled=kept.unsettled)
            # Uploads that wait together are of one and the same state.
            self.record = replace(record, state=self.state, attempts=kept)
        else:
            self.record = record
            self.keyed_digests = KeyedDigests(
                self.hosted.secrets.signing_key, record.state.step
            )
        if self.state.phase is ShufflerPhase.CLOSED:
            self.batch_closed.set()
        else:
            self.batch_closed.clear()
