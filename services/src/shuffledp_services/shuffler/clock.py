"""Time of day, which the services read only for deadlines that operators set."""

import time

# Tolerance: network time may adjust a clock a little, and it is read a little late.
_JUMP_SECONDS = 5.0
_SETTLE_SECONDS = 60.0


def seconds_since_1970() -> float:
    """Returns the time of day of this machine in UTC."""
    return time.time()


def seconds_ahead(other: float, *, since: float | None = None) -> float:
    """Returns how far another clock is ahead of this machine's, in seconds.

    Args:
        other: Its reading, in seconds since 1970 UTC.
        since: The earliest moment at which it was read, on this machine's clock; None if
            it was read just now. A reading between both moments shows no difference.
    """
    now = time.time()
    earliest = now if since is None else since
    return max(other - now, 0.0) + min(other - earliest, 0.0)


class DeadlineClock:
    """Withholds the time of day for a minute after it jumped.

    A jump is a difference between the seconds that passed on this clock and on the
    monotonic clock.
    """

    def __init__(self) -> None:
        self._ahead: float | None = None
        self._settled = float("-inf")

    def believed(self, now: float) -> float | None:
        """Returns the time of day; None for a minute after a jump.

        Args:
            now: In seconds since 1970 UTC, as read from this machine.
        """
        # Not changed when the time of day is set.
        elapsed = time.monotonic()
        before, self._ahead = self._ahead, now - elapsed
        if before is not None and abs(self._ahead - before) > _JUMP_SECONDS:
            self._settled = elapsed + _SETTLE_SECONDS
        return now if elapsed >= self._settled else None
