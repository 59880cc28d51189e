"""Draws of a black box in a new process, and in forks of it.

The process imports no more than the box needs.
"""

import os
import pickle
import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError


def answer() -> None:
    """Reads a pickled box from stdin and writes its rows to stdout."""
    # Text that a box prints must not mix with the answer: stdout becomes stderr.
    out = os.dup(1)
    os.dup2(2, 1)
    # The module path first: to read the box, its module is imported.
    sys.path[:] = pickle.load(sys.stdin.buffer)
    target, values, levels = pickle.load(sys.stdin.buffer)

    def row() -> NDArray[np.uint64]:
        # Made after the fork: a copy of a generator would draw the same numbers.
        rng = np.random.default_rng()
        codes: NDArray[np.uint64] = target.draw(values, levels, rng=rng).codes()
        return codes

    rows = [row()]
    for _ in range(2):
        rows.append(np.frombuffer(_forked(row), dtype=np.uint64))
    # The process draws on after its forks, and must not repeat them either.
    rows.append(row())
    with os.fdopen(out, "wb") as stream:
        pickle.dump(rows, stream)


def _forked(row: Any) -> bytes:
    """Returns the row that a fork of this process draws."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        # Python warns of forks with threads, as BLAS has; the child never waits for them.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        # The child must never return into the caller's code, not even on an error.
        try:
            os.close(read)
            with os.fdopen(write, "wb") as stream:
                stream.write(row().tobytes())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        content = stream.read()
    os.waitpid(child, 0)
    if not content:
        raise InvalidInputError("Expected messages in a fork, got none.")
    return content
