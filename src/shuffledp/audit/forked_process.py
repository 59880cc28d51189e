"""What a box draws in a process of its own, and in forks of it.

Nothing is imported that a box does not bring along: it runs in as bare a process as can be.
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
    """Answers one question from the standard input, as a process of its own."""
    # What a box prints must not be taken for the answer.
    out = os.dup(1)
    os.dup2(2, 1)
    sys.path[:] = pickle.load(sys.stdin.buffer)
    target, values, levels = pickle.load(sys.stdin.buffer)

    def row() -> NDArray[np.uint64]:
        # Made in the process that draws: a copy of a generator would draw the same.
        rng = np.random.default_rng()
        codes: NDArray[np.uint64] = target.draw(values, levels, rng=rng).codes()
        return codes

    rows = [row()]
    for _ in range(2):
        rows.append(np.frombuffer(_forked(row), dtype=np.uint64))
    rows.append(row())
    with os.fdopen(out, "wb") as stream:
        pickle.dump(rows, stream)


def _forked(row: Any) -> bytes:
    """Returns what a copy of this process draws."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        # Libraries of numbers may have threads; the copy does not wait for them.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        # Whatever happens in the copy must not go on as if it were the original.
        try:
            os.close(read)
            with os.fdopen(write, "wb") as stream:
                stream.write(row().tobytes())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        found = stream.read()
    os.waitpid(child, 0)
    if not found:
        raise InvalidInputError("Expected messages in a fork, got none.")
    return found
