"""Uploads on their way to the disk: read, checked, and committed in groups.

All uploads that wait while one transaction is written go into the next one together. So
thousands of devices that send one report each share a transaction, and hide each other.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.randomness import SystemRandom
from shuffledp.service.collection.shuffler_state import ShufflerState
from shuffledp.service.shuffler.store import Arrivals
from shuffledp.service.wire.refusal import Reason
from shuffledp.service.wire.reports import (
    choices_offered,
    read_columns,
    read_header,
)
from shuffledp.service.wire.step import Step
from shuffledp.service.wire.tokens import NONCE_SIZE, TOKEN_SIZE, TokenCheck

_MAX_GROUP = 1 << 16
_NONCE = f"S{NONCE_SIZE}"


@dataclass(frozen=True, eq=False)
class Upload:
    """Reports that may come in if their tokens are fresh, and those that may not.

    Attributes:
        state: The open step.
        places: Of the former in the upload, shape (n,).
        nonces: Of their tokens, bytes, shape (n, NONCE_SIZE).
        choices: Positions of their choices, shape (n,).
        sealed: Their messages, bytes, shape (n, messages_per_report, sealed_size).
        refused: (position in the upload, reason) of the latter.
    """

    state: ShufflerState
    places: NDArray[np.int64]
    nonces: NDArray[np.uint8]
    choices: NDArray[np.int64]
    sealed: NDArray[np.uint8]
    refused: tuple[tuple[int, Reason], ...]


def read_upload(state: ShufflerState, body: bytes, check: TokenCheck) -> Upload:
    """Reads and checks an upload; nothing is spent yet.

    Raises:
        Refusal: If it is not one for this step.
    """
    state.check_upload(read_header(body))
    columns = read_columns(state.step, body)
    tokens = columns.tokens.tobytes()
    issued = np.array(
        [
            check.valid(tokens[start : start + TOKEN_SIZE])
            for start in range(0, len(tokens), TOKEN_SIZE)
        ]
    )
    offered = choices_offered(state.step, columns.choices)
    bad = np.flatnonzero(~(issued & offered)).tolist()
    places = np.flatnonzero(issued & offered)
    return Upload(
        state,
        places,
        columns.tokens[places, :NONCE_SIZE],
        columns.choices[places],
        columns.sealed[places],
        tuple(
            (p, Reason.UNKNOWN_LEVEL if issued[p] else Reason.TOKEN_FORGED) for p in bad
        ),
    )


class Group:
    """Uploads to the same step that are committed together."""

    def __init__(self, uploads: list[Upload]) -> None:
        self.state = uploads[0].state
        self._sizes = [len(upload.places) for upload in uploads]
        self._choices = np.concatenate([upload.choices for upload in uploads])
        self._sealed = np.concatenate([upload.sealed for upload in uploads])
        nonces = np.concatenate([upload.nonces for upload in uploads])
        # A nonce that comes twice counts where it comes first. Sorted, they go to the
        # pages of an index one after the other, and not in the order of arrival.
        texts, self._first = np.unique(nonces.view(_NONCE).ravel(), return_index=True)
        self.nonces = texts.view(np.uint8).reshape(-1, NONCE_SIZE)

    def arrivals(self, fresh: NDArray[np.bool_]) -> Arrivals:
        """Returns what is stored, if these of `nonces` are fresh."""
        rows = self._first[fresh]
        step, choices = self.state.step, self._choices[rows]
        if step.task.names_choices:
            people = np.bincount(choices, minlength=len(step.task.choices)).tolist()
        else:
            people = [len(rows)]
        piles = (
            [rows[choices == group] for group in range(step.groups)]
            if step.linked
            else [rows]
        )
        return Arrivals(
            tuple(people),
            [shuffled(step, self._sealed[pile].tobytes()).tobytes() for pile in piles],
        )

    def split(self, fresh: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
        """Returns which reports were accepted, of each upload."""
        accepted = np.zeros(len(self._choices), dtype=np.bool_)
        accepted[self._first[fresh]] = True
        return np.split(accepted, np.cumsum(self._sizes)[:-1])


def shuffled(step: Step, pile: bytes | bytearray) -> NDArray[np.uint8]:
    """Returns sealed messages in a random order, shape (n, sealed_size).

    Every order is equally likely, with the operating system's entropy.
    """
    rows = np.frombuffer(pile, dtype=np.uint8).reshape(-1, step.sealed_size)
    return rows[SystemRandom().permutation(len(rows))]


class UploadIntake:
    """Gives each upload its answer once the transaction with it is durable."""

    def __init__(
        self, commit: Callable[[Group], Awaitable[list[NDArray[np.bool_]]]]
    ) -> None:
        self._commit = commit
        self._waiting: list[tuple[Upload, asyncio.Future[NDArray[np.bool_]]]] = []
        self._worker: asyncio.Task[None] | None = None

    async def add(self, upload: Upload) -> NDArray[np.bool_]:
        """Returns which reports were accepted, shape as `upload.places`.

        Raises:
            Refusal: If nothing could be stored, or the step was closed meanwhile.
        """
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((upload, future))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        accepted: NDArray[np.bool_] = await future
        return accepted

    async def stop(self) -> None:
        """Waits until what came in has its answer."""
        if self._worker is not None:
            await self._worker

    async def _work(self) -> None:
        while self._waiting:
            chosen = self._next()
            try:
                group = await asyncio.to_thread(Group, [upload for upload, _ in chosen])
                answers = await self._commit(group)
            except Exception as error:
                for _, future in chosen:
                    if not future.done():
                        future.set_exception(error)
            else:
                for (_, future), answer in zip(chosen, answers, strict=True):
                    # Whoever sent it may have hung up.
                    if not future.done():
                        future.set_result(answer)

    def _next(self) -> list[tuple[Upload, asyncio.Future[NDArray[np.bool_]]]]:
        state, number, size = self._waiting[0][0].state, 0, 0
        for upload, _ in self._waiting:
            size += len(upload.places)
            if number and (size > _MAX_GROUP or upload.state is not state):
                break
            number += 1
        chosen, self._waiting = self._waiting[:number], self._waiting[number:]
        return chosen
