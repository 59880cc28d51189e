"""The time of day, which the services read for deadlines of an operator alone."""

import time


def seconds_since_1970() -> float:
    """Returns the time of day in UTC, as this machine knows it."""
    return time.time()
