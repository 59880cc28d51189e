"""Uploads on their way to the disk: read, checked, and committed in groups.

All uploads that come within a moment, or while one transaction is written, go into the next
one together. So devices that send one report each share a transaction, and hide each other.
A token counts once in a step, and so does a sealed message: nobody can make somebody
else's count twice by sending a copy of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.service.collection.shuffler_state import ShufflerState
from shuffledp.service.shuffler.marks import Marks, numbered
from shuffledp.service.shuffler.store import Arrivals
from shuffledp.service.wire.canonical import sha256
from shuffledp.service.wire.receipt import messages_digest
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.reports import (
    HEADER_SIZE,
    choices_offered,
    read_columns,
    read_header,
    read_rows,
    report_size,
    write_header,
)
from shuffledp.service.wire.roster import Roster
from shuffledp.service.wire.tokens import TOKEN_SIZE

MAX_BAD = 16
"""Reports that are listed as refused, before the whole upload is."""

TOKEN_FORGED = "Expected a token that was issued for this task and epoch."

_MAX_GROUP = 1 << 16
# Whoever is alone waits for others, for so long or until there are so many reports: what
# is written together cannot be told apart later.
_MOMENT = 0.05
_ENOUGH = 1024
_TOKEN = f"S{TOKEN_SIZE}"


class Outcome(IntEnum):
    """What became of a report that might have come in."""

    ACCEPTED = 0
    SPENT = 1
    REPEATED = 2


@dataclass(frozen=True, eq=False)
class Upload:
    """Reports that may come in if tokens and messages are fresh, and those that may not.

    Attributes:
        state: The open step.
        places: Of the former in the upload, shape (n,).
        marks: Of each token, then of its messages, shape
            (n, 1 + messages_per_report, MARK_SIZE).
        choices: Positions of their choices, shape (n,).
        sealed: Their messages, bytes, shape (n, messages_per_report, sealed_size).
        refused: (position in the upload, reason) of the latter.
        digest: Of all its sealed messages, as receipts name them, 32 bytes.
    """

    state: ShufflerState
    places: NDArray[np.int64]
    marks: NDArray[np.uint8]
    choices: NDArray[np.int64]
    sealed: NDArray[np.uint8]
    refused: tuple[tuple[int, Reason], ...]
    digest: bytes


def admit(state: ShufflerState, begin: bytes, listed: Callable[[bytes], bool]) -> None:
    """Raises Refusal unless an upload may come in that begins with these bytes.

    Args:
        state: Where the task stands.
        begin: Its header and first token; fewer bytes if it has no more.
        listed: Tells whether a token is good in the state's epoch.
    """
    state.check_upload(read_header(begin))
    token = begin[HEADER_SIZE:]
    if len(token) < TOKEN_SIZE:
        size = report_size(state.step)
        raise Refusal(Reason.WRONG_SIZE, f"Expected reports of {size} bytes each.")
    if not listed(token):
        raise Refusal(Reason.TOKEN_FORGED, TOKEN_FORGED)


def read_upload(
    state: ShufflerState, body: bytes, roster: Roster, marks: Marks
) -> Upload:
    """Reads and checks an upload; nothing is spent yet.

    Args:
        state: Of the task.
        body: The upload.
        roster: Of the epoch.
        marks: Of the step.

    Raises:
        Refusal: If it is not one for this step, or more than `MAX_BAD` of its reports are
            such as nobody's device sends: they would cost as much as good ones.
    """
    state.check_upload(read_header(body))
    columns = read_columns(state.step, body)
    # Counted first, as it takes the least time.
    if len(columns.tokens) - len(np.unique(columns.tokens.view(_TOKEN))) > MAX_BAD:
        raise Refusal(Reason.TOKEN_SPENT, "Expected every token once.")
    offered = choices_offered(state.step, columns.choices)
    if np.count_nonzero(~offered) > MAX_BAD:
        raise Refusal(Reason.UNKNOWN_LEVEL, "Expected levels that the task offers.")
    digests, issued = roster.find(columns.tokens.tobytes())
    if np.count_nonzero(~issued) > MAX_BAD:
        raise Refusal(Reason.TOKEN_FORGED, TOKEN_FORGED)
    bad = np.flatnonzero(~(issued & offered)).tolist()
    places = np.flatnonzero(issued & offered)
    sealed = columns.sealed[places]
    own = (marks.of_tokens(digests[places]), marks.of_messages(sealed))
    return Upload(
        state,
        places,
        np.concatenate(own, axis=1),
        columns.choices[places],
        sealed,
        tuple(
            (p, Reason.UNKNOWN_LEVEL if issued[p] else Reason.TOKEN_FORGED) for p in bad
        ),
        messages_digest(map(sha256, columns.messages())),
    )


def read_single(
    state: ShufflerState, bodies: Sequence[bytes], roster: Roster, marks: Marks
) -> list[Upload]:
    """Reads uploads of one report each together, as `read_upload` reads each of them.

    Args:
        state: Of the task.
        bodies: Of which each `is_single`, at least one.
        roster: Of the epoch.
        marks: Of the step.

    Raises:
        Refusal: If the step takes no uploads.
    """
    header = bodies[0][:HEADER_SIZE]
    state.check_upload(read_header(header))
    joined = b"".join([header, *(body[HEADER_SIZE:] for body in bodies)])
    columns = read_rows(state.step, joined)
    offered = choices_offered(state.step, columns.choices)
    digests, issued = roster.find(columns.tokens.tobytes())
    own = (marks.of_tokens(digests), marks.of_messages(columns.sealed))
    all_marks, each = np.concatenate(own, axis=1), state.step.messages_per_report
    hashes = [sha256(message) for message in columns.messages()]
    none, first = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    found = []
    for at, good in enumerate((issued & offered).tolist()):
        rows = slice(at, at + good)
        why = Reason.UNKNOWN_LEVEL if issued[at] else Reason.TOKEN_FORGED
        found.append(
            Upload(
                state,
                first if good else none,
                all_marks[rows],
                columns.choices[rows],
                columns.sealed[rows],
                () if good else ((0, why),),
                messages_digest(hashes[at * each : (at + 1) * each]),
            )
        )
    return found


def is_single(state: ShufflerState, body: bytes) -> bool:
    """Tells whether a body is of one report for a step, as most are."""
    step = state.step
    size = HEADER_SIZE + report_size(step)
    return len(body) == size and body.startswith(write_header(step))


class Group:
    """Uploads to the same step that are committed together.

    Attributes:
        state: The open step.
        marks: All different ones in increasing order, shape (k, MARK_SIZE).
    """

    def __init__(self, uploads: list[Upload]) -> None:
        self.state = uploads[0].state
        self._sizes = [len(upload.places) for upload in uploads]
        self._choices = np.concatenate([upload.choices for upload in uploads])
        self._sealed = np.concatenate([upload.sealed for upload in uploads])
        self.marks, self._numbers, self._several = numbered(
            np.concatenate([upload.marks for upload in uploads])
        )
        self._outcomes = np.zeros(len(self._choices), dtype=np.int8)

    def arrivals(self, known: NDArray[np.bool_]) -> Arrivals:
        """Decides what comes in.

        Args:
            known: Which of `marks` were stored before, shape (k,).

        Returns:
            What is stored.
        """
        self._decide(known)
        accepted = np.flatnonzero(self._outcomes == Outcome.ACCEPTED)
        step, choices = self.state.step, self._choices[accepted]
        if step.task.names_choices:
            people = np.bincount(choices, minlength=len(step.task.choices)).tolist()
        else:
            people = [len(accepted)]
        piles = (
            [accepted[choices == group] for group in range(step.groups)]
            if step.linked
            else [accepted]
        )
        stored = np.zeros(len(self.marks), dtype=np.bool_)
        stored[self._numbers[accepted]] = True
        return Arrivals(
            tuple(people), [self._pile(rows) for rows in piles], self.marks[stored]
        )

    def outcomes(self) -> list[NDArray[np.int8]]:
        """Returns what became of the reports of each upload, `Outcome` by `Outcome`."""
        return np.split(self._outcomes, np.cumsum(self._sizes)[:-1])

    def _decide(self, known: NDArray[np.bool_]) -> None:
        self._outcomes[:] = Outcome.ACCEPTED
        old = known[self._numbers]
        spent = old[:, 0]
        repeated = np.any(old[:, 1:], axis=1)
        # What comes more than once in this group counts where it comes first. Others are
        # not concerned, so that a few thousand copies at most are looked at one by one.
        concerned = self._several[self._numbers].any(axis=1)
        seen = set[int]()
        for row in np.flatnonzero(concerned).tolist():
            token, *messages = self._numbers[row].tolist()
            if len({*messages}) < len(messages) or not seen.isdisjoint(messages):
                repeated[row] = True
            elif token in seen:
                spent[row] = True
            elif not spent[row] and not repeated[row]:
                seen.update((token, *messages))
        # Whoever copies a message learns nothing of a token: else she could ask who of
        # those whose links she has seen has answered, and leave no trace.
        self._outcomes[spent] = Outcome.SPENT
        self._outcomes[repeated] = Outcome.REPEATED

    def _pile(self, rows: NDArray[np.int64]) -> bytes:
        """Returns messages in the order of their marks: that of arrival is forgotten."""
        messages = self._sealed[rows].reshape(-1, self._sealed.shape[-1])
        order = np.argsort(self._numbers[rows, 1:].ravel())
        return messages[order].tobytes()


Answer: TypeAlias = tuple[bytes, Sequence[Reason]]
"""A receipt, and why reports were refused that it names."""


@dataclass(frozen=True, eq=False)
class Waiting:
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
    marks: Marks
    sent: bytes | Upload
    answer: "asyncio.Future[Answer]"

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
        commit: Callable[[Group], Awaitable[list[NDArray[np.int8]]]],
        sign: Callable[[Upload, NDArray[np.int8]], Answer | Refusal],
    ) -> None:
        self._commit, self._sign = commit, sign
        self._waiting: list[Waiting] = []
        self._worker: asyncio.Task[None] | None = None
        self._answering = set[asyncio.Task[None]]()

    async def add(
        self, state: ShufflerState, body: bytes, roster: Roster, marks: Marks
    ) -> Answer:
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
        self._waiting.append(Waiting(state, roster, marks, sent, answer))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        signed: Answer = await answer
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
        chosen: list[Waiting],
        uploads: list[Upload],
        outcomes: list[NDArray[np.int8]],
    ) -> None:
        if not outcomes:
            outcomes = [np.zeros(0, dtype=np.int8)] * len(uploads)

        def sign() -> list[Answer | Refusal]:
            return [
                self._sign(upload, outcome)
                for upload, outcome in zip(uploads, outcomes, strict=True)
            ]

        try:
            signed: Sequence[Answer | Exception] = await asyncio.to_thread(sign)
        except Exception as error:
            signed = [error] * len(chosen)
        for each, answer in zip(chosen, signed, strict=True):
            if each.answer.done():
                continue
            if isinstance(answer, Exception):
                each.answer.set_exception(answer)
            else:
                each.answer.set_result(answer)

    def _next(self) -> list[Waiting]:
        state, number, size = self._waiting[0].state, 0, 0
        for each in self._waiting:
            size += each.size
            if number and (size > _MAX_GROUP or each.state is not state):
                break
            number += 1
        chosen, self._waiting = self._waiting[:number], self._waiting[number:]
        return chosen


def _read(chosen: list[Waiting]) -> tuple[list[Upload], Group | None]:
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
    return uploads, Group(uploads) if some else None
