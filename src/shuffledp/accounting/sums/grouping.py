"""Putting many distinct probabilities into few groups of similar ones.

A population may have a hundred million levels. Sums over a group are taken one block of
levels after the other, in the order of the levels: the same additions as over all of
them at once, to the last bit, without arrays as long as the population.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shuffledp.types import Floats

# Narrower groups need fewer terms of a series, and each takes a column of its sums.
MAX_GROUPS = 64

# Levels at a time, which stay in a processor's cache.
_BLOCK = 1 << 15


def group_indices(probabilities: Floats, num_groups: int) -> NDArray[np.int64]:
    """Returns the group of each probability, in cells of equal width.

    Args:
        probabilities: At least one, shape (levels,).
        num_groups: How many cells there are.
    """
    ends = float(probabilities.min()), float(probabilities.max())
    return _group_indices(probabilities, ends, num_groups)


def grouped_blocks(
    probabilities: Floats, num_groups: int = MAX_GROUPS, *, narrow_near_0: bool = False
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Gives where each block of levels is, and the group of each of its probabilities.

    Args:
        probabilities: At least one, shape (levels,).
        num_groups: How many cells there are.
        narrow_near_0: Whether not probabilities but their square roots are put into cells
            of equal width.
    """
    ends = float(probabilities.min()), float(probabilities.max())
    if narrow_near_0:
        ends = math.sqrt(ends[0]), math.sqrt(ends[1])
    for start in range(0, probabilities.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        grouped = probabilities[block]
        if narrow_near_0:
            grouped = np.sqrt(grouped)
        yield block, _group_indices(grouped, ends, num_groups)


def _group_indices(
    probabilities: Floats, ends: tuple[float, float], num_groups: int
) -> NDArray[np.int64]:
    low, high = ends
    # Equal probabilities have no width, and belong to one group.
    scale = num_groups / max(high - low, 1e-300)
    cells: NDArray[np.int64] = ((probabilities - low) * scale).astype(np.int64)
    # Roots are rounded, and may lie just below the lower end.
    np.clip(cells, 0, num_groups - 1, out=cells)
    return cells
