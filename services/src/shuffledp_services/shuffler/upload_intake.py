"""Group commit of uploads.

All uploads that arrive within `_MOMENT` seconds, or while a transaction is written, go into
the next transaction. So devices that send one report each share a transaction, in which
their order is hidden.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from shuffledp_services.collection.shuffler_state import ShufflerState
from shuffledp_services.shuffler.commit_group import CommitGroup
from shuffledp_services.shuffler.keyed_digests import KeyedDigests
from shuffledp_services.shuffler.upload import (
    Upload,
    is_single,
    read_single,
    read_upload,
)
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import Roster

# Reports in one transaction, an upper bound on its time and memory.
_MAX_GROUP = 1 << 16
# An upload waits this long for others, or until there are this many reports: reports of
# one transaction cannot be told apart later.
_MOMENT = 0.05
_ENOUGH = 1024
# Largest group that is read and signed without a thread, which would cost more than eight
# reports do: for at most two milliseconds the service does nothing else.
_FEW = 32

Result = TypeVar("Result")

SignedReceipt: TypeAlias = tuple[bytes, Sequence[Reason]]
"""A receipt, and the reason for each refused report that it names."""


@dataclass(frozen=True, eq=False)
class PendingUpload:
    """Upload that has no receipt yet.

    Attributes:
        state: The state in which it arrived.
        roster: Of its epoch.
        keyed_digests: Of its step.
        content: The body of an upload of one report; a larger upload is parsed already.
        answer: Its receipt, or a refusal.
    """

    state: ShufflerState
    roster: Roster
    keyed_digests: KeyedDigests
    content: bytes | Upload
    answer: "asyncio.Future[SignedReceipt]"

    @property
    def size(self) -> int:
        """An upper bound on the number of accepted reports."""
        return 1 if isinstance(self.content, bytes) else self.content.positions.size


class UploadIntake:
    """Answers each upload once its transaction is durable.

    Parsing and signing run in a thread for a whole group, unless it is small: a thread for
    every report would cost more than the report.

    Args:
        commit: Stores a group; returns the outcomes of each upload's reports.
        sign: Returns the receipt of an upload, or a refusal.
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
        self, state: ShufflerState, body: bytes, roster: Roster, digests: KeyedDigests
    ) -> SignedReceipt:
        """Returns the receipt of an upload.

        Args:
            state: The current state.
            body: The upload.
            roster: Of the epoch.
            digests: Of the step.

        Raises:
            Refusal: If the upload cannot be read or stored, the step was closed meanwhile,
                or its only report is refused.
        """
        content: bytes | Upload = body
        if not is_single(state, body):
            content = await asyncio.to_thread(read_upload, state, body, roster, digests)
        # The worker runs while there are uploads; the first one starts it.
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append(PendingUpload(state, roster, digests, content, answer))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        signed: SignedReceipt = await answer
        return signed

    async def stop(self) -> None:
        """Waits until every upload is answered."""
        if self._worker is not None:
            await self._worker
        await asyncio.gather(*self._answering)

    async def _work(self) -> None:
        while self._waiting:
            if sum(each.size for each in self._waiting) < _ENOUGH:
                await asyncio.sleep(_MOMENT)
            chosen = self._next()
            try:
                uploads, group = await _run(chosen, partial(_read, chosen))
                outcomes = await self._commit(group) if group is not None else []
            except Exception as error:
                for each in chosen:
                    # The sender may have disconnected, which cancels the future.
                    if not each.answer.done():
                        each.answer.set_exception(error)
            else:
                # Signatures are computed while the next group is committed.
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
            # No valid report in the whole group: nothing was committed.
            outcomes = [np.zeros(0, dtype=np.int8)] * len(uploads)

        def sign() -> list[SignedReceipt | Refusal]:
            return [
                self._sign(upload, outcome)
                for upload, outcome in zip(uploads, outcomes, strict=True)
            ]

        try:
            signed: Sequence[SignedReceipt | Exception] = await _run(chosen, sign)
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
            # The first upload is taken in any case; a group has one state.
            if number and (size > _MAX_GROUP or each.state is not state):
                break
            number += 1
        chosen, self._waiting = self._waiting[:number], self._waiting[number:]
        return chosen


async def _run(chosen: list[PendingUpload], work: Callable[[], Result]) -> Result:
    """Returns the result of work for a group, which runs in a thread if there is much."""
    if sum(each.size for each in chosen) <= _FEW:
        return work()
    return await asyncio.to_thread(work)


def _read(chosen: list[PendingUpload]) -> tuple[list[Upload], CommitGroup | None]:
    """Parses single uploads; returns all uploads, and a group unless all are refused."""
    first = chosen[0]
    bodies = [each.content for each in chosen if isinstance(each.content, bytes)]
    single = iter(
        read_single(first.state, bodies, first.roster, first.keyed_digests)
        if bodies
        else ()
    )
    uploads = [
        next(single) if isinstance(each.content, bytes) else each.content
        for each in chosen
    ]
    has_reports = any(upload.positions.size for upload in uploads)
    return uploads, CommitGroup(uploads) if has_reports else None
