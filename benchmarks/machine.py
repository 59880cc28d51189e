"""Description of the machine, and measurement of peak memory."""

import multiprocessing
import os
import platform
import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

import numpy
import scipy

Result = TypeVar("Result")


def describe() -> str:
    """Returns one line about machine and versions."""
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}, NumPy {numpy.__version__}, "
        f"SciPy {scipy.__version__}"
    )


def isolated(
    function: Callable[..., Result], *arguments: object
) -> tuple[Result, float]:
    """Runs a function in a fresh process; returns its result and peak memory in MB."""
    context = multiprocessing.get_context("spawn")
    # Not a daemon: the function may start processes of its own.
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        result = pool.submit(function, *arguments).result()
        peak = pool.submit(_peak_megabytes).result()
    return result, peak


def _peak_megabytes() -> float:
    # Linux reports kilobytes, macOS bytes.
    unit = 2**20 if platform.system() == "Darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
