"""Upload collection for one task, and the closes that need no operator."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shuffledp_services.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp_services.monitoring.event_log import log_crash
from shuffledp_services.monitoring.metrics import COMMIT_SECONDS, TaskMetrics
from shuffledp_services.shuffler.commit_group import CommitGroup, ReportOutcome
from shuffledp_services.shuffler.shuffler_host import ShufflerHost, ignore_boundary
from shuffledp_services.shuffler.store import Arrivals, ShufflerStore
from shuffledp_services.shuffler.task_lifecycle import TaskLifecycle
from shuffledp_services.shuffler.task_status import EncodedStatus, TaskStatus
from shuffledp_services.shuffler.upload import TOKEN_FORGED, Upload, admit
from shuffledp_services.shuffler.upload_intake import SignedReceipt, UploadIntake
from shuffledp_services.wire.receipt import Receipt
from shuffledp_services.wire.refusal import Reason, Refusal

_REASONS = {
    ReportOutcome.SPENT: Reason.TOKEN_SPENT,
    ReportOutcome.REPEATED: Reason.MESSAGE_REPEATED,
}
_DETAILS = {
    Reason.TOKEN_FORGED: TOKEN_FORGED,
    Reason.TOKEN_SPENT: "Expected a token that was not used before.",
    Reason.MESSAGE_REPEATED: "Expected a message that was sealed for this report.",
    Reason.UNKNOWN_LEVEL: "Expected a level that the task offers.",
}
# A sender refused for one of these may have seen a newer state at another process.
_STALE_REASONS = (Reason.WRONG_EPOCH, Reason.WRONG_STAGE, Reason.NOT_OPEN)


class Collector:
    """Collects the uploads to the open step of a task.

    Attributes:
        hosted: The task and its keys.
        lifecycle: The state of the task and its transitions.
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
        # Only refusals since the last write to the store.
        self._refused: Counter[str] = Counter()
        self._store, self._reached = store, reached
        self._close_at = close_at
        self._intake = UploadIntake(self._commit, self._sign)
        self._closing: asyncio.Task[None] | None = None
        self._encoded = EncodedStatus()

    async def stop(self) -> None:
        """Waits for uploads and closes under way, and saves the refusal counts."""
        await self._intake.stop()
        if self._closing is not None:
            await self._closing
        await self.save_refused()
        await self.lifecycle.stop()

    async def admit(self, begin: bytes) -> None:
        """Raises Refusal unless an upload that begins with these bytes may come in.

        Args:
            begin: Its header and first token; fewer bytes if it has no more.
        """
        try:
            try:
                admit(self.lifecycle.state, begin, self._listed)
            except Refusal as refusal:
                if refusal.reason not in _STALE_REASONS:
                    raise
                # Another process may have changed the state, or this one.
                await self.lifecycle.refresh()
                admit(self.lifecycle.state, begin, self._listed)
        except Refusal as refusal:
            self._refused[refusal.reason.value] += 1
            raise

    async def upload(self, body: bytes) -> bytes:
        """Returns the signed receipt of an upload, once all of it is durable.

        Raises:
            Refusal: If the upload cannot be read, is for another step, could not be
                stored, has a single report that is refused, or has more malformed
                reports than `upload.MAX_BAD`.
        """
        state, digests = self.lifecycle.state, self.lifecycle.keyed_digests
        try:
            roster = self.lifecycle.roster_for(state)
            receipt, refused = await self._intake.add(state, body, roster, digests)
        except Refusal as refusal:
            self._refused[refusal.reason.value] += 1
            raise
        self._refused.update(reason.value for reason in refused)
        self.close_if_due()
        return receipt

    def _sign(
        self, upload: Upload, outcomes: NDArray[np.int8]
    ) -> SignedReceipt | Refusal:
        """Returns a receipt; a refusal in its place if the only report was refused."""
        state, refused = upload.state, _refused_reports(upload, outcomes)
        # If the only report is refused, there is nothing to sign a receipt for.
        if refused and upload.positions.size + len(upload.refused) == 1:
            reason = refused[0][1]
            return Refusal(reason, _DETAILS[reason])
        receipt = Receipt(
            state.task.digest,
            state.epoch,
            state.stage,
            upload.digest,
            # Faster than an array's sum where there is one report, as in most uploads.
            outcomes.tolist().count(ReportOutcome.ACCEPTED),
            refused,
            None if state.plan is None else state.plan.digest,
        )
        # `UploadIntake` calls this in a thread, for all uploads of a group.
        signed = receipt.signed(self.hosted.secrets.signing_key)
        return signed, [reason for _, reason in refused]

    def close_if_due(self) -> None:
        """Starts to close the step if the number of reports reached `close_at`."""
        num_reports = sum(self.lifecycle.people)
        due = self._close_at is not None and num_reports >= self._close_at
        # One attempt at a time: every upload past the limit would start another.
        idle = self._closing is None or self._closing.done()
        if due and idle and self.lifecycle.state.phase is ShufflerPhase.OPEN:
            self._closing = asyncio.create_task(self._close_quietly())

    async def keep_deadline(self, now: float | None) -> None:
        """Ends the intake of a step that is past its deadline, and closes it if it can be.

        A step below its minimum drops nothing and waits: the operator decides.

        Args:
            now: Seconds since 1970 UTC; None while the clock is not trusted.

        Raises:
            Refusal: If the disk is full, or the step ended otherwise.
        """
        if now is None or not self.lifecycle.state.is_overdue(now):
            return
        # Reports that other processes counted must be included in the minimum check.
        if not await self.lifecycle.reload():
            return
        state = self.lifecycle.state
        if not state.is_overdue(now):
            return
        step = state.epoch, state.stage.name.lower()
        try:
            await self.lifecycle.close(*step)
        except Refusal as refusal:
            if refusal.reason is not Reason.TOO_FEW_PEOPLE:
                raise
            # Reports are kept, but late ones are refused.
            await self.lifecycle.end_intake(*step)

    async def save_refused(self) -> None:
        """Adds new refusals to the stored counts, unless the disk is full."""
        if self._refused:
            more = self._refused.copy()
            with suppress(Refusal):
                await self.lifecycle.add_refusals(dict(more))
                # Only after they are stored, and not `clear`: others may have been
                # counted meanwhile.
                self._refused -= more

    def metrics(self) -> TaskMetrics:
        """Returns the metrics of the task."""
        state = self.lifecycle.state
        return TaskMetrics(
            state.task.identity,
            state.epoch,
            state.stage.name.lower(),
            state.phase.value,
            self._all_refused(),
        )

    def status(self, *, exact: bool = False) -> TaskStatus:
        """Returns the status of the task.

        Args:
            exact: Whether an open step has its current counts, which are for the
                operator alone, in place of the rounded counts published last.
        """
        record = self.lifecycle.record
        # Counts of a closed step are final, and part of the signed batch.
        exact = exact or not record.state.is_collecting
        people = record.people if exact else record.published
        return TaskStatus(
            record.state, people, self._all_refused(), record.challenge, record.attempts
        )

    def public_document(self) -> bytes:
        """Returns the public status as JSON."""
        return self._encoded.encode(self.status())

    def _all_refused(self) -> dict[str, int]:
        return dict(self._refused + Counter(self.lifecycle.record.refused))

    async def _commit(self, group: CommitGroup) -> list[NDArray[np.int8]]:
        def select(known: NDArray[np.bool_]) -> Arrivals:
            # Called inside the transaction, once it is known which digests are stored
            # already.
            self._reached("in upload")
            return group.arrivals(known)

        self._reached("before upload")
        state = group.state
        while True:
            try:
                with COMMIT_SECONDS.time():
                    people = await self._store.add(state, group.keyed_digests, select)
                break
            except Refusal as refusal:
                await self.lifecycle.reload(refusal)
                before, state = state, self.lifecycle.state
                # Reports stay valid if another process only moved the deadline.
                if refusal.reason is not Reason.NOT_OPEN or not _same_but_deadline(
                    before, state
                ):
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


def _same_but_deadline(before: ShufflerState, after: ShufflerState) -> bool:
    """Tells whether the deadline changed, and nothing else."""
    return before != after and before == replace(after, deadline=before.deadline)


def _refused_reports(
    upload: Upload, outcomes: NDArray[np.int8]
) -> tuple[tuple[int, Reason], ...]:
    """Returns (position in the upload, reason) of every refused report, in order."""
    if not upload.refused and not outcomes.any():
        return ()
    pairs = zip(upload.positions.tolist(), outcomes.tolist(), strict=True)
    at_commit = [
        (position, _REASONS[ReportOutcome(outcome)])
        for position, outcome in pairs
        if outcome
    ]
    return tuple(sorted((*upload.refused, *at_commit)))
