"""A batch on its way from the network to the disk, without ever being in memory as a whole.

Whoever is not the task's shuffler is refused after the header; nobody else makes this
service keep anything.
"""

import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

from shuffledp.service.metrics import STORAGE_ERRORS
from shuffledp.service.pace import Paced
from shuffledp.service.wire.batch import (
    BEGIN_SIZE,
    BatchHeader,
    header_end,
    read_batch_header,
)
from shuffledp.service.wire.order import OrderCheck
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.task import Task

# A batch may come across the world, and its shuffler's disk may be busy.
_GRACE_SECONDS = 20.0
_BYTES_PER_SECOND = 32 * 2**10


class BatchIntake:
    """Reads one batch."""

    def __init__(self, body: AsyncIterator[bytes]) -> None:
        self._begin = bytearray()
        self._body = Paced(body, grace=_GRACE_SECONDS, rate=_BYTES_PER_SECOND)
        self._piles: tuple[int, ...] = ()

    async def header(self, task: Task) -> BatchHeader:
        """Returns the header, once its signature was checked.

        Raises:
            Refusal: If it is none, or was not signed by the task's shuffler.
        """
        await self._read(BEGIN_SIZE)
        end = header_end(bytes(self._begin[:BEGIN_SIZE]))
        await self._read(end)
        header = read_batch_header(bytes(self._begin[:end]), task)
        del self._begin[:end]
        self._piles = header.piles(task)
        return header

    async def save(self, header: BatchHeader, path: Path) -> None:
        """Writes all messages to a new file.

        Args:
            header: From `header`.
            path: Of the file.

        Raises:
            Refusal: If they are not those that were signed, are not in their order (see
                `wire.order`), or cannot be stored.
        """
        left = sum(self._piles) * header.sealed_size
        order = OrderCheck(self._piles, header.sealed_size)
        digest = hashlib.sha256()
        wrong = Refusal(Reason.WRONG_SIZE, "Expected the messages that were signed.")
        try:
            # The folder is this user's alone; so is the file.
            with path.open("xb") as file:
                part = bytes(self._begin)
                while True:
                    left -= len(part)
                    if left < 0:
                        raise wrong
                    digest.update(part)
                    order.add(part)
                    file.write(part)
                    try:
                        part = await self._next()
                    except StopAsyncIteration:
                        break
                if left or digest.digest() != header.sha256:
                    raise wrong
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            STORAGE_ERRORS.inc()
            raise Refusal(Reason.STORAGE, "Expected room for the batch.") from error

    async def _read(self, size: int) -> None:
        """Reads until there are so many bytes, or no more."""
        while len(self._begin) < size:
            try:
                self._begin += await self._next()
            except StopAsyncIteration:
                return

    async def _next(self) -> bytes:
        try:
            return await anext(self._body)
        except TimeoutError:
            raise Refusal(
                Reason.MALFORMED,
                f"Expected at least {_BYTES_PER_SECOND:,} bytes per second.",
            ) from None
