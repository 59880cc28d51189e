"""Processes that compute answers, so that a page stays quick and can change its mind."""

import asyncio
import multiprocessing
import signal
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from shuffledp.errors import CertificationError, ShuffledpError
from shuffledp.explore.scene import Scene, read_scene

_SECONDS_BETWEEN_LOOKS = 0.004
# To begin another process takes about as long: what is shorter is computed to its end.
_SECONDS_BEFORE_END = 1.0
# Processes for certificates and profiles.
_USUAL = 2
Gone = Callable[[], Awaitable[bool]]


class Abandoned(Exception):  # noqa: N818 - nothing went wrong
    """Nobody waits for the answer any longer."""


class Workers:
    """A few processes, each with one question at a time.

    What nobody waits for any longer is ended with its process if it takes long, and
    another process begins.
    """

    def __init__(self, number: int) -> None:
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        for _ in range(number):
            self._idle.put_nowait(_Worker())

    async def ask(self, name: str, scene: Scene, gone: Gone) -> dict[str, Any]:
        """Returns an answer.

        Args:
            name: Which one, of `answers.ANSWERS`.
            scene: What it is about.
            gone: Says whether nobody waits any longer.

        Raises:
            Abandoned: If nobody waits.
            ShuffledpError: What computing it raised.
        """
        worker = await self._idle.get()
        try:
            if await gone():
                raise Abandoned
            whole = False
            try:
                worker.connection.send((name, scene))
                late = time.monotonic() + _SECONDS_BEFORE_END
                while not worker.connection.poll():
                    if time.monotonic() > late and await gone():
                        raise Abandoned
                    await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
                found: dict[str, Any] | ShuffledpError = worker.connection.recv()
                whole = True
            except (EOFError, OSError) as error:
                raise CertificationError(
                    "Expected an answer; the process that computes it ended."
                ) from error
            finally:
                if not whole:
                    worker.end()
                    worker = _Worker()
        finally:
            self._idle.put_nowait(worker)
        if isinstance(found, ShuffledpError):
            raise found
        return found

    def end(self) -> None:
        """Ends all processes that compute nothing."""
        while not self._idle.empty():
            self._idle.get_nowait().end()


class Lanes:
    """Workers for what must not wait for each other, as `Workers`.

    What is certified at once never waits for what takes long, and neither does the
    certificate for the planner, whose process begins when it is first asked.
    """

    def __init__(self) -> None:
        self._usual, self._quick = Workers(_USUAL), Workers(1)
        self._planner: Workers | None = None

    async def ask(self, name: str, scene: Scene, gone: Gone) -> dict[str, Any]:
        """As `Workers.ask`."""
        if name == "plan" and self._planner is None:
            self._planner = Workers(1)
        apart = {"quick": self._quick, "plan": self._planner}.get(name)
        return await (apart or self._usual).ask(name, scene, gone)

    def end(self) -> None:
        """As `Workers.end`."""
        for workers in (self._usual, self._quick, self._planner):
            if workers is not None:
                workers.end()


class _Worker:
    """A process and the way to it."""

    def __init__(self) -> None:
        # A copy of a process with threads may wait forever for a lock of one of them.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(
            target=_compute, args=(theirs,), daemon=True
        )
        self._process.start()
        theirs.close()

    def end(self) -> None:
        self.connection.close()
        self._process.kill()
        self._process.join()


def _compute(connection: Connection) -> None:
    """Answers until nobody asks."""
    # Ctrl-C ends the server, which ends this.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from shuffledp.explore.answers import ANSWERS

    # What is imported and tabulated with the first answer is there before it is asked.
    ANSWERS["answer"](read_scene({}))
    while True:
        try:
            name, scene = connection.recv()
        except EOFError:
            return
        try:
            connection.send(ANSWERS[name](scene))
        except ShuffledpError as error:
            connection.send(error)
