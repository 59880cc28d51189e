"""The time of day, which the services read for deadlines of an operator alone."""

import time

# Clocks that are set by a network may be moved a little, and are read a little late.
_JUMP_SECONDS = 5.0
_SETTLE_SECONDS = 60.0


def seconds_since_1970() -> float:
    """Returns the time of day in UTC, as this machine knows it."""
    return time.time()


def seconds_ahead(other: float) -> float:
    """Returns how far another clock is ahead of this machine's, in seconds.

    Args:
        other: What it shows, in seconds since 1970 UTC.
    """
    return other - time.time()


class DeadlineClock:
    """Holds a time of day back that jumped, until it has not for a minute.

    It jumps when it goes on by another number of seconds than a clock that nobody sets.
    """

    def __init__(self) -> None:
        self._ahead: float | None = None
        self._settled = float("-inf")

    def believed(self, now: float) -> float | None:
        """Returns the time of day; None while it is not believed.

        Args:
            now: In seconds since 1970 UTC, as this machine knows it.
        """
        elapsed = time.monotonic()
        before, self._ahead = self._ahead, now - elapsed
        if before is not None and abs(self._ahead - before) > _JUMP_SECONDS:
            self._settled = elapsed + _SETTLE_SECONDS
        return now if elapsed >= self._settled else None
