"""One task at the shuffler: takes uploads, closes steps, begins epochs."""

import asyncio
import logging
import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import DataError
from shuffledp.service.collection.coarse import coarse
from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.events import Event, log_crash, say
from shuffledp.service.metrics import COMMIT_SECONDS, Standing
from shuffledp.service.shuffler.hosted import ShufflerHost, nothing
from shuffledp.service.shuffler.intake import (
    TOKEN_FORGED,
    Group,
    Outcome,
    Upload,
    UploadIntake,
    admit,
    read_upload,
)
from shuffledp.service.shuffler.marks import Marks
from shuffledp.service.shuffler.store import Arrivals, ShufflerStore, nobody
from shuffledp.service.wire.batch import write_batch
from shuffledp.service.wire.canonical import sha256
from shuffledp.service.wire.order import in_order
from shuffledp.service.wire.plan import Acknowledgement
from shuffledp.service.wire.receipt import Receipt
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.reports import report_size
from shuffledp.service.wire.roster import Roster
from shuffledp.service.wire.task import ID_SIZE

_log = logging.getLogger("shuffledp.service")

_WHY = {
    Outcome.SPENT: Reason.TOKEN_SPENT,
    Outcome.REPEATED: Reason.MESSAGE_REPEATED,
}
_SAID = {
    Reason.TOKEN_FORGED: TOKEN_FORGED,
    Reason.TOKEN_SPENT: "Expected a token that was not used before.",
    Reason.MESSAGE_REPEATED: "Expected a message that was sealed for this report.",
    Reason.UNKNOWN_LEVEL: "Expected a level that the task offers.",
}


class Collector:
    """Keeps what the store says in memory, and changes both together.

    Attributes:
        hosted: The task and its keys.
        state: Where it stands.
        closed: Is set while a batch waits to be handed over.
    """

    def __init__(
        self,
        hosted: ShufflerHost,
        store: ShufflerStore,
        *,
        entropy: Callable[[int], bytes] = os.urandom,
        reached: Callable[[str], None] = nothing,
        close_at: int | None = None,
    ) -> None:
        self.hosted, self.state = hosted, ShufflerState.begin(hosted.task)
        self.closed = asyncio.Event()
        self._people = self._shown = nobody(self.state)
        self._marks = Marks(hosted.secrets.signing_key, self.state.step)
        self._roster: Roster | None = None
        self._roster_trouble = ""
        self._refused: Counter[str] = Counter()
        self._saved: Counter[str] = Counter()
        self._store, self._entropy, self._reached = store, entropy, reached
        self._close_at = close_at
        self._intake = UploadIntake(self._commit)
        self._changing = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None

    async def restore(self) -> None:
        """Goes on where the store stands."""
        begun = ShufflerState.begin(self.hosted.task)
        record = await self._store.begin(begun)
        self._refused = Counter(record.refused)
        self._saved = self._refused.copy()
        self._stand(record.state, record.people)
        await self.enroll()
        self.show()

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
            if after is not state:
                await self._move(after, self._people)
                say(Event.ENROLLED, after)

    async def look_again(self) -> None:
        """Goes on where the store stands, if it answers."""
        async with self._changing:
            await self._look_again()

    async def stop(self) -> None:
        """Waits for what is under way."""
        await self._intake.stop()
        if self._closing is not None:
            await self._closing
        await self.save_refused()

    def admit(self, begin: bytes) -> None:
        """Raises Refusal unless an upload may come in that begins with these bytes.

        Args:
            begin: Its header and first token; fewer bytes if it has no more.
        """
        try:
            admit(self.state, begin, self._listed)
        except Refusal as refusal:
            self._refused[refusal.reason.value] += 1
            raise

    async def upload(self, body: bytes) -> dict[str, Any]:
        """Returns the signed receipt of an upload, all of it durable.

        Raises:
            Refusal: If it cannot be read, comes at another time, could not be stored, has
                one report that is refused, or many that no device would send.
        """
        state, marks, secrets = self.state, self._marks, self.hosted.secrets
        try:
            roster = self._roster_for(state)
            upload = await asyncio.to_thread(read_upload, state, body, roster, marks)
            outcomes = np.zeros(0, dtype=np.int8)
            if upload.places.size:
                outcomes = await self._intake.add(upload)
        except Refusal as refusal:
            self._refused[refusal.reason.value] += 1
            raise
        refused = _refused(upload, outcomes)
        self._refused.update(reason.value for _, reason in refused)
        if refused and upload.places.size + len(upload.refused) == 1:
            reason = refused[0][1]
            raise Refusal(reason, _SAID[reason])
        self.close_if_due()
        return await asyncio.to_thread(
            lambda: Receipt(
                state.task.digest,
                state.epoch,
                state.stage,
                sha256(body),
                int((outcomes == Outcome.ACCEPTED).sum()),
                refused,
            ).signed(secrets.signing_key)
        )

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
        closed = self._people

        def seal(
            people: tuple[int, ...], piles: list[bytearray]
        ) -> tuple[ShufflerState, bytes]:
            # Uploads may have been stored since it was asked.
            nonlocal closed
            after, step, closed = state.close(people, batch_id), state.step, people
            # Emptied on the way: a million messages are held twice at most.
            messages = b"".join(
                [
                    in_order(piles.pop(0), step.sealed_size).data
                    for _ in range(step.groups)
                ]
            )
            key = self.hosted.secrets.signing_key
            batch = write_batch(
                step,
                batch_id,
                people,
                messages,
                key,
                enrolment=enrolment,
                after=state.after,
            )
            self._reached("in close")
            return after, batch

        async with self._changing:
            state = self.state
            self.check_place(epoch, stage)
            # Asked first without reading a million messages.
            state.close(self._people, batch_id)
            enrolment = self._roster_for(state).enrolment
            self._reached("before close")
            try:
                after = await self._store.fix(state, seal)
            except Refusal as refusal:
                await self._look_again(refusal)
                raise
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
            await self._move(self.state.until(deadline), self._people)

    async def keep_deadline(self, now: float) -> None:
        """Ends a step that is past its deadline: closes it, or skips its epoch.

        Args:
            now: In seconds since 1970 UTC.

        Raises:
            Refusal: If the disk is full, or the step ended otherwise.
        """
        state = self.state
        if not state.overdue(now):
            return
        place = state.epoch, state.stage.name.lower()
        try:
            await self.close(*place)
        except Refusal as refusal:
            if refusal.reason is not Reason.TOO_FEW_PEOPLE:
                raise
            await self.skip(*place, refused=False)

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
            after = self.state.resume(awaited)
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

    async def save_refused(self) -> None:
        """Writes the numbers of refusals down, if they changed and there is room."""
        if self._refused != self._saved:
            counts = self._refused.copy()
            with suppress(Refusal):
                await self._store.count_refused(self.hosted.task, dict(counts))
                self._saved = counts

    def show(self) -> None:
        """Lets everybody know how many people answered so far, roughly.

        Whoever could choose the moment would see single people come.
        """
        self._shown = coarse(self.state.task, self._people)

    def standing(self) -> Standing:
        """Returns what monitoring may know."""
        state = self.state
        return Standing(
            state.task.identity,
            state.epoch,
            state.stage.name.lower(),
            state.phase.value,
            dict(self._refused),
        )

    def status(self, *, exact: bool = False) -> dict[str, Any]:
        """Returns where the task stands.

        Args:
            exact: Whether numbers of people are those of this moment while the step is
                open, which are the operator's alone; or those that were last shown.
        """
        state = self.state
        exact = exact or state.phase is not ShufflerPhase.OPEN
        people = self._people if exact else self._shown
        shortfalls = state.shortfalls(people)
        return {
            "task": state.task.to_dict(),
            "digest": state.task.fingerprint,
            "canonical": state.task.to_json().decode(),
            "epoch": state.epoch,
            "stage": state.stage.name.lower(),
            "phase": state.phase.value,
            "plan": state.plan and state.plan.record,
            "messages_per_report": state.step.messages_per_report,
            "report_size": report_size(state.step),
            "enrolment": state.enrolment and state.enrolment.to_dict(),
            "deadline": state.deadline,
            "people": list(people),
            "shortfalls": [str(shortfall) for shortfall in shortfalls],
            "refused": dict(sorted(self._refused.items())),
        }

    async def _commit(self, group: Group) -> list[NDArray[np.int8]]:
        def keep(known: NDArray[np.bool_]) -> Arrivals:
            self._reached("in upload")
            return group.arrivals(known)

        self._reached("before upload")
        try:
            with COMMIT_SECONDS.time():
                people = await self._store.add(group.state, group.marks, keep)
        except Refusal as refusal:
            async with self._changing:
                await self._look_again(refusal)
            raise
        self._reached("after upload")
        if group.state == self.state:
            self._people = people
        return group.outcomes()

    def _listed(self, token: bytes) -> bool:
        return self._roster_for(self.state).valid(token)

    def _roster_for(self, state: ShufflerState) -> Roster:
        roster = self._roster
        if roster is None or roster.enrolment != state.enrolment:
            raise Refusal(Reason.NOT_OPEN, "Expected nothing yet: nobody is enrolled.")
        return roster

    def _people_after(self, after: ShufflerState) -> tuple[int, ...]:
        return self._people if after.phase is ShufflerPhase.DELIVERED else nobody(after)

    async def _move(self, after: ShufflerState, people: tuple[int, ...]) -> None:
        try:
            await self._store.move(self.state, after, people)
        except Refusal as refusal:
            await self._look_again(refusal)
            raise
        self._stand(after, people)

    async def _look_again(self, refusal: Refusal | None = None) -> None:
        # A commit whose answer was lost may have been made.
        if refusal is None or refusal.reason in (Reason.STORAGE, Reason.NOT_OPEN):
            with suppress(Refusal):
                record = await self._store.begin(ShufflerState.begin(self.hosted.task))
                self._stand(record.state, record.people)

    def _stand(self, state: ShufflerState, people: tuple[int, ...]) -> None:
        if state != self.state:
            self._shown = nobody(state)
        self.state, self._people = state, people
        self._marks = Marks(self.hosted.secrets.signing_key, state.step)
        if state.phase is ShufflerPhase.CLOSED:
            self.closed.set()
        else:
            self.closed.clear()

    def close_if_due(self) -> None:
        """Closes the step soon, if so many people reported that it closes by itself."""
        due = self._close_at is not None and sum(self._people) >= self._close_at
        idle = self._closing is None or self._closing.done()
        if due and idle and self.state.phase is ShufflerPhase.OPEN:
            self._closing = asyncio.create_task(self._close_quietly())

    async def _close_quietly(self) -> None:
        try:
            with suppress(Refusal):
                await self.close(self.state.epoch, self.state.stage.name.lower())
        except Exception as error:
            log_crash(error)


def _refused(
    upload: Upload, outcomes: NDArray[np.int8]
) -> tuple[tuple[int, Reason], ...]:
    found = zip(upload.places.tolist(), outcomes.tolist(), strict=True)
    known = [(place, _WHY[Outcome(what)]) for place, what in found if what]
    return tuple(sorted((*upload.refused, *known)))
