"""Opens sealed shards and counts what they say, on all cores of this machine.

What is opened where does not matter: tallies of parts add up to that of the whole, exactly
and in whatever order. A process that is killed takes its part with it, and the batch is
opened again from the beginning: counts are in memory alone.

The private key reaches the processes through a pipe, and is in no argument, environment or
file. They end with the process that started them, however that ends.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from shuffledp.errors import DataError
from shuffledp.service.analyst.sealed_batch import SealedShard
from shuffledp.service.collection.message_counter import MessageCounter
from shuffledp.service.wire.sealing import Opener
from shuffledp.service.wire.step import Step

PART = 1 << 13
"""Messages that are opened at a time by one process: a quarter of a second."""

WORTH_PROCESSES = 50_000
"""Fewer messages are opened here: a process takes a second or two to start."""


class Interrupted(Exception):  # noqa: N818 - no error: the service is being stopped
    """The work was asked to stop; it begins again when the service does."""


class OpenShards(Protocol):
    """A way to open and count the shards of a batch.

    Whatever does it, what comes out is what one process counts, bit for bit; and whatever
    is done again, for a machine died say, is counted once.
    """

    def __call__(
        self,
        step: Step,
        shards: Sequence[SealedShard],
        private_key: bytes,
        *,
        stopped: Callable[[], bool],
    ) -> MessageCounter:
        """Returns the counts of all messages.

        Args:
            step: What they are for.
            shards: Files that were checked when they came: each has its messages, one
                after the other.
            private_key: The analyst's. It may not be written anywhere.
            stopped: Whether to stop; is asked every second at least.

        Raises:
            Interrupted: If it was stopped.
            DataError: If a file is not as it was received.
        """


@dataclass(frozen=True)
class _Part:
    """Messages of a shard."""

    path: Path
    group: int
    start: int
    messages: int


class _Openers:
    """One for each level group of messages, of one step."""

    def __init__(self, step: Step, private_key: bytes) -> None:
        suite = step.task.suite
        self.step = step
        self._openers = [
            Opener(suite, private_key, step.info(group)) for group in range(step.groups)
        ]

    def count(self, part: _Part) -> MessageCounter:
        size, opener = self.step.sealed_size, self._openers[part.group]
        with part.path.open("rb") as file:
            file.seek(part.start * size)
            content = file.read(part.messages * size)
        if len(content) != part.messages * size:
            raise DataError("Expected the batch as it was received.")
        counting = MessageCounter(self.step)
        counting.add(part.group, opener.open_all(content, size))
        return counting


def open_on_all_cores(
    step: Step,
    shards: Sequence[SealedShard],
    private_key: bytes,
    *,
    stopped: Callable[[], bool],
) -> MessageCounter:
    """As `OpenShards`: in this process, or in one for each core if that is worth it."""
    processes = os.cpu_count() or 1
    if processes == 1 or sum(s.messages for s in shards) < WORTH_PROCESSES:
        return _open_here(step, shards, private_key, stopped=stopped)
    counting = MessageCounter(step)
    pool = ProcessPoolExecutor(
        processes,
        # A copy of this process would hold its locks and its connections.
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(step, private_key),
    )
    pending: deque[Future[MessageCounter]] = deque()
    try:
        for part in _parts(shards):
            pending.append(pool.submit(_count, part))
            if len(pending) > 2 * processes:
                counting.merge(_result(pending.popleft(), stopped))
        while pending:
            counting.merge(_result(pending.popleft(), stopped))
    finally:
        pool.shutdown(cancel_futures=True)
    return counting


def _open_here(
    step: Step,
    shards: Sequence[SealedShard],
    private_key: bytes,
    *,
    stopped: Callable[[], bool],
) -> MessageCounter:
    openers, counting = _Openers(step, private_key), MessageCounter(step)
    for part in _parts(shards):
        if stopped():
            raise Interrupted
        counting.merge(openers.count(part))
    return counting


def _parts(shards: Sequence[SealedShard]) -> Iterator[_Part]:
    for shard in shards:
        for start in range(0, shard.messages, PART):
            messages = min(PART, shard.messages - start)
            yield _Part(shard.path, shard.group, start, messages)


def _result(
    counted: Future[MessageCounter], stopped: Callable[[], bool]
) -> MessageCounter:
    if stopped():
        raise Interrupted
    try:
        return counted.result()
    except BrokenProcessPool:
        # Whoever stops a service often stops all its processes.
        if stopped():
            raise Interrupted from None
        raise


_openers: _Openers | None = None
"""Of a process that does nothing else."""


def _begin(step: Step, private_key: bytes) -> None:
    global _openers
    _openers = _Openers(step, private_key)
    # Ctrl-C is for the service, which ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _count(part: _Part) -> MessageCounter:
    if _openers is None:
        raise RuntimeError("Expected a process that was begun.")
    return _openers.count(part)
