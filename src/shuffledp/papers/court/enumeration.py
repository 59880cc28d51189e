"""Finite mechanisms, solved exactly: the law of how many messages name each cell.

People are added one at a time, each to the cell of her message: all terms are positive,
so that every probability keeps its digits. For dozens of people and up to four cells.
"""

import math

import numpy as np

from shuffledp.papers.court.worlds import Worlds, hockey_stick
from shuffledp.types import Floats

_LARGEST = 3_000_000


def enumerated_divergence(worlds: Worlds, epsilon: float) -> float:
    """Returns the exact divergence of the shuffled messages.

    Raises:
        ValueError: If there are too many people or cells for it.
    """
    laws = count_law(worlds)
    first, second = (with_one_more(laws, row) for row in (worlds.first, worlds.second))
    return hockey_stick(first, second, epsilon)


def count_law(worlds: Worlds) -> Floats:
    """Returns P(counts of all cells but the last) of the others, one axis per cell."""
    cells, people = worlds.first.size, int(worlds.counts.sum())
    if (people + 2) ** (cells - 1) > _LARGEST:
        raise ValueError("Expected fewer people or cells.")
    law = np.ones((1,) * (cells - 1))
    for row, count in zip(worlds.others, worlds.counts.tolist(), strict=True):
        for _ in range(count):
            law = with_one_more(law, row)
    return law


def with_one_more(law: Floats, chances: Floats) -> Floats:
    """Returns the law of the counts after one more message."""
    result = np.zeros([size + 1 for size in law.shape])
    stay = tuple(slice(0, size) for size in law.shape)
    # The last cell has no axis: the number of people tells its count.
    result[stay] += chances[-1] * law
    for axis, chance in enumerate(chances[:-1]):
        place = list(stay)
        place[axis] = slice(1, law.shape[axis] + 1)
        result[tuple(place)] += chance * law
    return result


def response_worlds(
    num_categories: int, budgets: Floats, victim: float, *, others_hold: int
) -> Worlds:
    """Returns k-ary response, seen as counts of x, x', one more category, and the rest.

    Args:
        num_categories: k >= 2.
        budgets: Of the others, one each, shape (others,).
        victim: Her budget.
        others_hold: The category that all others hold: 0 for x, 1 for x', 2 for another.
    """
    cells = min(num_categories, 4)

    def chances(budget: float, held: int) -> Floats:
        rest = 1.0 / (math.expm1(budget) + num_categories)
        row = np.full(cells, rest)
        if cells == 4:
            row[3] = rest * (num_categories - 3)
        row[held] = rest * math.exp(budget)
        row /= row.sum()
        return row

    levels, counts = np.unique(budgets, return_counts=True)
    others = np.array([chances(level, others_hold) for level in levels.tolist()])
    return Worlds(
        chances(victim, 0), chances(victim, 1), others.reshape(-1, cells), counts
    )
