"""Putting many distinct probabilities into few groups of similar ones."""

import numpy as np
from numpy.typing import NDArray

from shuffledp.types import Floats

MAX_GROUPS = 64


def group_indices(
    probabilities: Floats, num_groups: int | None = None
) -> NDArray[np.int64]:
    """Returns the group of each probability, in cells of equal width.

    Args:
        probabilities: At least one, shape (levels,).
        num_groups: How many cells there are; MAX_GROUPS if it is not said.
    """
    num_groups = MAX_GROUPS if num_groups is None else num_groups
    low, high = probabilities.min(), probabilities.max()
    # Equal probabilities have no width, and belong to one group.
    scale = num_groups / max(high - low, 1e-300)
    cells: NDArray[np.int64] = ((probabilities - low) * scale).astype(np.int64)
    np.minimum(cells, num_groups - 1, out=cells)
    return cells
