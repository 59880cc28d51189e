"""Uploads on their way to the disk, committed in groups.

All uploads that come within a moment, or while one transaction is written, go into the next
one together. So devices that send one report each share a transaction, and hide each other.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.service.collection.shuffler_state import ShufflerState
from shuffledp.service.shuffler.commit_group import CommitGroup
from shuffledp.service.shuffler.keyed_digests import KeyedDigests
from shuffledp.service.shuffler.upload import (
    Upload,
    is_single,
    read_single,
    read_upload,
)
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.roster import Roster

_MAX_GROUP = 1 << 16
# Whoever is alone waits for others, for so long or until there are so many reports: what
# is written together cannot be told apart later.
_MOMENT = 0.05
_ENOUGH = 1024

SignedReceipt: TypeAlias = tuple[bytes, Sequence[Reason]]
"""A receipt, and why reports were refused that it names."""


@dataclass(frozen=True, eq=False)
class PendingUpload:
    """Something that was sent and has no answer yet.

    Attributes:
        state: The step that it is for.
        roster: Of its epoch.
        marks: Of the step.
        sent: The body of an upload of one report; or a larger one, which was read.
        answer: What became of its reports, or why none of it was taken.
    """

    state: ShufflerState
    roster: Roster
    marks: KeyedDigests
    sent: bytes | Upload
    answer: "asyncio.Future[SignedReceipt]"

    @property
    def size(self) -> int:
        """How many reports it may have."""
        return 1 if isinstance(self.sent, bytes) else len(self.sent.places)


class UploadIntake:
    """Gives each upload its answer once the transaction with it is durable.

    Whatever takes time is done in a thread for a whole group: a thread for every report
    would cost more than the report.

    Args:
        commit: Stores a group; returns what became of the reports of each upload.
        sign: Returns the answer to an upload, or why there is none.
    """

    def __init__(
        self,
        commit: Callable[[CommitGroup], Awaitable[list[NDArray[np.int8]]]],
        sign: Callable[[Upload, NDArray[np.int8]], SignedReceipt | Refusal],
    ) -> None:
        self._commit, self._sign = commit, sign
        self._waiting: list[PendingUpload] = []
        self._worker: asyncio.Task[None] | None = None
        self._answering = set[asyncio.Task[None]]()

    async def add(
        self, state: ShufflerState, body: bytes, roster: Roster, marks: KeyedDigests
    ) -> SignedReceipt:
        """Returns the answer to an upload.

        Args:
            state: Of the task.
            body: The upload.
            roster: Of the epoch.
            marks: Of the step.

        Raises:
            Refusal: If it cannot be read, nothing could be stored, the step was closed
                meanwhile, or there is no answer to it.
        """
        sent: bytes | Upload = body
        if not is_single(state, body):
            sent = await asyncio.to_thread(read_upload, state, body, roster, marks)
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append(PendingUpload(state, roster, marks, sent, answer))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        signed: SignedReceipt = await answer
        return signed

    async def stop(self) -> None:
        """Waits until what came in has its answer."""
        if self._worker is not None:
            await self._worker
        await asyncio.gather(*self._answering)

    async def _work(self) -> None:
        while self._waiting:
            if sum(each.size for each in self._waiting) < _ENOUGH:
                await asyncio.sleep(_MOMENT)
            chosen = self._next()
            try:
                uploads, group = await asyncio.to_thread(_read, chosen)
                outcomes = await self._commit(group) if group is not None else []
            except Exception as error:
                for each in chosen:
                    # Whoever sent it may have hung up.
                    if not each.answer.done():
                        each.answer.set_exception(error)
            else:
                # The next group does not wait for signatures.
                answering = asyncio.create_task(self._answer(chosen, uploads, outcomes))
                self._answering.add(answering)
                answering.add_done_callback(self._answering.discard)

    async def _answer(
        self,
        chosen: list[PendingUpload],
        uploads: list[Upload],
        outcomes: list[NDArray[np.int8]],
    ) -> None:
        if not outcomes:
            outcomes = [np.zeros(0, dtype=np.int8)] * len(uploads)

        def sign() -> list[SignedReceipt | Refusal]:
            return [
                self._sign(upload, outcome)
                for upload, outcome in zip(uploads, outcomes, strict=True)
            ]

        try:
            signed: Sequence[SignedReceipt | Exception] = await asyncio.to_thread(sign)
        except Exception as error:
            signed = [error] * len(chosen)
        for each, answer in zip(chosen, signed, strict=True):
            if each.answer.done():
                continue
            if isinstance(answer, Exception):
                each.answer.set_exception(answer)
            else:
                each.answer.set_result(answer)

    def _next(self) -> list[PendingUpload]:
        state, number, size = self._waiting[0].state, 0, 0
        for each in self._waiting:
            size += each.size
            if number and (size > _MAX_GROUP or each.state is not state):
                break
            number += 1
        chosen, self._waiting = self._waiting[:number], self._waiting[number:]
        return chosen


def _read(chosen: list[PendingUpload]) -> tuple[list[Upload], CommitGroup | None]:
    """Reads what was not read yet; a group, unless nothing may come in."""
    first = chosen[0]
    bodies = [each.sent for each in chosen if isinstance(each.sent, bytes)]
    single = iter(
        read_single(first.state, bodies, first.roster, first.marks) if bodies else ()
    )
    uploads = [
        next(single) if isinstance(each.sent, bytes) else each.sent for each in chosen
    ]
    some = any(len(upload.places) for upload in uploads)
    return uploads, CommitGroup(uploads) if some else None
