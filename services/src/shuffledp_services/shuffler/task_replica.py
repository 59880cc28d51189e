"""In-memory replica of a task's record, kept consistent with the shared store."""

import asyncio
from contextlib import suppress
from dataclasses import replace

from shuffledp_services.collection.coarsened_counts import coarsen_counts
from shuffledp_services.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp_services.shuffler.keyed_digests import KeyedDigests
from shuffledp_services.shuffler.shuffler_host import ShufflerHost
from shuffledp_services.shuffler.store import ShufflerStore
from shuffledp_services.shuffler.task_record import (
    HandoverAttempts,
    TaskRecord,
    is_same_step,
    zero_counts,
)
from shuffledp_services.wire.refusal import Reason, Refusal


class TaskReplica:
    """Copy of a task's record in this process; changes go to the store first.

    Attributes:
        hosted: The task and its keys.
        record: The record as loaded or changed last.
        keyed_digests: Of tokens and messages of the current step.
        batch_closed: Set while a batch waits to be handed over.
    """

    def __init__(self, hosted: ShufflerHost, store: ShufflerStore) -> None:
        state = ShufflerState.begin(hosted.task)
        self.hosted = hosted
        self.record = TaskRecord(state, zero_counts(state), zero_counts(state))
        self.batch_closed = asyncio.Event()
        self.keyed_digests = KeyedDigests(hosted.secrets.signing_key, self.state.step)
        self._store = store
        self._changing = asyncio.Lock()

    @property
    def state(self) -> ShufflerState:
        """The state of the task."""
        return self.record.state

    @property
    def people(self) -> tuple[int, ...]:
        """Reports in the current step, counted as in `TaskRecord.people`."""
        return self.record.people

    async def reload(self, refusal: Refusal | None = None) -> bool:
        """Loads the record from the store.

        Args:
            refusal: By the store, if one is the reason to reload.

        Returns:
            Whether the store answered.
        """
        async with self._changing:
            return await self._reload(refusal)

    def set_challenge(self, challenge: bytes) -> None:
        """Sets the challenge that the operator's next command must name."""
        self.record = replace(self.record, challenge=challenge)

    def set_user_counts(self, state: ShufflerState, people: tuple[int, ...]) -> None:
        """Sets the report counts, if they belong to the current state."""
        # Counts of a commit may come after the step has ended.
        if state == self.state:
            self.record = replace(self.record, people=people)

    async def add_refusals(self, more: dict[str, int]) -> None:
        """Adds refusal counts in the store.

        Raises:
            Refusal: If the disk is full.
        """
        refused = await self._store.add_refusals(self.hosted.task, more)
        self.record = replace(self.record, refused=refused)

    async def record_attempts(
        self, attempts: HandoverAttempts, *, lease: int | None
    ) -> None:
        """Records the progress of the hand-over, in memory even if the store fails.

        Args:
            attempts: The progress.
            lease: Of the attempt; None if it got none: then the store is not changed.

        Raises:
            Refusal: If another process changed the state, or the disk is full.
        """
        # First in memory: the status shows the attempt even if the disk is full.
        self.record = replace(self.record, attempts=attempts)
        if lease is not None:
            await self._store.record_attempts(self.state, attempts, lease=lease)

    async def publish_counts(self) -> None:
        """Publishes the rounded report counts of the current step.

        The caller runs on a timer: if requests could choose the moment, differences
        between two publications would reveal single participants.
        """
        async with self._changing:
            await self._reload()
            published = coarsen_counts(self.state.task, self.people)
            if published != self.record.published:
                # A refusal is retried at the next publication.
                with suppress(Refusal):
                    await self._store.publish_counts(self.state, published)
                    self.record = replace(self.record, published=published)

    def check_step(self, epoch: int, stage: str) -> None:
        """Raises Refusal unless this step of this epoch is the current one."""
        state = self.state
        if (epoch, stage) != (state.epoch, state.stage.name.lower()):
            raise Refusal(
                Reason.NOT_OPEN, "Expected this step to be the one under way."
            )

    async def _change_or_follow(self, after: ShufflerState) -> bool:
        """Changes to a state that another process may have reached first.

        Returns:
            Whether this process made the change.
        """
        try:
            await self._change_state(after, self.people)
        except Refusal as refusal:
            # `_change_state` reloaded: `self.state` is where the other process went.
            enrolled = after.enrolment in (None, self.state.enrolment)
            reached = self.state.task == after.task and enrolled
            if refusal.reason is not Reason.NOT_OPEN or not reached:
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
        # A commit whose answer was lost may have been made: only the store can tell.
        if refusal is None or refusal.reason in (Reason.STORAGE, Reason.NOT_OPEN):
            with suppress(Refusal):
                begun = ShufflerState.begin(self.hosted.task)
                self._adopt(await self._store.load(begun, self.hosted.former))
                return True
        return False

    def _apply(self, state: ShufflerState, people: tuple[int, ...]) -> None:
        """Adopts a state change that this process made."""
        published = zero_counts(state)
        if is_same_step(self.state, state):
            # Uploads may have been committed since `people` was read.
            people, published = self.people, self.record.published
        self._adopt(
            replace(
                self.record,
                state=state,
                people=people,
                published=published,
                attempts=HandoverAttempts(),
            )
        )

    def _adopt(self, record: TaskRecord) -> None:
        if record.state == self.state:
            own, stored = self.record.attempts, record.attempts
            if own.failed > stored.failed:
                # A full disk could not record the attempts of this process.
                stored = replace(own, unsettled=stored.unsettled)
            # The same state object: uploads that wait together are grouped by identity.
            self.record = replace(record, state=self.state, attempts=stored)
        else:
            self.record = record
            self.keyed_digests = KeyedDigests(
                self.hosted.secrets.signing_key, record.state.step
            )
        if self.state.phase is ShufflerPhase.CLOSED:
            self.batch_closed.set()
        else:
            self.batch_closed.clear()
