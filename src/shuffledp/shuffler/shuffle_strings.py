"""The shuffler of filters: nobody learns who sent which bit, or which bits belong together.

People hide within their cohort. There, every bit of a report is shuffled apart from the
others, each in an order of its own: the analyst is left with how many ones each bit has.
Privacy levels travel in yet another order, or stay with each single bit.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import one_each
from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng, check_rng
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class StringReports:
    """What the devices hand to the shuffler, in the order of the people.

    Attributes:
        bits: Each person's randomized filter, shape (n, bits).
        cohorts: Each person's cohort, shape (n,).
        levels: Each person's privacy level in nats, shape (n,).
        linked: Whether bits keep their level on the way to the analyst.
    """

    bits: NDArray[np.bool_]
    cohorts: Ints
    levels: Floats
    linked: bool

    def __post_init__(self) -> None:
        _check(self.bits, self.cohorts, self.levels)


@dataclass(frozen=True, eq=False)
class ShuffledStringReports:
    """What the analyst sees: cohort after cohort, and no order within.

    Attributes:
        bits: Shape (n, bits). Those of one row come from different people.
        cohorts: Of every row, ascending, shape (n,).
        levels: Shape (n,). If `linked`, every bit of row i is somebody's at level i;
            otherwise the levels of a cohort are in a random order of their own.
        linked: See `levels`.
    """

    bits: NDArray[np.bool_]
    cohorts: Ints
    levels: Floats
    linked: bool

    def __post_init__(self) -> None:
        _check(self.bits, self.cohorts, self.levels)


def shuffle_strings(reports: StringReports, *, rng: Rng) -> ShuffledStringReports:
    """Shuffles every bit within its cohort, and within its level if that is linked.

    Args:
        reports: From `Strings.randomize`.
        rng: `SystemRandom()` where real people's order is hidden; a seeded NumPy
            generator where a simulation should be repeatable.
    """
    check_rng(rng)
    if not isinstance(reports, StringReports):
        raise InvalidInputError(
            f"Expected StringReports, got {type(reports).__name__}."
        )
    if reports.linked:
        order = np.lexsort((reports.levels, reports.cohorts))
    else:
        order = np.argsort(reports.cohorts, kind="stable")
    cohorts, levels = reports.cohorts[order], reports.levels[order]
    new = cohorts[1:] != cohorts[:-1]
    if reports.linked:
        new |= levels[1:] != levels[:-1]
    ends = [0, *(np.flatnonzero(new) + 1).tolist(), order.size]
    bits = np.empty_like(reports.bits, order="C")
    for start, end in itertools.pairwise(ends):
        # One row per bit while they are permuted: a bit's column is not contiguous.
        columns = np.ascontiguousarray(reports.bits[order[start:end]].T)
        for column in columns:
            column[:] = column[rng.permutation(end - start)]
        bits[start:end] = columns.T
        if not reports.linked:
            levels[start:end] = levels[start:end][rng.permutation(end - start)]
    return ShuffledStringReports(bits, cohorts, levels, reports.linked)


def _check(bits: NDArray[np.bool_], cohorts: Ints, levels: Floats) -> None:
    one_each(cohorts, levels, what="cohorts")
    if (
        not isinstance(bits, np.ndarray)
        or bits.dtype != np.bool_
        or bits.ndim != 2
        or bits.shape[0] != levels.size
    ):
        raise InvalidInputError("Expected one row of bits for each person's level.")
