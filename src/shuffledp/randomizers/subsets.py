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
        is_chosen = np.zeros((num_sets, num_elements), dtype=np.bool_)
        rows = np.arange(num_sets)
        for last in range(num_elements - size, num_elements):
            drawn = rng.integers(0, last + 1, size=num_sets)
            is_chosen[rows, np.where(is_chosen[rows, drawn], last, drawn)] = True
        elements: NDArray[np.int64] = np.nonzero(is_chosen)[1]
        return elements.reshape(num_sets, size)
    columns = np.empty((size, num_sets), dtype=np.int64)
    for row, last in enumerate(range(num_elements - size, num_elements)):
        drawn = rng.integers(0, last + 1, size=num_sets)
        taken = (columns[:row] == drawn).any(axis=0)
        columns[row] = np.where(taken, last, drawn)
    return columns.T


def contained(
    anyone: Ints, holders: Ints, size: int, *, rng: np.random.Generator
) -> Ints:
    """Draws how many users' uniform sets contain each of the numbers 0, ..., k - 1.

    Args:
        anyone: How many users' sets are any of this size, shape (groups,).
        holders: How many users' sets must contain each number, shape (groups, k).
        size: Of all sets, from 1 to k.
        rng: A simulation's.

    Returns:
        Shape (groups, k).
    """
    groups, k = holders.shape
    # By the number of missing elements, and by the given number, if it is ahead.
    free = np.zeros((groups, size + 1), dtype=np.int64)
    bound = np.zeros((groups, size + 1, k), dtype=np.int64)
    free[:, size], bound[:, size] = anyone, holders
    lacks, counts = np.arange(size + 1), np.empty((groups, k), dtype=np.int64)
    for number in range(k):
        num_left, given_bound = k - number, bound[:, :, 0]
        # Of m remaining numbers, a set that lacks r contains the next with probability
        # r / m; if it must contain a given later number, (r - 1) / (m - 1).
        probability = np.minimum(lacks / num_left, 1.0)
        num_chosen = rng.binomial(free, probability)
        probability = np.clip((lacks - 1) / max(num_left - 1, 1), 0.0, 1.0)[:, None]
        ahead = bound[:, :, 1:]
        bound_chosen = rng.binomial(ahead, probability)
        counts[:, number] = (num_chosen + given_bound).sum(axis=1) + bound_chosen.sum(
            axis=(1, 2)
        )
        free = free - num_chosen + _one_less(num_chosen + given_bound)
        bound = ahead - bound_chosen + _one_less(bound_chosen)
    return counts


def _one_less(people: Ints) -> Ints:
    """Returns counts by missing elements, once each set has got one of them."""
    shifted = np.zeros_like(people)
    shifted[:, :-1] = people[:, 1:]
    return shifted


def _marks_elements(size: int, num_elements: int) -> bool:
    # Comparing with the elements so far costs size^2, marking them num_elements.
    return size * size > 4 * num_elements
