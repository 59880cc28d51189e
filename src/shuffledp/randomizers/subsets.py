"""Uniformly random sets of a fixed size, many at a time.

Robert Floyd's algorithm: for j = k - w, ..., k - 1 draw t uniform in {0, ..., j} and add t
to the set, or j if t is in it already. Every set of w of the k numbers is equally likely,
and nothing is ever drawn again.

Source: Bentley, Floyd (1987), "A sample of brilliance", Communications of the ACM 30.
"""

import numpy as np
from numpy.typing import NDArray

from shuffledp.randomness import Rng
from shuffledp.types import Ints


def looked_at(size: int, num_elements: int) -> int:
    """Returns about how many entries per set `uniform_subsets` keeps in memory."""
    return num_elements if _marks_elements(size, num_elements) else size


def uniform_subsets(num_sets: int, size: int, num_elements: int, *, rng: Rng) -> Ints:
    """Draws sets of `size` of the numbers 0, ..., num_elements - 1.

    Returns:
        Shape (num_sets, size); the order within a row may depend on how it was drawn.
    """
    if _marks_elements(size, num_elements):
        chosen = np.zeros((num_sets, num_elements), dtype=np.bool_)
        rows = np.arange(num_sets)
        for last in range(num_elements - size, num_elements):
            drawn = rng.integers(0, last + 1, size=num_sets)
            chosen[rows, np.where(chosen[rows, drawn], last, drawn)] = True
        elements: NDArray[np.int64] = np.nonzero(chosen)[1]
        return elements.reshape(num_sets, size)
    found = np.empty((size, num_sets), dtype=np.int64)
    for place, last in enumerate(range(num_elements - size, num_elements)):
        drawn = rng.integers(0, last + 1, size=num_sets)
        taken = (found[:place] == drawn).any(axis=0)
        found[place] = np.where(taken, last, drawn)
    return found.T


def _marks_elements(size: int, num_elements: int) -> bool:
    # Comparing with the elements so far costs size^2, marking them num_elements.
    return size * size > 4 * num_elements
