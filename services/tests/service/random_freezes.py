"""Processes that are stopped at random times, and how long nothing is handed over.

A service of one process is watched as systemd does: it is killed, and started again, once
it gave no sign of life for ten seconds. Of several processes over one database none is
killed: the others have to go on without it, and it goes on later, as if nothing had been.
"""

import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np

if TYPE_CHECKING:
    from live_services import Running

_WATCHDOG_SECONDS, _SHORT = 10.0, 0.5
# A process that is started has longer, as a machine may be busy.
_START_SECONDS = 60.0
_POLL_SECONDS = 0.05

# Where it hands over, which who tends does; and inside of a transaction.
FREEZES = (
    "before hand-over",
    "after sending",
    "after hand-over",
    "in upload",
    "in close",
)
_THAW_SECONDS = (12.0, 20.0)
_COLLECTING = ("open", "waiting", "closed")


class Watchdog:
    """Hears signs of life of one process, as systemd does.

    Attributes:
        address: Where they are sent.
    """

    def __init__(self) -> None:
        name = f"shuffledp-{uuid.uuid4().hex}"
        self.address = f"@{name}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(f"\0{name}")
        self._socket.setblocking(False)
        self._due = time.monotonic() + _START_SECONDS

    def expired(self) -> bool:
        """Whether it was silent for too long."""
        with suppress(BlockingIOError):
            while self._socket.recv(100):
                self._due = time.monotonic() + _WATCHDOG_SECONDS
        return time.monotonic() > self._due

    def close(self) -> None:
        """Hears nothing any more."""
        self._socket.close()


@dataclass
class _Freeze:
    """A process that was stopped.

    Attributes:
        since: When that was seen.
        place: Epoch and step that were under way; None while that is not known.
        closed: Whether a batch waited to be handed over.
    """

    since: float
    place: tuple[object, ...] | None = None
    closed: bool = False


class FreezeMonitor:
    """Sees that processes are stopped, and how long it takes until the step is over.

    Args:
        shufflers: All processes of the shuffler.
        rng: Of when they go on; None if they never do, but are killed by somebody else.

    Attributes:
        frozen: How often any process was stopped.
        waits: Seconds from each freeze until the batch was handed over or dropped that was
            closed then.
        open_waits: The same, if the step was open: people answer meanwhile.
    """

    def __init__(
        self, shufflers: Sequence["Running"], rng: np.random.Generator | None
    ) -> None:
        self.frozen, self.waits, self.open_waits = 0, list[float](), list[float]()
        self._shufflers, self._rng = shufflers, rng
        self._over = threading.Event()
        self._thaws, self._pending = dict[int, float](), list[_Freeze]()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Looks inside of this."""
        looking = threading.Thread(target=self._look)
        looking.start()
        try:
            yield
        finally:
            self._over.set()
            looking.join()

    def _look(self) -> None:
        while not self._over.wait(_POLL_SECONDS):
            self._see(time.monotonic())
            if self._pending and (status := self._status()) is not None:
                self._settle(status, time.monotonic())

    def _see(self, now: float) -> None:
        pids = [one.pid for one in self._shufflers]
        stopped = {pid for pid in pids if pid is not None and is_stopped(pid)}
        for pid in list(self._thaws):
            if pid not in stopped:
                del self._thaws[pid]
            elif now > self._thaws[pid]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        for pid in stopped:
            if pid not in self._thaws:
                self.frozen += 1
                self._pending.append(_Freeze(now))
                last = float("inf")
                if self._rng is not None:
                    last = now + float(self._rng.uniform(*_THAW_SECONDS))
                self._thaws[pid] = last

    def _settle(self, status: dict[str, Any], now: float) -> None:
        place, phase = (status["epoch"], status["stage"]), status["phase"]
        for freeze in list(self._pending):
            if freeze.place is None:
                freeze.place, freeze.closed = place, phase == "closed"
            over = freeze.place != place or phase not in _COLLECTING
            if over or (freeze.closed and phase != "closed"):
                waits = self.waits if freeze.closed else self.open_waits
                waits.append(now - freeze.since)
                self._pending.remove(freeze)

    def _status(self) -> dict[str, Any] | None:
        """Where the task stands, as a process says that is not stopped."""
        for one in self._shufflers:
            if not is_stopped(one.pid):
                with suppress(httpx.HTTPError, ValueError):
                    answer = httpx.get(
                        one.path, trust_env=False, verify=False, timeout=_SHORT
                    )
                    if answer.is_success:
                        status: dict[str, Any] = answer.json()
                        return status
        return None


def is_stopped(pid: int | None) -> bool:
    """Whether a process is stopped by a signal."""
    with suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "T"
    return False
