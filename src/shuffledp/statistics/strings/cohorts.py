"""Cohorts: groups of people who hash alike, and hide among one another.

Cohorts are public and independent of values: the i-th person of a level to arrive is in
cohort i mod num_cohorts. The order in which people arrive must have nothing to do with
their strings, or shares differ between cohorts and estimates are wrong.
"""

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.arguments import expect_instance
from shuffledp.arrays import level_array
from shuffledp.errors import PopulationError
from shuffledp.population import Population, check_budgets
from shuffledp.types import Ints


def cohorts_of(levels: ArrayLike, num_cohorts: int) -> Ints:
    """Returns each person's cohort, dealt evenly within each level, shape (n,).

    >>> cohorts_of([1.0, 0.5, 1.0, 1.0, 0.5], 2)
    array([0, 0, 1, 0, 1])

    Args:
        levels: Each person's privacy level, in the order of arrival, shape (n,).
        num_cohorts: How many there are.
    """
    epsilons = level_array(levels)
    check_budgets(epsilons)
    order = np.argsort(epsilons, kind="stable")
    ordered = epsilons[order]
    # Ranks of arrival within each level: the sort is stable.
    ranks = np.arange(order.size) - np.searchsorted(ordered, ordered)
    cohorts = np.empty(order.size, dtype=np.int64)
    cohorts[order] = ranks % num_cohorts
    return cohorts


def dealt_evenly(people: Population, num_cohorts: int) -> Ints:
    """Returns the people of each cohort and level, shape (cohorts, levels)."""
    expect_instance(people, Population)
    # Cohort c has ceil((n - c) / num_cohorts) of a level's n people: the first cohorts may
    # have one more than the last.
    last = np.arange(num_cohorts)[:, None]
    counts: Ints = (people.counts - last + num_cohorts - 1) // num_cohorts
    return counts


def smallest_cohort(people: Population, num_cohorts: int) -> Population:
    """Returns a population that every cohort contains at least.

    Raises:
        PopulationError: If a level has fewer people than there are cohorts.
    """
    expect_instance(people, Population)
    min_count = int(people.counts.min())
    if min_count < num_cohorts:
        raise PopulationError(
            f"Expected at least {num_cohorts} people at every level, one for each "
            f"cohort, got {min_count}."
        )
    return Population(people.epsilons, people.counts // num_cohorts)
