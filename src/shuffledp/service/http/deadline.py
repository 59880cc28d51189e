"""A time that is set anew with every request, for less than a timer each."""

import asyncio
import math
from collections.abc import Callable


class Deadline:
    """Calls something once a time is over that was neither lifted nor set anew.

    The event loop is told of a time only if it does not look sooner anyway.

    Args:
        loop: The event loop.
        over: What is called.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, over: Callable[[], None]
    ) -> None:
        self._loop, self._over, self._due = loop, over, math.inf
        self._timer: asyncio.TimerHandle | None = None

    def within(self, seconds: float) -> None:
        """Sets it so many seconds from now."""
        self._due = self._loop.time() + seconds
        if self._timer is not None and self._timer.when() > self._due:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self._loop.call_at(self._due, self._look)

    def lift(self) -> None:
        """Gives as much time as is wanted, until it is set again."""
        self._due = math.inf

    def end(self) -> None:
        """Calls nothing any more."""
        self.lift()
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer = None
        if self._due <= self._loop.time():
            self._over()
        elif self._due < math.inf:
            self._timer = self._loop.call_at(self._due, self._look)
