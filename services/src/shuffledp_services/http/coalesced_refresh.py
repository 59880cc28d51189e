"""Refreshes of shared state, coalesced: many concurrent requests cost as much as a few."""

import asyncio
from collections.abc import Awaitable, Callable

_PAUSE_SECONDS = 0.1


class CoalescedRefresh:
    """Coalesces requests to refresh: each waits for a refresh that starts after it.

    Refreshes start at least `_PAUSE_SECONDS` apart, for any number of requests.

    Args:
        refresh: Does the work, once for all requests made before it started.
    """

    def __init__(self, refresh: Callable[[], Awaitable[None]]) -> None:
        self._refresh = refresh
        self._next: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._begun = float("-inf")
        self._all = set[asyncio.Task[None]]()

    async def refresh(self) -> None:
        """Waits for a refresh that starts after this call, and raises its exception."""
        if self._next is None:
            self._next = asyncio.create_task(self._run())
            self._all.add(self._next)
            self._next.add_done_callback(self._discard)
        # Shielded: a caller that is cancelled must not cancel it for the others.
        await asyncio.shield(self._next)

    async def stop(self) -> None:
        """Cancels all refreshes."""
        running = list(self._all)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _discard(self, refresh: asyncio.Task[None]) -> None:
        self._all.discard(refresh)
        if not refresh.cancelled():
            # Callers that still wait get the exception; without any, asyncio would log it.
            refresh.exception()

    async def _run(self) -> None:
        clock = asyncio.get_running_loop().time
        async with self._turn:
            await asyncio.sleep(self._begun + _PAUSE_SECONDS - clock())
            self._next, self._begun = None, clock()
            await self._refresh()
