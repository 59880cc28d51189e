"""Time of day, which the services read only for deadlines that operators set."""

import time

# Tolerance: network time may adjust a clock a little, and it is read a little late.
_JUMP_SECONDS = 5.0
_SETTLE_SECONDS = 60.0


def seconds_since_1970() -> float:
    """Returns the time of day of this machine in UTC."""
    return time.time()


def elapsed_seconds() -> float:
    """Returns seconds since an unknown moment, whatever the time of day is set to."""
    return time.monotonic()


def seconds_ahead(other: float, *, age: float = 0.0) -> float:
    """Returns how far another clock is ahead of this machine's, in seconds.

    Args:
        other: Its reading, in seconds since 1970 UTC.
        age: Seconds since the earliest moment at which it may have been read. A reading
            from then to now shows no difference.
    """
    ahead = other - time.time()
    return max(ahead, 0.0) + min(ahead + age, 0.0)


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
