"""What one process knows of where a task stands, and how it learns what others did."""

import asyncio
from contextlib import suppress
from dataclasses import replace

from shuffledp.service.collection.coarse import coarse
from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.shuffler.hosted import ShufflerHost
from shuffledp.service.shuffler.marks import Marks
from shuffledp.service.shuffler.record import Attempts, Record, goes_on, nobody
from shuffledp.service.shuffler.store import ShufflerStore
from shuffledp.service.wire.refusal import Reason, Refusal


class Standing:
    """Keeps what the store says in memory, and changes both together.

    Attributes:
        hosted: The task and its keys.
        known: What the store said last.
        marks: Of tokens and messages of this step.
        closed: Is set while a batch waits to be handed over.
    """

    def __init__(self, hosted: ShufflerHost, store: ShufflerStore) -> None:
        state = ShufflerState.begin(hosted.task)
        self.hosted, self.known = hosted, Record(state, nobody(state), nobody(state))
        self.closed = asyncio.Event()
        self.marks = Marks(hosted.secrets.signing_key, self.state.step)
        self._store = store
        self._changing = asyncio.Lock()

    @property
    def state(self) -> ShufflerState:
        """Where the task stands."""
        return self.known.state

    @property
    def people(self) -> tuple[int, ...]:
        """How many reported in this step, as `Record.people` counts."""
        return self.known.people

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

    async def note(self, attempts: Attempts, *, lease: int | None) -> None:
        """Writes down how the hand-over goes; this process knows it anyway.

        Args:
            attempts: How it goes.
            lease: Of the attempt; None if it got none, which is not written down.

        Raises:
            Refusal: If the step went on, or the disk is full.
        """
        self.known = replace(self.known, attempts=attempts)
        if lease is not None:
            await self._store.note(self.state, attempts, lease=lease)

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

    async def _move(
        self,
        after: ShufflerState,
        people: tuple[int, ...],
        *,
        lease: int | None = None,
    ) -> None:
        try:
            await self._store.move(self.state, after, people, lease=lease)
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
