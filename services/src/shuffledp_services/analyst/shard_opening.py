"""Opening of sealed shards: decrypts and counts messages on all cores of this machine.

If a process is killed, the batch is opened again from the beginning: counts are only in
memory.
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
from shuffledp_services.analyst.sealed_batch import SealedShard
from shuffledp_services.collection.message_counter import MessageCounter
from shuffledp_services.wire.sealing import Opener
from shuffledp_services.wire.step import Step

PART = 1 << 13
"""Messages that one process opens at a time: a quarter of a second of work."""

WORTH_PROCESSES = 50_000
"""Fewer messages are opened in this process: another takes a second or two to start."""


class Interrupted(Exception):  # noqa: N818 - no error: the service is being stopped
    """Processing was stopped; it restarts with the service."""


class OpenShards(Protocol):
    """Opens and counts the shards of a batch.

    Every implementation returns the counts of a single process, bit for bit, and counts
    work once that it repeats, after the failure of a machine for example.
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
            step: Step of the messages.
            shards: Files that were checked on arrival: concatenated messages.
            private_key: Private key of the analyst, which may not be written anywhere.
            stopped: Returns whether to stop; called at least once a second.

        Raises:
            Interrupted: If `stopped` returned True.
            DataError: If a file differs from the one that was received.
        """


@dataclass(frozen=True)
class _MessageRange:
    """Consecutive messages of a shard."""

    path: Path
    group: int
    start: int
    messages: int


class _Openers:
    """Openers of a step, one per level group of messages."""

    def __init__(self, step: Step, private_key: bytes) -> None:
        suite = step.task.suite
        self.step = step
        self._openers = [
            Opener(suite, private_key, step.info(group)) for group in range(step.groups)
        ]

    def count(self, part: _MessageRange) -> MessageCounter:
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
    """Implements `OpenShards` in this process, or in one per core for large batches."""
    processes = os.cpu_count() or 1
    if processes == 1 or sum(s.messages for s in shards) < WORTH_PROCESSES:
        return _open_here(step, shards, private_key, stopped=stopped)
    counting = MessageCounter(step)
    pool = ProcessPoolExecutor(
        processes,
        # A forked copy of this process would hold its locks and its connections.
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        # Through a pipe: the key is in no argument, environment or file.
        initargs=(step, private_key),
    )
    pending: deque[Future[MessageCounter]] = deque()
    try:
        for part in _parts(shards):
            pending.append(pool.submit(_count, part))
            # Enough to keep all processes busy; a batch may have millions of messages.
            if len(pending) > 2 * processes:
                # Counts of parts add up to those of the whole, exactly and in any
                # order.
                counting.merge(_result(pending.popleft(), stopped))
        while pending:
            counting.merge(_result(pending.popleft(), stopped))
    finally:
        # After an interruption, parts that wait are dropped.
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


def _parts(shards: Sequence[SealedShard]) -> Iterator[_MessageRange]:
    for shard in shards:
        for start in range(0, shard.messages, PART):
            messages = min(PART, shard.messages - start)
            yield _MessageRange(shard.path, shard.group, start, messages)


def _result(
    counted: Future[MessageCounter], stopped: Callable[[], bool]
) -> MessageCounter:
    if stopped():
        raise Interrupted
    try:
        return counted.result()
    except BrokenProcessPool:
        # A signal that stops the service often reaches all its processes.
        if stopped():
            raise Interrupted from None
        raise


_openers: _Openers | None = None
"""Openers of a worker process, set by its initializer."""


def _begin(step: Step, private_key: bytes) -> None:
    global _openers
    _openers = _Openers(step, private_key)
    # Ctrl-C reaches the service, which ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        # However the parent ends, even if it is killed.
        parent.join()
        os._exit(1)


def _count(part: _MessageRange) -> MessageCounter:
    if _openers is None:
        raise RuntimeError("Expected a process that was begun.")
    return _openers.count(part)
