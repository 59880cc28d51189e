"""Several processes of one service behind one port, and their parent.

The parent listens, and every worker serves on its socket: whoever is idle takes the next
connection. One that dies is started again; one that gives no sign of life for ten seconds
is killed, which gives its locks in the database back, and started again. The parent itself
serves nobody.
"""

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import FrameType

from shuffledp.errors import DataError, ShuffledpError
from shuffledp.extras import require
from shuffledp.service.monitoring.events import LogFormat, logged
from shuffledp.service.monitoring.heartbeat import notify_alive, notify_ready
from shuffledp.service.operator.server import listen, serve_on, url_of

require("starlette", extra="service", what="A service")

from starlette.applications import Starlette  # noqa: E402

_LAST_SECONDS = 10.0
_POLL_SECONDS = 0.2
# One that cannot start is not started as fast as the machine can.
_PAUSE_SECONDS = 1.0
# Without a sign of life: of one that gave some, and of one that is being started.
_SILENT_SECONDS, _START_SECONDS = 10.0, 120.0
# A parent that stood still itself, as machines do that sleep, has not heard anybody.
_LONGEST_LOOK = 1.0

# More than a pipe holds.
_ALL = 1 << 20

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_CONTEXT = multiprocessing.get_context("spawn")
_log = logging.getLogger("shuffledp.service")


def run_workers(
    build: Callable[[], Starlette],
    *,
    number: int,
    host: str,
    port: int,
    started: Callable[[str], None],
    metrics_port: int | None,
    log_format: LogFormat,
) -> None:
    """Serves until a signal comes, as `run` does, in several processes.

    Args:
        build: Makes the service, in each of them.
        number: Of processes.
        host: Where they listen.
        port: 0 for any that is free.
        started: Is told the URL, once all are ready.
        metrics_port: Where monitoring of this machine asks the first of them; the others
            are asked on the ports that follow. None for nowhere.
        log_format: Of every worker.

    Raises:
        DataError: If nobody can listen there, or a worker cannot start.
    """
    with listen(host, port) as listening:
        ports = [
            None if metrics_port is None else metrics_port + i for i in range(number)
        ]
        setups = [_Setup(build, listening, each, log_format) for each in ports]
        parent = _Parent(setups)
        before = {each: signal.signal(each, parent.stop) for each in _SIGNALS}
        try:
            if parent.begin():
                started(url_of(host, listening))
                parent.watch()
        finally:
            parent.end()
            for each, handler in before.items():
                signal.signal(each, handler)


@dataclass(frozen=True)
class _Setup:
    """What a worker is started with."""

    build: Callable[[], Starlette]
    listening: socket.socket
    metrics_port: int | None
    log_format: LogFormat


class _Worker:
    """A process that serves; started again under the same setup."""

    def __init__(self, setup: _Setup) -> None:
        self._setup = setup
        self.start()

    def start(self) -> None:
        self.pipe, there = _CONTEXT.Pipe()
        self._beats, beats = _CONTEXT.Pipe(duplex=False)
        os.set_blocking(self._beats.fileno(), False)
        self._silent, self._patience = 0.0, _START_SECONDS
        self.begun = time.monotonic()
        self.process: SpawnProcess = _CONTEXT.Process(
            target=_work, args=(self._setup, there, beats)
        )
        self.process.start()
        # What the worker holds is closed when it ends.
        there.close()
        beats.close()

    @property
    def is_due(self) -> bool:
        """Whether it ended, and may be started again."""
        rested = time.monotonic() >= self.begun + _PAUSE_SECONDS
        return rested and self.process.exitcode is not None

    def heard(self) -> tuple[str | None, ...]:
        """What it said since it was asked last: why it cannot start; None once it has."""
        said = list[str | None]()
        with suppress(EOFError, OSError):
            while self.pipe.poll():
                said.append(self.pipe.recv())
        return tuple(said)

    def kill_if_silent(self, looked: float) -> bool:
        """Kills it after `_SILENT_SECONDS` without a sign of life; tells whether it did.

        Args:
            looked: Seconds since the parent asked last.
        """
        with suppress(BlockingIOError):
            if os.read(self._beats.fileno(), _ALL):
                self._silent, self._patience = 0.0, _SILENT_SECONDS
                return False
        self._silent += min(looked, _LONGEST_LOOK)
        if self._silent < self._patience or self.process.exitcode is not None:
            return False
        self.process.kill()
        self._silent = 0.0
        return True

    def close(self) -> None:
        self.pipe.close()
        self._beats.close()
        self.process.close()


class _Parent:
    """Whoever starts them."""

    def __init__(self, setups: list[_Setup]) -> None:
        self._setups = setups
        self._workers = list[_Worker]()
        self._stops = False

    def stop(self, _number: int, _frame: FrameType | None) -> None:
        """A handler of signals."""
        self._stops = True

    def begin(self) -> bool:
        """Starts all of them; tells whether they are ready, or were stopped before."""
        self._workers += map(_Worker, self._setups)
        starting = list(self._workers)
        while starting and not self._stops:
            wait([one.pipe for one in starting], _POLL_SECONDS)
            for worker in list(starting):
                for said in worker.heard():
                    if said is not None:
                        raise DataError(said)
                    starting.remove(worker)
                if worker in starting and worker.process.exitcode is not None:
                    raise DataError("Expected a worker to start: it ended.")
        return not self._stops

    def watch(self) -> None:
        """Starts again every worker that ends, and kills those that stand still."""
        notify_ready()
        looked = time.monotonic()
        while not self._stops:
            wait([one.process.sentinel for one in self._workers], _POLL_SECONDS)
            notify_alive()
            before, looked = looked, time.monotonic()
            for worker in self._workers:
                if worker.kill_if_silent(looked - before):
                    _log.error("A worker gives no sign of life: it is killed.")
                for said in filter(None, worker.heard()):
                    _log.error("%s", said)
                if worker.is_due and not self._stops:
                    _log.warning("A worker ended: it is started again.")
                    worker.close()
                    worker.start()
                elif worker.process.exitcode is not None:
                    time.sleep(_POLL_SECONDS)

    def end(self) -> None:
        """Lets them answer what is under way, and ends them."""
        for worker in self._workers:
            worker.process.terminate()
        last = time.monotonic() + _LAST_SECONDS
        for worker in self._workers:
            worker.process.join(max(last - time.monotonic(), 0.0))
            if worker.process.exitcode is None:
                # It may be closing a step, which is begun again then.
                worker.process.kill()
                worker.process.join()
            worker.close()


def _work(setup: _Setup, pipe: Connection, beats: Connection) -> None:
    # Whoever presses Ctrl-C means the parent, which lets this one end in its own time.
    os.setpgid(0, 0)
    os.set_blocking(beats.fileno(), False)

    def beat() -> None:
        # The pipe is full if the parent stands still, and broken once it is gone.
        with suppress(OSError):
            os.write(beats.fileno(), b".")

    def end_with_parent() -> None:
        with suppress(EOFError, OSError):
            pipe.recv()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end_with_parent, daemon=True).start()
    with logged(setup.log_format):
        try:
            serve_on(
                setup.build(),
                setup.listening,
                started=lambda: pipe.send(None),
                alive=beat,
                metrics_port=setup.metrics_port,
            )
        except ShuffledpError as error:
            pipe.send(str(error))
