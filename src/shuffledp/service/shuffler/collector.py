"""One task at the shuffler: takes uploads, and ends steps that end by themselves."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.monitoring.events import log_crash
from shuffledp.service.monitoring.metrics import COMMIT_SECONDS, TaskMetrics
from shuffledp.service.shuffler.commit_group import CommitGroup, ReportOutcome
from shuffledp.service.shuffler.shuffler_host import ShufflerHost, ignore_boundary
from shuffledp.service.shuffler.store import Arrivals, ShufflerStore
from shuffledp.service.shuffler.task_lifecycle import TaskLifecycle
from shuffledp.service.shuffler.task_status import EncodedStatus, TaskStatus
from shuffledp.service.shuffler.upload import TOKEN_FORGED, Upload, admit
from shuffledp.service.shuffler.upload_intake import SignedReceipt, UploadIntake
from shuffledp.service.wire.receipt import Receipt
from shuffledp.service.wire.refusal import Reason, Refusal

_WHY = {
    ReportOutcome.SPENT: Reason.TOKEN_SPENT,
    ReportOutcome.REPEATED: Reason.MESSAGE_REPEATED,
}
_SAID = {
    Reason.TOKEN_FORGED: TOKEN_FORGED,
    Reason.TOKEN_SPENT: "Expected a token that was not used before.",
    Reason.MESSAGE_REPEATED: "Expected a message that was sealed for this report.",
    Reason.UNKNOWN_LEVEL: "Expected a level that the task offers.",
}
# Who believes that a task stands elsewhere may know better.
_ELSEWHERE = (Reason.WRONG_EPOCH, Reason.WRONG_STAGE, Reason.NOT_OPEN)


class Collector:
    """Takes what people send while a step is open.

    Attributes:
        hosted: The task and its keys.
        lifecycle: Where it stands.
    """

    def __init__(
        self,
        hosted: ShufflerHost,
        store: ShufflerStore,
        *,
        entropy: Callable[[int], bytes] = os.urandom,
        reached: Callable[[str], None] = ignore_boundary,
        close_at: int | None = None,
    ) -> None:
        self.hosted = hosted
        self.lifecycle = TaskLifecycle(hosted, store, entropy=entropy, reached=reached)
        # Since they were written down.
        self._refused: Counter[str] = Counter()
        self._store, self._reached = store, reached
        self._close_at = close_at
        self._intake = UploadIntake(self._commit, self._sign)
        self._closing: asyncio.Task[None] | None = None
        self._encoded = EncodedStatus()

    async def stop(self) -> None:
        """Waits for what is under way."""
        await self._intake.stop()
        if self._closing is not None:
            await self._closing
        await self.save_refused()
        await self.lifecycle.stop()

    async def admit(self, begin: bytes) -> None:
        """Raises Refusal unless an upload may come in that begins with these bytes.

        Args:
            begin: Its header and first token; fewer bytes if it has no more.
        """
        try:
            try:
                admit(self.lifecycle.state, begin, self._listed)
            except Refusal as refusal:
                if refusal.reason not in _ELSEWHERE:
                    raise
                # Another process may have gone on, or this one.
                await self.lifecycle.refresh()
                admit(self.lifecycle.state, begin, self._listed)
        except Refusal as refusal:
            self._refused[refusal.reason.value] += 1
            raise

    async def upload(self, body: bytes) -> bytes:
        """Returns the signed receipt of an upload, all of it durable.

        Raises:
            Refusal: If it cannot be read, comes at another time, could not be stored, has
                one report that is refused, or many that no device would send.
        """
        state, marks = self.lifecycle.state, self.lifecycle.keyed_digests
        try:
            roster = self.lifecycle.roster_for(state)
            receipt, refused = await self._intake.add(state, body, roster, marks)
        except Refusal as refusal:
            self._refused[refusal.reason.value] += 1
            raise
        self._refused.update(reason.value for reason in refused)
        self.close_if_due()
        return receipt

    def _sign(
        self, upload: Upload, outcomes: NDArray[np.int8]
    ) -> SignedReceipt | Refusal:
        """Returns a receipt; why there is none, if its only report was refused."""
        state, refused = upload.state, _refused(upload, outcomes)
        if refused and upload.places.size + len(upload.refused) == 1:
            reason = refused[0][1]
            return Refusal(reason, _SAID[reason])
        receipt = Receipt(
            state.task.digest,
            state.epoch,
            state.stage,
            upload.digest,
            int((outcomes == ReportOutcome.ACCEPTED).sum()),
            refused,
            None if state.plan is None else state.plan.digest,
        )
        signed = receipt.signed(self.hosted.secrets.signing_key)
        return signed, [reason for _, reason in refused]

    def close_if_due(self) -> None:
        """Closes the step soon, if so many people reported that it closes by itself."""
        due = (
            self._close_at is not None and sum(self.lifecycle.people) >= self._close_at
        )
        idle = self._closing is None or self._closing.done()
        if due and idle and self.lifecycle.state.phase is ShufflerPhase.OPEN:
            self._closing = asyncio.create_task(self._close_quietly())

    async def keep_deadline(self, now: float | None) -> None:
        """Ends the intake of a step that is past its deadline, and closes it if it can be.

        If people are missing, nothing is dropped: the operator decides.

        Args:
            now: In seconds since 1970 UTC; None while that is not known.

        Raises:
            Refusal: If the disk is full, or the step ended otherwise.
        """
        # Who is counted elsewhere must not be missed here.
        if now is None or not self.lifecycle.state.is_overdue(now):
            return
        if not await self.lifecycle.reload():
            return
        state = self.lifecycle.state
        if not state.is_overdue(now):
            return
        place = state.epoch, state.stage.name.lower()
        try:
            await self.lifecycle.close(*place)
        except Refusal as refusal:
            if refusal.reason is not Reason.TOO_FEW_PEOPLE:
                raise
            await self.lifecycle.end_intake(*place)

    async def save_refused(self) -> None:
        """Writes the numbers of refusals down, if they changed and there is room."""
        if self._refused:
            more = self._refused.copy()
            with suppress(Refusal):
                await self.lifecycle.add_refusals(dict(more))
                self._refused -= more

    def standing(self) -> TaskMetrics:
        """Returns what monitoring may know."""
        state = self.lifecycle.state
        return TaskMetrics(
            state.task.identity,
            state.epoch,
            state.stage.name.lower(),
            state.phase.value,
            self._all_refused(),
        )

    def status(self, *, exact: bool = False) -> TaskStatus:
        """Returns where the task stands.

        Args:
            exact: Whether numbers of people are those of this moment while the step is
                not closed, which are the operator's alone; or those that were last shown.
        """
        known = self.lifecycle.record
        exact = exact or not known.state.is_collecting
        people = known.people if exact else known.shown
        return TaskStatus(
            known.state, people, self._all_refused(), known.challenge, known.attempts
        )

    def public_document(self) -> bytes:
        """Returns where the task stands, as everybody may know it, in JSON."""
        return self._encoded.encode(self.status())

    def _all_refused(self) -> dict[str, int]:
        return dict(self._refused + Counter(self.lifecycle.record.refused))

    async def _commit(self, group: CommitGroup) -> list[NDArray[np.int8]]:
        def keep(known: NDArray[np.bool_]) -> Arrivals:
            self._reached("in upload")
            return group.arrivals(known)

        self._reached("before upload")
        state = group.state
        while True:
            try:
                with COMMIT_SECONDS.time():
                    people = await self._store.add(state, group.marks, keep)
                break
            except Refusal as refusal:
                await self.lifecycle.reload(refusal)
                before, state = state, self.lifecycle.state
                if refusal.reason is not Reason.NOT_OPEN or not _same(before, state):
                    raise
        self._reached("after upload")
        self.lifecycle.set_user_counts(state, people)
        return group.outcomes()

    def _listed(self, token: bytes) -> bool:
        return self.lifecycle.roster_for(self.lifecycle.state).valid(token)

    async def _close_quietly(self) -> None:
        state = self.lifecycle.state
        try:
            with suppress(Refusal):
                await self.lifecycle.close(state.epoch, state.stage.name.lower())
        except Exception as error:
            log_crash(error)


def _same(before: ShufflerState, after: ShufflerState) -> bool:
    """Tells whether only the deadline of a step changed, which no report is about."""
    return before != after and before == replace(after, deadline=before.deadline)


def _refused(
    upload: Upload, outcomes: NDArray[np.int8]
) -> tuple[tuple[int, Reason], ...]:
    found = zip(upload.places.tolist(), outcomes.tolist(), strict=True)
    known = [(place, _WHY[ReportOutcome(what)]) for place, what in found if what]
    return tuple(sorted((*upload.refused, *known)))
