"""Deadline that is reset with every request, without one timer per request."""

import asyncio
import math
from collections.abc import Callable


class Deadline:
    """Calls a function when the deadline passes, unless it was cleared or set again.

    Args:
        loop: Event loop.
        over: Function to call.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, over: Callable[[], None]
    ) -> None:
        self._loop, self._over, self._due = loop, over, math.inf
        self._timer: asyncio.TimerHandle | None = None

    def set(self, seconds: float) -> None:
        """Sets the deadline to `seconds` from now."""
        self._due = self._loop.time() + seconds
        if self._timer is not None and self._timer.when() > self._due:
            self._timer.cancel()
            self._timer = None
        # A timer that fires earlier is kept: it checks the new deadline then.
        if self._timer is None:
            self._timer = self._loop.call_at(self._due, self._check)

    def clear(self) -> None:
        """Removes the deadline until it is set again."""
        self._due = math.inf

    def cancel(self) -> None:
        """Removes the deadline and its timer."""
        self.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _check(self) -> None:
        self._timer = None
        if self._due <= self._loop.time():
            self._over()
        elif self._due < math.inf:
            self._timer = self._loop.call_at(self._due, self._check)
