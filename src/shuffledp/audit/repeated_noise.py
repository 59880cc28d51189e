"""Test for noise that repeats between calls, starts and forks.

A generator with a fixed seed repeats after every start, one that is copied with its process
in every fork, and one that is seeded in each call in every call. Two runs with the same
noise reveal each other's values. So the test draws rows of messages about one value, twice
in a process, in two processes, and in two forks of one; rows are so long that they hardly
agree by accident.

Other processes can run a command, which is started twice, an importable object, and a
Python object that can be pickled; a command cannot be forked from outside. Boxes that take
`rng` get a NumPy generator with a fresh seed there.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.audit.audit_plan import AuditPlan
from shuffledp.audit.audit_result import SideCheck, SideCheckOutcome
from shuffledp.audit.confidence_bounds import probability_upper_bound
from shuffledp.audit.target import CallableTarget, Target, as_array
from shuffledp.errors import InvalidInputError
from shuffledp.extension_loading import expecting
from shuffledp.randomness import Rng
from shuffledp.types import Floats

AGAIN = "the same messages in the next call"
RESTART = "the same messages after a restart"
FORK = "the same messages in two forks"
_SIZES = (256, 4096, 65_536)
# Two calls, two starts, and each pair of a forked process and its two copies.
_COMPARISONS = 5
_SECONDS = 120.0
_START = "from shuffledp.audit.forked_process import answer; answer()"


def repeats(
    target: Target, plan: AuditPlan, *, alpha: float, rng: Rng
) -> Iterator[SideCheck]:
    """Compares rows of messages that must not agree.

    Args:
        target: The audited box.
        plan: The rows are about its first value and smallest level.
        alpha: The probability of a false alarm, of all checks together.
        rng: Passed to boxes that take one, within this process.
    """
    with target.started() as box:
        # Rows grow until two of them hardly ever agree by accident.
        for size in _SIZES:
            values = [plan.values[0]] * size
            array = as_array(values)
            queried = values if array is None else array
            levels = np.full(size, plan.levels[0])
            row = box.draw(queried, levels, rng=rng).codes()
            probability = _probability_of_agreement(row)
            if probability <= alpha / _COMPARISONS:
                break
        else:
            text = f"two rows of {size:,} messages may well agree: they hardly vary"
            for about in (AGAIN, RESTART, FORK):
                yield SideCheck(about, SideCheckOutcome.NOT_APPLICABLE, text)
            return
        again = box.draw(queried, levels, rng=rng).codes()
    yield _repetition_check(AGAIN, row, again, probability)
    if not isinstance(target, CallableTarget):
        with target.started() as running:
            first = running.draw(queried, levels, rng=rng).codes()
        with target.started() as other:
            second = other.draw(queried, levels, rng=rng).codes()
        yield _repetition_check(RESTART, first, second, probability)
        yield SideCheck(
            FORK, SideCheckOutcome.NOT_APPLICABLE, "a program cannot be forked here"
        )
        return
    try:
        runs = [_elsewhere(target, queried, levels) for _ in range(2)]
    except InvalidInputError as error:
        text = f"it cannot be asked in another process: {error}"
        yield SideCheck(RESTART, SideCheckOutcome.NOT_APPLICABLE, text)
        yield SideCheck(FORK, SideCheckOutcome.NOT_APPLICABLE, text)
        return
    yield _repetition_check(RESTART, runs[0][0], runs[1][0], probability)
    # The forked process draws on, too: any two of its row and its forks' may agree.
    forks = runs[0][1:]
    pairs = [(0, 1), (0, 2), (1, 2)]
    same = [pair for pair in pairs if np.array_equal(forks[pair[0]], forks[pair[1]])]
    first, second = (forks[index] for index in (same or pairs)[0])
    yield _repetition_check(FORK, first, second, probability)


def _probability_of_agreement(row: NDArray[np.uint64]) -> float:
    # If two messages are alike with probability c, rows of m agree with probability
    # c^m. Pairs of neighbors give an upper bound of c (Clopper, Pearson).
    pairs = row.reshape(-1, 2)
    num_equal = int(np.count_nonzero(pairs[:, 0] == pairs[:, 1]))
    # The added 1e-9 is the probability that the bound of c itself fails.
    return (
        float(probability_upper_bound(num_equal, len(pairs), 1e-9) ** row.size) + 1e-9
    )


def _repetition_check(
    about: str, row: NDArray[np.uint64], other: NDArray[np.uint64], probability: float
) -> SideCheck:
    equal_share = float(np.mean(row == other))
    text = f"{equal_share:.1%} of {row.size:,} messages agree"
    if equal_share == 1.0:
        text += f"; all would by accident with probability {probability:.1g} at most"
    return SideCheck(
        about,
        SideCheckOutcome.BROKEN if equal_share == 1.0 else SideCheckOutcome.FINE,
        text,
    )


def _elsewhere(
    target: CallableTarget, values: Any, levels: Floats
) -> list[NDArray[np.uint64]]:
    """Returns rows of a new process: its first, those of two forks, and its next."""
    # The child needs the module path before it can unpickle the box.
    with expecting("a box that can be pickled"):
        question = pickle.dumps(sys.path) + pickle.dumps((target, values, levels))
    try:
        process = subprocess.run(
            [sys.executable, "-c", _START],
            input=question,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            # The new process imports this package before it reads the question.
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
    except subprocess.TimeoutExpired as error:
        raise InvalidInputError(f"it took more than {_SECONDS:g} seconds.") from error
    # A box may end its process with exit code 0 and no output.
    if process.returncode or not process.stdout:
        error_lines = process.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InvalidInputError(
            error_lines[-1] if error_lines else "it ended without a word."
        )
    rows: list[NDArray[np.uint64]] = pickle.loads(process.stdout)
    return rows
