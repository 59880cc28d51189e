"""Bodies that come fast enough, or not at all."""

import asyncio
from collections.abc import AsyncIterator
from typing import Self


class Paced:
    """Iterates over the parts of a body while they come in time.

    Parts may stand still for `grace` seconds, and the whole body may be `grace` seconds
    late for so many bytes per second. What the receiver takes does not count.

    Raises:
        TimeoutError: On the way, if they do not.
    """

    def __init__(
        self, parts: AsyncIterator[bytes], *, grace: float, rate: float
    ) -> None:
        self._parts, self._grace, self._rate = parts, grace, rate
        self._clock = asyncio.get_running_loop().time
        self._credit = grace

    def __aiter__(self) -> Self:
        """Returns itself."""
        return self

    async def __anext__(self) -> bytes:
        """Returns the next part."""
        asked = self._clock()
        async with asyncio.timeout(min(self._credit, self._grace)):
            part = await anext(self._parts)
        self._credit += len(part) / self._rate - (self._clock() - asked)
        return part
