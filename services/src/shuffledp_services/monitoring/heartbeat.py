"""Heartbeat of a service, for a supervisor that restarts it when it stops.

The event loop emits it: a process that is stopped, or that blocks its loop, has none.
`run_workers` reads it from a pipe. systemd receives it as datagrams (sd_notify(3)), if the
unit has Type=notify and WatchdogSec=.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

_BEAT_SECONDS = 1.0
_ADDRESS = "NOTIFY_SOCKET"


@asynccontextmanager
async def beating(alive: Callable[[], None]) -> AsyncIterator[None]:
    """Calls `alive` once a second while the event loop runs, until the context ends."""

    async def beat() -> None:
        while True:
            alive()
            await asyncio.sleep(_BEAT_SECONDS)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def notify_systemd(state: str) -> None:
    """Sends a state such as "READY=1" to systemd, if it listens.

    Args:
        state: One of the assignments of sd_notify(3).
    """
    address = os.environ.get(_ADDRESS, "")
    if not address.startswith(("/", "@")):
        return
    # "@" stands for the zero byte that begins an abstract address.
    address = address.replace("@", "\0", 1) if address[0] == "@" else address
    # A supervisor that does not read its socket must not end the service.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        sender.sendto(state.encode(), address)


def notify_ready() -> None:
    """Notifies systemd that the service accepts requests."""
    notify_systemd("READY=1")


def notify_alive() -> None:
    """Notifies systemd that the service still runs."""
    notify_systemd("WATCHDOG=1")
