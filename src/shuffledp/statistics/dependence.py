"""Known values let a rehearsal see what an analyst cannot: do levels depend on them?

`analyzer.dependence` says how far off that puts an agnostic estimate; here the sums of
values at each level are counted that it needs. One number or one category per person and
any number of levels: where a table of levels and categories would be too large, levels are
first put into a hundred groups with about as many people in each.
"""

import numpy as np

from shuffledp.analyzer.dependence import Dependence, dependence
from shuffledp.population import Population
from shuffledp.types import Floats, Ints

# Sums per level and category that are kept at a time: 80 MB.
MAX_CELLS = 10**7
NUM_GROUPS = 100


def dependence_of_numbers(
    values: Floats, levels: Floats, *, people: Population, slopes: Floats
) -> Dependence:
    """Measures how far off levels put an agnostic estimate of a mean.

    Args:
        values: One number per person, shape (n,).
        levels: Each person's level, shape (n,).
        people: Who takes part.
        slopes: How strongly a message of each level follows its value, shape (levels,).
    """
    # Squares lose digits where values are far from 0.
    away = values - values.mean()
    indices = people.level_indices(levels)
    sums = np.zeros((people.num_levels, 1))
    np.add.at(sums[:, 0], indices, away)
    counts = people.counts.astype(np.float64)
    return dependence(slopes, counts, sums, np.array([away @ away]))


def dependence_of_categories(
    values: Ints,
    levels: Floats,
    *,
    num_categories: int,
    people: Population,
    slopes: Floats,
) -> Dependence:
    """Measures how far off levels put agnostic estimates of the shares of categories.

    Args:
        values: One category per person, in [0, num_categories), shape (n,).
        levels: Each person's level, shape (n,).
        num_categories: How many there are.
        people: Who takes part.
        slopes: How strongly a message of each level follows its value, shape (levels,).
    """
    indices = people.level_indices(levels)
    counts = people.counts.astype(np.float64)
    if people.num_levels * num_categories > MAX_CELLS:
        groups = _groups(counts)
        indices = groups[indices]
        together, total = np.zeros((2, NUM_GROUPS))
        np.add.at(together, groups, counts)
        np.add.at(total, groups, counts * slopes)
        together, total = together[together > 0], total[together > 0]
        slopes = total / together
        counts = together
    sums = np.bincount(
        indices * num_categories + values, minlength=counts.size * num_categories
    ).reshape(counts.size, num_categories)
    # The square of 0 or 1 is the number itself.
    held = sums.sum(axis=0).astype(np.float64)
    return dependence(slopes, counts, sums.astype(np.float64), held)


def dependence_of_sets(
    holders: Ints, *, people: Population, slopes: Floats
) -> Dependence:
    """Measures how far off levels put estimates of the shares of people who hold items.

    Args:
        holders: The people of each level who hold each item, shape (levels, items).
        people: Who takes part.
        slopes: Chance to send an item, of each level, shape (levels,).
    """
    sums = holders.astype(np.float64)
    # The square of 0 or 1 is the number itself.
    held = sums.sum(axis=0)
    return dependence(slopes, people.counts.astype(np.float64), sums, held)


def _groups(counts: Floats) -> Ints:
    """Returns each level's group, numbered without gaps, shape (levels,)."""
    middle = (np.cumsum(counts) - counts / 2.0) / counts.sum()
    _, groups = np.unique((middle * NUM_GROUPS).astype(np.int64), return_inverse=True)
    return groups
