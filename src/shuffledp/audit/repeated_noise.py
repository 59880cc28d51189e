"""Does a box draw the same again: called twice, started twice, or forked?

A generator with a fixed seed repeats itself after every start, one that is copied with its
process in every copy, and one that is made anew for each call in every call. Two runs of
such noise tell each other's values. So a box is asked for a row of messages about one
value, twice in a process, in two processes, and in two forks of one; two rows that agree
everywhere, though single messages vary, are no accident: if two messages about one value
are alike with chance c, rows of m are with chance c^m. What c is at most, the row itself
says, by Clopper and Pearson; m grows until c^m is small enough.

What can be asked in another process is a command, which is started twice, what can be
imported there as well, and a Python object that can be pickled; a command cannot be forked
from outside. Boxes that take `rng` are given a NumPy generator with a fresh seed there.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.audit.audit_result import SideCheck, SideCheckOutcome
from shuffledp.audit.confidence_bounds import probability_upper_bound
from shuffledp.audit.plan import AuditPlan
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
        target: What is audited.
        plan: Its first value and smallest level are asked about.
        alpha: The probability of a false alarm, of all checks together.
        rng: Given to boxes that take one, within this process.
    """
    with target.started() as box:
        for size in _SIZES:
            held = [plan.values[0]] * size
            array = as_array(held)
            asked = held if array is None else array
            levels = np.full(size, plan.levels[0])
            row = box.draw(asked, levels, rng=rng).codes()
            chance = _chance_of_agreement(row)
            if chance <= alpha / _COMPARISONS:
                break
        else:
            text = f"two rows of {size:,} messages may well agree: they hardly vary"
            for about in (AGAIN, RESTART, FORK):
                yield SideCheck(about, SideCheckOutcome.NOT_APPLICABLE, text)
            return
        again = box.draw(asked, levels, rng=rng).codes()
    yield _compared(AGAIN, row, again, chance)
    if not isinstance(target, CallableTarget):
        with target.started() as one:
            first = one.draw(asked, levels, rng=rng).codes()
        with target.started() as other:
            second = other.draw(asked, levels, rng=rng).codes()
        yield _compared(RESTART, first, second, chance)
        yield SideCheck(
            FORK, SideCheckOutcome.NOT_APPLICABLE, "a program cannot be forked here"
        )
        return
    try:
        runs = [_elsewhere(target, asked, levels) for _ in range(2)]
    except InvalidInputError as error:
        text = f"it cannot be asked in another process: {error}"
        yield SideCheck(RESTART, SideCheckOutcome.NOT_APPLICABLE, text)
        yield SideCheck(FORK, SideCheckOutcome.NOT_APPLICABLE, text)
        return
    yield _compared(RESTART, runs[0][0], runs[1][0], chance)
    # The process that was forked goes on, as its copies do.
    forks = runs[0][1:]
    pairs = [(0, 1), (0, 2), (1, 2)]
    same = [pair for pair in pairs if np.array_equal(forks[pair[0]], forks[pair[1]])]
    first, second = (forks[place] for place in (same or pairs)[0])
    yield _compared(FORK, first, second, chance)


def _chance_of_agreement(row: NDArray[np.uint64]) -> float:
    pairs = row.reshape(-1, 2)
    alike = int(np.count_nonzero(pairs[:, 0] == pairs[:, 1]))
    # That the bound itself fails is as rare as anything here is allowed to be.
    return float(probability_upper_bound(alike, len(pairs), 1e-9) ** row.size) + 1e-9


def _compared(
    about: str, one: NDArray[np.uint64], other: NDArray[np.uint64], chance: float
) -> SideCheck:
    alike = float(np.mean(one == other))
    text = f"{alike:.1%} of {one.size:,} messages agree"
    if alike == 1.0:
        text += f"; all would by accident with chance {chance:.1g} at most"
    return SideCheck(
        about, SideCheckOutcome.BROKEN if alike == 1.0 else SideCheckOutcome.FINE, text
    )


def _elsewhere(
    target: CallableTarget, values: Any, levels: Floats
) -> list[NDArray[np.uint64]]:
    """Returns rows of a new process: its first, those of two forks, and its next one."""
    # Where modules are found is needed before the box can be read.
    with expecting("a box that can be pickled"):
        question = pickle.dumps(sys.path) + pickle.dumps((target, values, levels))
    try:
        done = subprocess.run(
            [sys.executable, "-c", _START],
            input=question,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
    except subprocess.TimeoutExpired as error:
        raise InvalidInputError(f"it took more than {_SECONDS:g} seconds.") from error
    # A box may end its process as if all was well.
    if done.returncode or not done.stdout:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InvalidInputError(said[-1] if said else "it ended without a word.")
    rows: list[NDArray[np.uint64]] = pickle.loads(done.stdout)
    return rows
