"""Sums of known values at each level, from which a rehearsal measures dependence.

An analyst, who does not know the values, cannot tell whether levels depend on them.
`analyzer.dependence` turns these sums into the bias of an agnostic estimate. One number or
one category per person, and any number of levels.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.analyzer.dependence import Dependence, dependence
from shuffledp.population import Population
from shuffledp.types import Floats, Ints

# Sums per level and category that are kept at a time: 80 MB.
MAX_CELLS = 10**7
NUM_GROUPS = 100


def overflow_free_mean(values: Floats) -> float:
    """Returns the mean of numbers whose sum may be no double.

    >>> overflow_free_mean(np.array([1.5e308, 1.5e308]))
    1.5e+308
    """
    exponent = _exponent(values)
    return float(np.ldexp(np.ldexp(values, -exponent).mean(), exponent))


def dependence_of_numbers(
    values: Floats, levels: Floats, *, people: Population, slopes: Floats
) -> Dependence:
    """Measures the bias of an agnostic estimate of a mean if levels depend on values.

    Args:
        values: One number per person, shape (n,).
        levels: Each person's level, shape (n,).
        people: The population that takes part.
        slopes: How strongly a message of each level follows its value, shape (levels,).
    """
    exponent = _exponent(values)
    scaled_values = np.ldexp(values, -exponent)
    # Centered first: squares lose digits where values are far from 0.
    deviations = scaled_values - scaled_values.mean()
    indices = people.level_indices(levels)
    sums = np.zeros((people.num_levels, 1))
    np.add.at(sums[:, 0], indices, deviations)
    counts = people.counts.astype(np.float64)
    scaled = dependence(slopes, counts, sums, np.array([deviations @ deviations]))
    return Dependence(np.ldexp(scaled.bias, exponent), scaled.p_value)


def _exponent(values: Floats) -> int:
    """Returns the exponent of a power of two that brings numbers to at most 1."""
    # Such a unit changes no digit; sums and squares of the numbers may overflow.
    _, exponent = np.frexp(np.abs(values).max())
    return int(exponent)


def dependence_of_categories(
    values: Ints,
    levels: Floats,
    *,
    num_categories: int,
    people: Population,
    slopes: Floats,
) -> Dependence:
    """Measures the bias of agnostic shares of categories if levels depend on values.

    Args:
        values: One category per person, in [0, num_categories), shape (n,).
        levels: Each person's level, shape (n,).
        num_categories: How many there are.
        people: The population that takes part.
        slopes: How strongly a message of each level follows its value, shape (levels,).
    """
    # A table of all levels and categories may be too large for memory.
    groups = LevelGroups.of(people, most=MAX_CELLS // num_categories)
    people.level_indices(levels)  # Raises on a level that the population lacks.
    holders = holders_of(
        values, groups.group_indices(levels), groups.num_groups, num_categories
    )
    return dependence_of_holders(holders, groups=groups, people=people, slopes=slopes)


def holders_of(
    values: Ints, group_indices: Ints, num_groups: int, num_categories: int
) -> NDArray[np.int64]:
    """Returns how many people of each group hold each category, (groups, categories).

    Args:
        values: One category per person, in [0, num_categories), shape (n,).
        group_indices: Each person's group, shape (n,).
        num_groups: How many groups there are.
        num_categories: How many categories there are.
    """
    cells = np.bincount(
        group_indices * num_categories + values, minlength=num_groups * num_categories
    )
    return cells.reshape(num_groups, num_categories).astype(np.int64)


def dependence_of_holders(
    holders: NDArray[np.int64],
    *,
    groups: "LevelGroups",
    people: Population,
    slopes: Floats,
) -> Dependence:
    """Measures the bias of agnostic shares of categories if levels depend on values.

    Args:
        holders: From `holders_of`, or sums of several of these.
        groups: Of the levels.
        people: The population that takes part.
        slopes: How strongly a message of each level follows its value, shape (levels,).
    """
    group_people, group_slopes = groups.averages(slopes, people)
    sums = holders.astype(np.float64)
    # The square of 0 or 1 is the number itself.
    return dependence(group_slopes, group_people, sums, sums.sum(axis=0))


def dependence_of_sets(
    holders: Ints, *, people: Population, slopes: Floats
) -> Dependence:
    """Measures the bias of shares of items if targets depend on sets.

    Args:
        holders: The people of each level who hold each item, shape (levels, items).
        people: The population that takes part.
        slopes: Probability to send an item, of each level, shape (levels,).
    """
    sums = holders.astype(np.float64)
    # The square of 0 or 1 is the number itself.
    square_sums = sums.sum(axis=0)
    return dependence(slopes, people.counts.astype(np.float64), sums, square_sums)


@dataclass(frozen=True, eq=False)
class LevelGroups:
    """Levels, or a hundred groups of neighboring ones with about as many people in each.

    Attributes:
        starts: The smallest level of each group, ascending, shape (groups,).
    """

    starts: Floats

    @classmethod
    def of(cls, people: Population, *, most: int) -> "LevelGroups":
        """Returns a group for each level, unless these were more than `most`."""
        if people.num_levels <= most:
            return cls(people.epsilons)
        # Grouped by the rank of a level's middle person, groups have about as many people.
        counts = people.counts.astype(np.float64)
        middle = (np.cumsum(counts) - counts / 2.0) / counts.sum()
        _, first = np.unique((middle * NUM_GROUPS).astype(np.int64), return_index=True)
        return cls(people.epsilons[first])

    @property
    def num_groups(self) -> int:
        """How many there are."""
        return int(self.starts.size)

    def group_indices(self, levels: Floats) -> Ints:
        """Returns the group of each of some people's levels, shape as `levels`."""
        return np.searchsorted(self.starts, levels, side="right") - 1

    def averages(self, slopes: Floats, people: Population) -> tuple[Floats, Floats]:
        """Returns the people of each group, and their average slope, both (groups,)."""
        counts = people.counts.astype(np.float64)
        if self.num_groups == people.num_levels:
            return counts, slopes
        group_indices = self.group_indices(people.epsilons)
        group_people, total = np.zeros((2, self.num_groups))
        np.add.at(group_people, group_indices, counts)
        np.add.at(total, group_indices, counts * slopes)
        return group_people, total / group_people
