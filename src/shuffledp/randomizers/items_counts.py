"""The analyst's counts of a collection of sets, drawn without drawing any message.

Given the users of each target who hold each item, the number of messages per item is

    sum over targets of Binomial(holders, lambda)  +  blanket messages.

This is exactly the distribution of the counts, at a cost of d instead of n.
"""

import numpy as np
from numpy.typing import NDArray

from shuffledp.arguments import expect_instance
from shuffledp.arrays import int_array
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.items import ItemsRandomizer
from shuffledp.types import Floats, Ints

MAX_USERS = 10**10


def holders_by_target(
    sets: Ints, target_indices: Ints, *, num_targets: int, num_items: int
) -> NDArray[np.int64]:
    """Counts the people of each target who hold each item, shape (targets, d).

    Args:
        sets: Items, -1 for none, shape (n, s).
        target_indices: Each person's target, in [0, num_targets), shape (n,).
        num_targets: How many targets there are.
        num_items: d.

    Raises:
        InvalidInputError: If there is not one target per set, or one is out of range.
    """
    indices = int_array(target_indices, "targets")
    if sets.ndim != 2 or indices.size != sets.shape[0]:
        raise InvalidInputError("Expected one target per set.")
    if indices.size and (indices.min() < 0 or indices.max() >= num_targets):
        raise InvalidInputError(f"Expected targets in [0, {num_targets}).")
    counts = np.zeros((num_targets, num_items + 1), dtype=np.int64)
    rows = indices.astype(np.int64) * (num_items + 1)
    for column in range(sets.shape[1]):
        cells = np.bincount(rows + sets[:, column] + 1, minlength=counts.size)
        counts += cells.reshape(counts.shape)
    # The first column counts "no item".
    return counts[:, 1:]


def draw_counts(
    randomizer: ItemsRandomizer,
    holders: Ints,
    rates: Floats,
    *,
    num_users: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Draws the number of messages per item, shape (d,).

    Args:
        randomizer: The devices' randomizer.
        holders: People of each target who hold each item, shape (targets, d).
        rates: lambda of each target, in [0, 1], shape (targets,).
        num_users: How many people send blanket messages, n.
        rng: A simulation's generator.

    Raises:
        InvalidInputError: If shapes differ, or a number is out of range.
    """
    if not isinstance(rng, np.random.Generator):
        raise InvalidInputError("Expected rng to be numpy.random.default_rng(seed).")
    n = whole_number(num_users, "people", least=1, most=MAX_USERS)
    d = randomizer.num_items
    if holders.shape != (rates.size, d) or holders.dtype.kind not in "iu":
        raise InvalidInputError(f"Expected whole numbers of shape ({rates.size}, {d}).")
    if holders.min() < 0 or holders.sum(axis=0).max() > n:
        raise InvalidInputError(f"Expected 0 to {n} holders of every item.")
    if not np.all((rates >= 0.0) & (rates <= 1.0)):
        raise InvalidInputError("Expected sampling rates from 0 to 1.")
    # All are independent: a user with several items makes one draw for each.
    counts = rng.binomial(holders, rates[:, None]).sum(axis=0)
    distribution = randomizer.blanket_distribution()
    # How often each number occurs in n draws of N: only their sum is needed.
    people = rng.multinomial(n, distribution / distribution.sum())
    total = int(people @ np.arange(distribution.size))
    drawn: NDArray[np.int64] = counts + rng.multinomial(total, np.full(d, 1.0 / d))
    return drawn


def check_target_holders(holders: Ints, people: Population, num_items: int) -> None:
    """Raises InvalidInputError unless these are people of each target by item.

    Args:
        holders: Unvalidated numbers of people, (people.num_levels, num_items).
        people: How many people chose each target.
        num_items: d.
    """
    expect_instance(people, Population)
    if holders.shape != (people.num_levels, num_items):
        raise InvalidInputError(
            f"Expected whole numbers of people by target and item, of shape "
            f"({people.num_levels}, {num_items})."
        )
    if np.any(holders > people.counts[:, None]):
        raise InvalidInputError("Expected no more holders than people.")
