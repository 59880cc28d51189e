"""Where one task stands at the shuffler, and the steps from there to the next epoch."""

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from shuffledp.errors import DataError
from shuffledp.service.collection.coarse import coarse
from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.events import Event, say
from shuffledp.service.shuffler.hosted import ShufflerHost, nothing
from shuffledp.service.shuffler.looks import Looks
from shuffledp.service.shuffler.marks import Marks
from shuffledp.service.shuffler.store import (
    Attempts,
    Record,
    ShufflerStore,
    full,
    goes_on,
    nobody,
)
from shuffledp.service.wire.batch import BatchHeader, Shard, write_manifest
from shuffledp.service.wire.plan import Acknowledgement
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.roster import Roster
from shuffledp.service.wire.task import ID_SIZE

_PATIENCE_SECONDS = 10.0

_log = logging.getLogger("shuffledp.service")


class Steps:
    """Keeps what the store says in memory, and changes both together.

    Attributes:
        hosted: The task and its keys.
        known: What the store said last.
        marks: Of tokens and messages of this step.
        closed: Is set while a batch waits to be handed over.
    """

    def __init__(
        self,
        hosted: ShufflerHost,
        store: ShufflerStore,
        *,
        entropy: Callable[[int], bytes] = os.urandom,
        reached: Callable[[str], None] = nothing,
    ) -> None:
        state = ShufflerState.begin(hosted.task)
        self.hosted, self.known = hosted, Record(state, nobody(state), nobody(state))
        self.closed = asyncio.Event()
        self.marks = Marks(hosted.secrets.signing_key, self.state.step)
        self._roster: Roster | None = None
        self._roster_trouble = ""
        self._store, self._entropy, self._reached = store, entropy, reached
        self._changing = asyncio.Lock()
        self._looks, self._closing = Looks(self._look), False

    @property
    def state(self) -> ShufflerState:
        """Where the task stands."""
        return self.known.state

    @property
    def people(self) -> tuple[int, ...]:
        """How many reported in this step, as `Record.people` counts."""
        return self.known.people

    async def restore(self) -> None:
        """Goes on where the store stands.

        Raises:
            DataError: If it keeps another task, or one whose place this one cannot take
                at this point.
        """
        task, former = self.hosted.task, self.hosted.former
        try:
            self._know(await self._store.begin(ShufflerState.begin(task), former))
        except Refusal as error:
            raise DataError("Could not read the database: try again later.") from error
        if self.state.task != task:
            try:
                after = self.state.succeed(task, self.people)
            except Refusal as error:
                raise DataError(str(error)) from error
            if await self._moved_by_anybody(after):
                say(Event.KEYS_REPLACED, after)
        await self.enroll()

    async def stop(self) -> None:
        """Looks no more."""
        await self._looks.stop()

    async def enroll(self) -> None:
        """Settles who may answer in this epoch, as soon as there is a roster of it.

        One that is damaged, not the enroller's, or another than this epoch began with is
        logged: nothing comes in until there is a good one, and all else goes on.
        """
        try:
            await self._enroll()
        except (DataError, Refusal) as error:
            if str(error) != self._roster_trouble:
                _log.warning("Nobody is enrolled: %s", error)
            self._roster_trouble = str(error)

    async def _enroll(self) -> None:
        async with self._changing:
            state, known = self.state, self._roster
            if known is not None and known.enrolment == state.enrolment:
                return
            roster = await asyncio.to_thread(self.hosted.rosters, state.epoch)
            if roster is None:
                return
            after = state.enroll(roster.enrolment)
            self._roster = roster
            if after is not state and await self._moved_by_anybody(after):
                say(Event.ENROLLED, after)

    async def look(self) -> None:
        """Goes on where the store stands now, if another process may have changed that.

        While this process closes a step nobody else changes anything.

        Raises:
            Refusal: If the store does not say so soon.
        """
        if self._store.alone or self._closing:
            return
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self._looks.share()
        except TimeoutError:
            raise full() from None

    async def _look(self) -> None:
        if not await self.look_again():
            raise full()
        await self.enroll()

    async def look_again(self, refusal: Refusal | None = None) -> bool:
        """Goes on where the store stands, if it answers.

        Args:
            refusal: Of the store, if one was the reason to look.

        Returns:
            Whether it answered.
        """
        async with self._changing:
            return await self._look_again(refusal)

    def ask_for(self, challenge: bytes) -> None:
        """Learns what the operator's next command must name."""
        self.known = replace(self.known, challenge=challenge)

    def count(self, state: ShufflerState, people: tuple[int, ...]) -> None:
        """Learns how many people reported in a step, if it is this one."""
        if state == self.state:
            self.known = replace(self.known, people=people)

    async def save_refused(self, more: dict[str, int]) -> None:
        """Writes numbers of refusals down.

        Raises:
            Refusal: If the disk is full.
        """
        refused = await self._store.count_refused(self.hosted.task, more)
        self.known = replace(self.known, refused=refused)

    async def note(self, attempts: Attempts) -> None:
        """Writes down how the hand-over goes; this process knows it anyway.

        Raises:
            Refusal: If the step went on, or the disk is full.
        """
        self.known = replace(self.known, attempts=attempts)
        await self._store.note(self.state, attempts)

    def roster_for(self, state: ShufflerState) -> Roster:
        """Returns the roster that was settled for a step.

        Raises:
            Refusal: If nobody is enrolled yet.
        """
        roster = self._roster
        if roster is None or roster.enrolment != state.enrolment:
            raise Refusal(Reason.NOT_OPEN, "Expected nothing yet: nobody is enrolled.")
        return roster

    async def show(self) -> None:
        """Lets everybody know how many people answered so far, roughly.

        Whoever could choose the moment would see single people come.
        """
        async with self._changing:
            await self._look_again()
            shown = coarse(self.state.task, self.people)
            if shown != self.known.shown:
                with suppress(Refusal):
                    # It is tried again.
                    await self._store.show(self.state, shown)
                    self.known = replace(self.known, shown=shown)

    def check_place(self, epoch: int, stage: str) -> None:
        """Raises Refusal unless the task is in this step of this epoch."""
        state = self.state
        if (epoch, stage) != (state.epoch, state.stage.name.lower()):
            raise Refusal(
                Reason.NOT_OPEN, "Expected this step to be the one under way."
            )

    async def close(self, epoch: int, stage: str) -> None:
        """Fixes the batch of the open step, and forgets who sent what.

        Args:
            epoch: Which one is meant.
            stage: Which step of it, by name.

        Raises:
            Refusal: If people are missing, nothing is open, or the disk is full.
        """
        batch_id = self._entropy(ID_SIZE)
        closed = self.people

        def seal(
            people: tuple[int, ...], bits: int, shards: tuple[Shard, ...]
        ) -> tuple[ShufflerState, bytes]:
            # Uploads may have been stored since it was asked.
            nonlocal closed
            after, step, closed = state.close(people, batch_id), state.step, people
            header = BatchHeader(
                task=step.task.digest,
                epoch=step.epoch,
                after=state.after,
                stage=step.stage,
                batch_id=batch_id,
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
            self.check_place(epoch, stage)
            # Asked first without reading a million messages.
            state.close(self.people, batch_id)
            enrolment = self.roster_for(state).enrolment
            self._reached("before close")
            self._closing = True
            try:
                after = await self._store.fix(state, seal)
            except Refusal as refusal:
                await self._look_again(refusal)
                raise
            finally:
                self._closing = False
            self._reached("after close")
            self._stand(after, closed)
            say(Event.CLOSED, state)

    async def deliver(self, acknowledgement: Acknowledgement) -> None:
        """Forgets the batch, and goes to the next step.

        Raises:
            Refusal: If another batch is acknowledged, or the disk is full.
        """
        async with self._changing:
            state = self.state
            after = state.deliver(acknowledgement)
            await self._move(after, self._people_after(after))
            say(Event.HANDED_OVER, state)
            self._reached("after forgetting")

    async def abandon(self, reason: Reason) -> None:
        """Forgets the batch without handing it over.

        Args:
            reason: Why the analyst refused it.

        Raises:
            Refusal: If none is closed, or the disk is full.
        """
        async with self._changing:
            state = self.state
            after = state.abandon(reason)
            await self._move(after, self._people_after(after))
            say(Event.ABANDONED, state, reason=reason.value)
            self._reached("after abandoning")

    async def until(self, deadline: int, epoch: int, stage: str) -> None:
        """Sets when the open step ends by itself.

        Args:
            deadline: In seconds since 1970 UTC.
            epoch: Which one is meant.
            stage: Which step of it, by name.

        Raises:
            Refusal: If nothing is open, or the disk is full.
        """
        async with self._changing:
            self.check_place(epoch, stage)
            await self._move(self.state.until(deadline), self.people)
            self._reached("after deadline")

    async def skip(self, epoch: int, stage: str, *, refused: bool) -> None:
        """Ends an epoch that cannot be finished, and forgets what was collected in it.

        Args:
            epoch: Which one is meant.
            stage: Which step of it, by name.
            refused: Whether the analyst refused the batch that is closed, if one is.

        Raises:
            Refusal: If it is over, she may have its batch, or the disk is full.
        """
        async with self._changing:
            self.check_place(epoch, stage)
            state = self.state
            after = state.skip(refused=refused)
            await self._move(after, nobody(after))
            say(Event.SKIPPED, state)
            self._reached("after skipping")

    async def resume(self, awaited: int) -> None:
        """Begins the epoch after the one that was under way when a database was lost.

        Args:
            awaited: The epoch that the analyst waits for.

        Raises:
            Refusal: If nothing was lost, or the disk is full.
        """
        async with self._changing:
            known = await asyncio.to_thread(self.hosted.last_roster)
            after = self.state.resume(awaited, known=known)
            await self._move(after, nobody(after))
            self._reached("after resuming")
        await self.enroll()

    async def next_epoch(self) -> None:
        """Begins the next epoch.

        Raises:
            Refusal: If this one is not over, or the disk is full.
        """
        async with self._changing:
            after = self.state.next_epoch()
            await self._move(after, nobody(after))
            say(Event.EPOCH_BEGUN, after)
            self._reached("after next epoch")
        await self.enroll()

    def _people_after(self, after: ShufflerState) -> tuple[int, ...]:
        return self.people if after.phase is ShufflerPhase.DELIVERED else nobody(after)

    async def _moved_by_anybody(self, after: ShufflerState) -> bool:
        """Goes to a state to which another process may have gone; tells who did."""
        try:
            await self._move(after, self.people)
        except Refusal as refusal:
            enrolled = after.enrolment in (None, self.state.enrolment)
            there = self.state.task == after.task and enrolled
            if refusal.reason is not Reason.NOT_OPEN or not there:
                raise
            return False
        return True

    async def _move(self, after: ShufflerState, people: tuple[int, ...]) -> None:
        try:
            await self._store.move(self.state, after, people)
        except Refusal as refusal:
            await self._look_again(refusal)
            raise
        self._stand(after, people)

    async def _look_again(self, refusal: Refusal | None = None) -> bool:
        # A commit whose answer was lost may have been made.
        if refusal is None or refusal.reason in (Reason.STORAGE, Reason.NOT_OPEN):
            with suppress(Refusal):
                begun = ShufflerState.begin(self.hosted.task)
                self._know(await self._store.begin(begun, self.hosted.former))
                return True
        return False

    def _stand(self, state: ShufflerState, people: tuple[int, ...]) -> None:
        """Knows of a change that this process made."""
        shown = nobody(state)
        if goes_on(self.state, state):
            # More may have come meanwhile.
            people, shown = self.people, self.known.shown
        self._know(
            replace(
                self.known,
                state=state,
                people=people,
                shown=shown,
                attempts=Attempts(),
            )
        )

    def _know(self, record: Record) -> None:
        if record.state == self.state:
            own, kept = self.known.attempts, record.attempts
            if own.failed > kept.failed:
                # A full disk keeps no attempts.
                kept = replace(own, unsettled=kept.unsettled)
            # Uploads that wait together are of one and the same state.
            self.known = replace(record, state=self.state, attempts=kept)
        else:
            self.known = record
            self.marks = Marks(self.hosted.secrets.signing_key, record.state.step)
        if self.state.phase is ShufflerPhase.CLOSED:
            self.closed.set()
        else:
            self.closed.clear()
