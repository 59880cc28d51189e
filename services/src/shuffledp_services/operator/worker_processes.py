"""Worker processes of one service behind one port, and their parent.

The parent listens, and every worker serves on its socket: an idle one accepts the next
connection. A worker that dies is restarted; one without a heartbeat for ten seconds is
killed, which releases its locks in the database, and restarted. The parent itself answers
no requests.
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

from starlette.applications import Starlette

from shuffledp.errors import DataError, ShuffledpError
from shuffledp_services.monitoring.event_log import LogFormat, logged
from shuffledp_services.monitoring.heartbeat import notify_alive, notify_ready
from shuffledp_services.operator.server import listen, serve_on, url_of

_LAST_SECONDS = 10.0
_POLL_SECONDS = 0.2
# Least time between two starts: a worker that cannot start is not restarted in a busy loop.
_PAUSE_SECONDS = 1.0
# Longest time without a heartbeat: of a running worker, and of one that is starting.
_SILENT_SECONDS, _START_SECONDS = 10.0, 120.0
# A parent that was suspended itself, as on a sleeping machine, missed all heartbeats: a
# longer interval between two checks does not count as silence of the workers.
_LONGEST_INTERVAL = 1.0

# More than the capacity of a pipe.
_PIPE_BYTES = 1 << 20

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_CONTEXT = multiprocessing.get_context("spawn")
_log = logging.getLogger("shuffledp_services")


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
    """Serves until a signal arrives, as `run` does, in several processes.

    Args:
        build: Builds the service in each process.
        number: Number of processes.
        host: Host or address to listen on.
        port: Port to listen on; 0 for any free one.
        started: Called with the URL once all workers are ready.
        metrics_port: Local port of the first worker's metrics; the others use the ports
            that follow. None to serve none.
        log_format: Log format of every worker.

    Raises:
        DataError: If the address cannot be used, or a worker cannot start.
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
    """Arguments of a worker's process."""

    build: Callable[[], Starlette]
    listening: socket.socket
    metrics_port: int | None
    log_format: LogFormat


class _WorkerProcess:
    """Worker process that can be restarted with the same setup."""

    def __init__(self, setup: _Setup) -> None:
        self._setup = setup
        self.start()

    def start(self) -> None:
        self.pipe, worker_pipe = _CONTEXT.Pipe()
        self._beats, beats = _CONTEXT.Pipe(duplex=False)
        # A read without any heartbeat must return at once.
        os.set_blocking(self._beats.fileno(), False)
        self._silent, self._patience = 0.0, _START_SECONDS
        self.begun = time.monotonic()
        self.process: SpawnProcess = _CONTEXT.Process(
            target=_run_worker, args=(self._setup, worker_pipe, beats)
        )
        self.process.start()
        # The parent's copies are closed, so that both pipes break when the worker ends.
        worker_pipe.close()
        beats.close()

    @property
    def is_due(self) -> bool:
        """Whether the worker ended, and may be restarted."""
        is_rested = time.monotonic() >= self.begun + _PAUSE_SECONDS
        return is_rested and self.process.exitcode is not None

    def receive_messages(self) -> tuple[str | None, ...]:
        """Returns new messages: an error that prevents the start; None once it is ready."""
        messages = list[str | None]()
        with suppress(EOFError, OSError):
            while self.pipe.poll():
                messages.append(self.pipe.recv())
        return tuple(messages)

    def kill_if_silent(self, seconds: float) -> bool:
        """Kills the worker if it has no heartbeat for too long; returns whether it did.

        Args:
            seconds: Time since the last check.
        """
        with suppress(BlockingIOError):
            if os.read(self._beats.fileno(), _PIPE_BYTES):
                self._silent, self._patience = 0.0, _SILENT_SECONDS
                return False
        self._silent += min(seconds, _LONGEST_INTERVAL)
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
    """Parent process: starts, watches and ends the workers."""

    def __init__(self, setups: list[_Setup]) -> None:
        self._setups = setups
        self._workers = list[_WorkerProcess]()
        self._stops = False

    def stop(self, _number: int, _frame: FrameType | None) -> None:
        """Handles a signal by stopping."""
        self._stops = True

    def begin(self) -> bool:
        """Starts all workers; returns False if a signal arrived before they were ready."""
        self._workers += map(_WorkerProcess, self._setups)
        starting = list(self._workers)
        while starting and not self._stops:
            wait([worker.pipe for worker in starting], _POLL_SECONDS)
            for worker in list(starting):
                for message in worker.receive_messages():
                    if message is not None:
                        raise DataError(message)
                    starting.remove(worker)
                if worker in starting and worker.process.exitcode is not None:
                    raise DataError("Expected a worker to start: it ended.")
        return not self._stops

    def watch(self) -> None:
        """Restarts workers that end, and kills those without a heartbeat."""
        notify_ready()
        seconds = time.monotonic()
        while not self._stops:
            wait([worker.process.sentinel for worker in self._workers], _POLL_SECONDS)
            notify_alive()
            before, seconds = seconds, time.monotonic()
            for worker in self._workers:
                if worker.kill_if_silent(seconds - before):
                    _log.error("A worker gives no sign of life: it is killed.")
                for message in filter(None, worker.receive_messages()):
                    _log.error("%s", message)
                if worker.is_due and not self._stops:
                    _log.warning("A worker ended: it is started again.")
                    worker.close()
                    worker.start()
                # An ended worker makes every `wait` return at once, until it is started
                # again.
                elif worker.process.exitcode is not None:
                    time.sleep(_POLL_SECONDS)

    def end(self) -> None:
        """Ends the workers, after they have answered requests under way."""
        for worker in self._workers:
            worker.process.terminate()
        last = time.monotonic() + _LAST_SECONDS
        for worker in self._workers:
            worker.process.join(max(last - time.monotonic(), 0.0))
            if worker.process.exitcode is None:
                # If it was closing a step, the next start of the service does that again.
                worker.process.kill()
                worker.process.join()
            worker.close()


def _run_worker(setup: _Setup, pipe: Connection, beats: Connection) -> None:
    # Own process group: Ctrl-C reaches only the parent, which ends this worker in time.
    os.setpgid(0, 0)
    os.set_blocking(beats.fileno(), False)

    def beat() -> None:
        # The pipe is full if the parent is suspended, and broken once it is gone.
        with suppress(OSError):
            os.write(beats.fileno(), b".")

    def end_with_parent() -> None:
        with suppress(EOFError, OSError):
            # Returns only when the pipe breaks, because the parent sends nothing.
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
            # Expected errors only: their texts are made for the operator.
            pipe.send(str(error))
