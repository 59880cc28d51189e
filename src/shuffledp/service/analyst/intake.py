"""Manifests and shards on their way from the network, hardly any of which is in memory.

Whoever is not the task's shuffler is refused after the manifest; nobody else makes this
service keep anything. Of a shard only what its manifest says is kept, and nothing of one
that is not whole.
"""

import asyncio
import os
from collections.abc import AsyncIterator

from shuffledp.extras import require
from shuffledp.service.analyst.sealed_batch import SealedBatch
from shuffledp.service.http.body_memory import Body, BodyMemory
from shuffledp.service.http.body_timeout import TimedBody
from shuffledp.service.http.guarded_connection import mark_authenticated
from shuffledp.service.monitoring.metrics import STORAGE_ERRORS
from shuffledp.service.wire.batch import (
    BEGIN_SIZE,
    MAX_HEADER,
    BatchHeader,
    manifest_size,
    read_manifest,
)
from shuffledp.service.wire.message_order import ShardCheck
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.task import Task

require("starlette", extra="service", what="A service")

from starlette.requests import ClientDisconnect, Request  # noqa: E402

# A batch may come across the world, and its shuffler's disk may be busy.
_GRACE_SECONDS = 20.0
_BYTES_PER_SECOND = 32 * 2**10
# Of large manifests whose signature was not checked yet.
_MAX_LARGE = 8 * MAX_HEADER


class Manifests:
    """Reads manifests, and knows how much memory those of strangers have."""

    def __init__(self) -> None:
        self._room = BodyMemory(_MAX_LARGE)

    async def read(self, request: Request, task: Task) -> tuple[bytes, BatchHeader]:
        """Returns a manifest, and what it says, once its signature was checked.

        Raises:
            Refusal: If it is none, was not signed by the task's shuffler, or was dropped
                for a newer one.
        """
        body, size, begin = Body(self._room), BEGIN_SIZE, b""
        async with body.arrival():
            async for part in _paced(request):
                body.add(part)
                if len(begin) < BEGIN_SIZE:
                    begin += part[: BEGIN_SIZE - len(begin)]
                    if len(begin) == BEGIN_SIZE:
                        size = manifest_size(begin)
                if body.size > size:
                    raise Refusal(Reason.WRONG_SIZE, "Expected a manifest alone.")
        try:
            content = body.content()
            # Of a large batch it takes seconds, in which others are served.
            header = await asyncio.to_thread(read_manifest, content, task)
        finally:
            body.release()
        mark_authenticated(request.scope)
        return content, header


async def save_shard(request: Request, batch: SealedBatch, place: int) -> None:
    """Writes a shard to its file.

    Args:
        request: Whose body it is.
        batch: That waits for it.
        place: Of the shard.

    Raises:
        Refusal: If it is not the one that was signed, is not in order (see
            `wire.message_order`), or cannot be stored.
    """
    header, path = batch.header, batch.incoming(place)
    check = ShardCheck(header.shards[place], bits=header.bits, size=header.sealed_size)
    try:
        # The folder is this user's alone; so is the file.
        with path.open("xb") as file:
            async for part in _paced(request):
                check.add(part)
                file.write(part)
            check.finish()
            file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())
        path.rename(batch.path(place))
    except FileNotFoundError:
        # Another batch took its place meanwhile.
        raise Refusal(
            Reason.NOT_OPEN, "Expected a shard of the batch that comes."
        ) from None
    except OSError as error:
        STORAGE_ERRORS.inc()
        raise Refusal(Reason.STORAGE, "Expected room for the batch.") from error
    finally:
        path.unlink(missing_ok=True)


async def _paced(request: Request) -> AsyncIterator[bytes]:
    """Yields the parts of a body while they come in time."""
    try:
        async for part in TimedBody(
            aiter(request.stream()), grace=_GRACE_SECONDS, rate=_BYTES_PER_SECOND
        ):
            yield part
    except TimeoutError:
        raise Refusal(
            Reason.MALFORMED,
            f"Expected at least {_BYTES_PER_SECOND:,} bytes per second.",
        ) from None
    except ClientDisconnect:
        raise Refusal(Reason.MALFORMED, "Expected the whole batch.") from None
