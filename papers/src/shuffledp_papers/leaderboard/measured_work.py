"""Run time and peak memory of one computation."""

import ctypes
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Cost:
    """Cost of a computation.

    Attributes:
        seconds: Of processor time, which other programs do not lengthen.
        megabytes: Resident memory at its peak above that at its beginning, in 10^6 bytes;
            None where the system does not tell.
    """

    seconds: float
    megabytes: float | None


def measured(work: Callable[[], T]) -> tuple[T, Cost]:
    """Returns the result of a computation and its cost.

    Results that an earlier computation has cached cost nothing.
    """
    before = _begin()
    start = time.process_time()
    result = work()
    seconds = time.process_time() - start
    megabytes = None
    if before is not None:
        megabytes = round(max(_resident("VmHWM") - before, 0.0) / 1e6, 1)
    return result, Cost(round(seconds, 4), megabytes)


def _begin() -> float | None:
    """Sets the peak back to the memory in use, which is returned; None elsewhere."""
    # Linux with glibc only. Freed memory that malloc keeps would hide what is used again;
    # 5 sets the peak back.
    try:
        ctypes.CDLL(None).malloc_trim(0)
        _RESET.write_text("5")
        return _resident("VmRSS")
    except (OSError, AttributeError, TypeError):
        return None


def _resident(name: str) -> float:
    match = re.search(rf"^{name}:\s*(\d+) kB$", _STATUS.read_text(), re.MULTILINE)
    if match is None:
        raise OSError(f"No {name} in {_STATUS}.")
    return 1024.0 * int(match[1])
