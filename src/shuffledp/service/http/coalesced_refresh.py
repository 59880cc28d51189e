"""Looks at a store that many ask for at once, and that cost as much as a few."""

import asyncio
from collections.abc import Awaitable, Callable

_PAUSE_SECONDS = 0.1


class Looks:
    """Shares looks: whoever asks gets one that begins afterwards.

    They follow each other at `_PAUSE_SECONDS` at the least, however many ask.

    Args:
        look: What is done, for all who asked before it began.
    """

    def __init__(self, look: Callable[[], Awaitable[None]]) -> None:
        self._look = look
        self._next: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._begun = float("-inf")
        self._all = set[asyncio.Task[None]]()

    async def share(self) -> None:
        """Returns after a look that began since, or raises what it raised."""
        if self._next is None:
            self._next = asyncio.create_task(self._begin())
            self._all.add(self._next)
            self._next.add_done_callback(self._over)
        # Whoever gives up waiting does not end it for others.
        await asyncio.shield(self._next)

    async def stop(self) -> None:
        """Ends what is under way."""
        under_way = list(self._all)
        for each in under_way:
            each.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    def _over(self, look: asyncio.Task[None]) -> None:
        self._all.discard(look)
        if not look.cancelled():
            # Heard by whoever still waits; nobody else has to.
            look.exception()

    async def _begin(self) -> None:
        clock = asyncio.get_running_loop().time
        async with self._turn:
            await asyncio.sleep(self._begun + _PAUSE_SECONDS - clock())
            self._next, self._begun = None, clock()
            await self._look()
