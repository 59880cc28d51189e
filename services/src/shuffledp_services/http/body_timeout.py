"""Timeout of request bodies: a lower bound on their rate, with a grace period."""

import asyncio
from collections.abc import AsyncIterator
from typing import Self


class TimedBody:
    """Iterates over the parts of a body while they arrive in time.

    The sender may pause for `grace` seconds, and the whole body may be `grace` seconds late
    at `rate` bytes per second.

    Raises:
        TimeoutError: During the iteration, if the body is too slow.
    """

    def __init__(
        self, parts: AsyncIterator[bytes], *, grace: float, rate: float
    ) -> None:
        self._parts, self._grace, self._rate = parts, grace, rate
        self._clock = asyncio.get_running_loop().time
        self._credit = grace

    def __aiter__(self) -> Self:
        """Returns the iterator itself."""
        return self

    async def __anext__(self) -> bytes:
        """Returns the next part."""
        # From here: time that the receiver spends on a part does not count.
        started = self._clock()
        # Fast parts earn credit, but no pause longer than `grace`.
        async with asyncio.timeout(min(self._credit, self._grace)):
            part = await anext(self._parts)
        self._credit += len(part) / self._rate - (self._clock() - started)
        return part
