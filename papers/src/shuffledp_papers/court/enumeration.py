"""Exact divergence of finite mechanisms, from the distribution of all counts.

For dozens of users and up to four cells.
"""

import math

import numpy as np

from shuffledp.types import Floats
from shuffledp_papers.court.worlds import Worlds, hockey_stick

# Entries of the array of counts, 24 MB of doubles.
_LARGEST = 3_000_000


def enumerated_divergence(worlds: Worlds, epsilon: float) -> float:
    """Returns the exact divergence of the shuffled messages.

    Raises:
        ValueError: If there are too many users or cells.
    """
    distributions = count_distribution(worlds)
    first, second = (
        with_one_more(distributions, row) for row in (worlds.first, worlds.second)
    )
    return hockey_stick(first, second, epsilon)


def count_distribution(worlds: Worlds) -> Floats:
    """Returns P(counts of all cells except the last) of the others, one axis per cell."""
    cells, people = worlds.first.size, int(worlds.counts.sum())
    if (people + 2) ** (cells - 1) > _LARGEST:
        raise ValueError("Expected fewer people or cells.")
    # Users are added one at a time: all terms are positive, and digits are not lost.
    distribution = np.ones((1,) * (cells - 1))
    for row, count in zip(worlds.others, worlds.counts.tolist(), strict=True):
        for _ in range(count):
            distribution = with_one_more(distribution, row)
    return distribution


def with_one_more(distribution: Floats, probabilities: Floats) -> Floats:
    """Returns the distribution of the counts after one more message."""
    result = np.zeros([size + 1 for size in distribution.shape])
    stay = tuple(slice(0, size) for size in distribution.shape)
    # The last cell has no axis: its count follows from the number of users.
    result[stay] += probabilities[-1] * distribution
    for axis, probability in enumerate(probabilities[:-1]):
        shifted = list(stay)
        shifted[axis] = slice(1, distribution.shape[axis] + 1)
        result[tuple(shifted)] += probability * distribution
    return result


def response_worlds(
    num_categories: int, budgets: Floats, target_user: float, *, others_hold: int
) -> Worlds:
    """Returns k-ary response as counts of x, x', a third category, and all others.

    Args:
        num_categories: k >= 2.
        budgets: Budgets of the other users, shape (others,).
        target_user: The target user's budget.
        others_hold: The category that all others hold: 0 for x, 1 for x', 2 for another.
    """
    cells = min(num_categories, 4)

    def probabilities(budget: float, category: int) -> Floats:
        # 1 / (e^budget + k - 1), the probability of each other category.
        other = 1.0 / (math.expm1(budget) + num_categories)
        row = np.full(cells, other)
        # No user holds one of the remaining k - 3: merging them loses nothing.
        if cells == 4:
            row[3] = other * (num_categories - 3)
        row[category] = other * math.exp(budget)
        row /= row.sum()
        return row

    levels, counts = np.unique(budgets, return_counts=True)
    others = np.array([probabilities(level, others_hold) for level in levels.tolist()])
    return Worlds(
        probabilities(target_user, 0),
        probabilities(target_user, 1),
        others.reshape(-1, cells),
        counts,
    )
