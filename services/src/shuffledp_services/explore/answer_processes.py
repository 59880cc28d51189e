"""Processes that compute answers, so that the server stays responsive."""

import asyncio
import multiprocessing
import signal
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from shuffledp.errors import CertificationError, ShuffledpError
from shuffledp_services.explore.explore_query import ExploreQuery, read_query

_POLL_SECONDS = 0.004
# Starting a new process takes about as long, so a shorter computation runs to its end.
_MIN_COMPUTING_SECONDS = 1.0
# Processes for certificates and profiles.
_USUAL = 2
# Returns whether the client has disconnected.
Gone = Callable[[], Awaitable[bool]]


class Abandoned(Exception):  # noqa: N818 - nothing went wrong
    """The client disconnected before the answer was computed."""


class AnswerProcesses:
    """A pool of processes, computing one answer each at a time."""

    def __init__(self, number: int) -> None:
        self._idle: asyncio.Queue[_AnswerProcess] = asyncio.Queue()
        for _ in range(number):
            self._idle.put_nowait(_AnswerProcess())

    async def ask(self, name: str, query: ExploreQuery, gone: Gone) -> dict[str, Any]:
        """Computes an answer in an idle process.

        Args:
            name: The name of the answer in `answers.ANSWERS`.
            query: The parameters of the answer.
            gone: Returns whether the client has disconnected.

        Raises:
            Abandoned: If the client has disconnected.
            ShuffledpError: If computing the answer raised it.
        """
        worker = await self._idle.get()
        try:
            if await gone():
                raise Abandoned
            # False as long as the process may still compute or its answer is unread.
            finished = False
            try:
                worker.connection.send((name, query))
                late = time.monotonic() + _MIN_COMPUTING_SECONDS
                while not worker.connection.poll():
                    if time.monotonic() > late and await gone():
                        raise Abandoned
                    await asyncio.sleep(_POLL_SECONDS)
                outcome: dict[str, Any] | ShuffledpError = worker.connection.recv()
                finished = True
            except (EOFError, OSError) as error:
                raise CertificationError(
                    "Expected an answer; the process that computes it ended."
                ) from error
            finally:
                if not finished:
                    # A computation cannot be interrupted: its process is replaced.
                    worker.end()
                    worker = _AnswerProcess()
        finally:
            self._idle.put_nowait(worker)
        if isinstance(outcome, ShuffledpError):
            raise outcome
        return outcome

    def end(self) -> None:
        """Ends all idle processes."""
        while not self._idle.empty():
            self._idle.get_nowait().end()


class AnswerPools:
    """Separate pools for quick answers, certificates and plans, used as one pool."""

    def __init__(self) -> None:
        # Closed-form bounds never wait for certificates, nor certificates for plans.
        self._usual, self._quick = AnswerProcesses(_USUAL), AnswerProcesses(1)
        # Started with the first plan.
        self._planner: AnswerProcesses | None = None

    async def ask(self, name: str, query: ExploreQuery, gone: Gone) -> dict[str, Any]:
        """As `AnswerProcesses.ask`."""
        if name == "plan" and self._planner is None:
            self._planner = AnswerProcesses(1)
        separate = {"quick": self._quick, "plan": self._planner}.get(name)
        return await (separate or self._usual).ask(name, query, gone)

    def end(self) -> None:
        """As `AnswerProcesses.end`."""
        for pool in (self._usual, self._quick, self._planner):
            if pool is not None:
                pool.end()


class _AnswerProcess:
    """A process with a connection to it."""

    def __init__(self) -> None:
        # A fork of a process with threads may wait forever for a lock that one of the
        # threads held.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(
            target=_compute, args=(theirs,), daemon=True
        )
        self._process.start()
        # Only the process keeps its end, so that its death reads as EOFError.
        theirs.close()

    def end(self) -> None:
        self.connection.close()
        self._process.kill()
        self._process.join()


def _compute(connection: Connection) -> None:
    """Computes answers until the connection closes."""
    # Ctrl-C reaches every process of the terminal; the server ends this one itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from shuffledp_services.explore.answers import ANSWERS

    # Warms up: the first answer imports modules and fills caches.
    ANSWERS["answer"](read_query({}))
    while True:
        try:
            name, query = connection.recv()
        except EOFError:
            return
        try:
            connection.send(ANSWERS[name](query))
        except ShuffledpError as error:
            connection.send(error)
