"""Intake of manifests and shards from the network to the disk, with little memory.

A shard is stored only if it is complete and matches the manifest.
"""

import asyncio
import os
from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect, Request

from shuffledp_services.analyst.sealed_batch import SealedBatch
from shuffledp_services.http.body_memory import Body, BodyMemory
from shuffledp_services.http.body_timeout import TimedBody
from shuffledp_services.http.guarded_connection import mark_authenticated
from shuffledp_services.monitoring.metrics import STORAGE_ERRORS
from shuffledp_services.wire.batch import (
    MAX_HEADER,
    PREFIX_SIZE,
    BatchHeader,
    manifest_size,
    read_manifest,
)
from shuffledp_services.wire.message_order import ShardCheck
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.task import Task

# The network may be slow, and the shuffler's disk busy.
_GRACE_SECONDS = 20.0
_BYTES_PER_SECOND = 32 * 2**10
# Memory for all large manifests whose signature was not checked yet.
_MAX_LARGE = 8 * MAX_HEADER


class Manifests:
    """Reads manifests, and limits the memory of unauthenticated ones."""

    def __init__(self) -> None:
        self._memory = BodyMemory(_MAX_LARGE)

    async def read(self, request: Request, task: Task) -> tuple[bytes, BatchHeader]:
        """Returns a manifest and its header, once its signature was checked.

        Raises:
            Refusal: If the body is not a manifest, was not signed by the task's shuffler,
                or was dropped for a newer one.
        """
        body, size, prefix = Body(self._memory), PREFIX_SIZE, b""
        async with body.arrival():
            async for part in _timed_parts(request):
                body.add(part)
                if len(prefix) < PREFIX_SIZE:
                    prefix += part[: PREFIX_SIZE - len(prefix)]
                    if len(prefix) == PREFIX_SIZE:
                        size = manifest_size(prefix)
                if body.size > size:
                    raise Refusal(Reason.WRONG_SIZE, "Expected a manifest alone.")
        try:
            content = body.content()
            # In a thread: for a large batch it takes seconds, while others are served.
            header = await asyncio.to_thread(read_manifest, content, task)
        finally:
            body.release()
        # Only the task's shuffler gets here, and can make this service store anything.
        mark_authenticated(request.scope)
        return content, header


async def save_shard(request: Request, batch: SealedBatch, index: int) -> None:
    """Writes a shard to its file.

    Args:
        request: Request with the shard as its body.
        batch: Batch that waits for it.
        index: Index of the shard in the manifest.

    Raises:
        Refusal: If the shard is not the signed one, is not in order (see
            `wire.message_order`), or cannot be stored.
    """
    header, path = batch.header, batch.incoming(index)
    check = ShardCheck(header.shards[index], bits=header.bits, size=header.sealed_size)
    try:
        # Only this user can read the folder, and so the file.
        with path.open("xb") as file:
            async for part in _timed_parts(request):
                check.add(part)
                file.write(part)
            check.finish()
            file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())
        path.rename(batch.path(index))
    except FileNotFoundError:
        # Another batch replaced this one meanwhile, and its folder is gone.
        raise Refusal(
            Reason.NOT_OPEN, "Expected a shard of the batch that comes."
        ) from None
    except OSError as error:
        STORAGE_ERRORS.inc()
        raise Refusal(Reason.STORAGE, "Expected room for the batch.") from error
    finally:
        path.unlink(missing_ok=True)


async def _timed_parts(request: Request) -> AsyncIterator[bytes]:
    """Yields the parts of a body while they arrive in time."""
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
