"""Simulated message counts of large populations, without one draw per user.

Ten billion users take milliseconds: users who hold the same value at the same level send
independent messages of one distribution, so that only their counts matter, which are
binomial or multinomial. Nothing is approximated; but this is for simulations: a binomial
number is drawn from probabilities rounded to doubles, whereas a device's draws are exact.
"""

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import level_array
from shuffledp.errors import InvalidInputError
from shuffledp.population import MAX_USERS, check_budgets
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints


def check_population(
    counts: Ints, epsilons: Floats, *, num_values: int, rng: Rng
) -> tuple[NDArray[np.int64], Floats]:
    """Validates and returns counts per level and value, and the levels' budgets.

    Args:
        counts: Unvalidated counts; expected shape (levels, values).
        epsilons: Local budgets, shape (levels,).
        num_values: How many values there are.
        rng: To be a NumPy generator.

    Raises:
        InvalidInputError: If shapes differ, there are not from 0 to MAX_USERS people at
            every level, a budget is out of range, or `rng` is no NumPy generator.
    """
    if not isinstance(rng, np.random.Generator):
        raise InvalidInputError(
            "Expected rng to be numpy.random.default_rng(seed): populations are drawn in "
            f"simulations only; got {type(rng).__name__}."
        )
    epsilons, people = level_array(epsilons), np.asarray(counts)
    check_budgets(epsilons)
    shape = (epsilons.size, num_values)
    if people.shape != shape or people.dtype.kind not in "iu":
        raise InvalidInputError(
            f"Expected whole numbers of people for {shape[0]} levels and {shape[1]} "
            f"values, got an array of shape {people.shape}, of type {people.dtype}."
        )
    # Sums of doubles: those of integers might be too large for one.
    if people.size and not (
        people.min() >= 0 and people.sum(axis=1, dtype=np.float64).max() <= MAX_USERS
    ):
        raise InvalidInputError(
            f"Expected from 0 to {MAX_USERS:g} people at every level."
        )
    return people.astype(np.int64), epsilons


def draw_multinomials(
    counts: Ints, weights: Floats, *, rng: np.random.Generator
) -> Ints:
    """Draws multinomial counts for each group, with the same probabilities.

    Args:
        counts: Users of each group, shape (groups,).
        weights: Probabilities of the outcomes, up to a factor, shape (outcomes,).
        rng: A simulation's.

    Returns:
        Shape (groups, outcomes).
    """
    # Groups are split in halves, and the halves again. Sums of neighboring weights keep all
    # digits of tiny weights, unlike 1 minus the sum of those already drawn.
    sums = [np.append(weights, np.zeros(-weights.size % _power_of_two(weights.size)))]
    while sums[-1].size > 1:
        sums.append(sums[-1][::2] + sums[-1][1::2])
    nodes: Ints = np.asarray(counts)[:, None]
    for parts in reversed(sums[:-1]):
        pair_masses = parts[::2] + parts[1::2]
        share = np.divide(
            parts[::2],
            pair_masses,
            out=np.zeros(pair_masses.size),
            where=pair_masses > 0.0,
        )
        nodes = halves(nodes, share, rng=rng)
    return nodes[:, : weights.size]


def halves(
    nodes: Ints, share: Floats | float, *, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Splits the users of each node into two halves by binomial draws.

    Args:
        nodes: Users in each, shape (..., nodes).
        share: Probability of the first half, a number or of shape (nodes,).
        rng: A simulation's.

    Returns:
        Shape (..., 2 nodes), halves beside each other.
    """
    first = rng.binomial(nodes, share)
    both_halves = np.stack([first, nodes - first], axis=-1)
    return both_halves.reshape(*nodes.shape[:-1], -1)


def exact_sums(messages: Ints, counts: Ints) -> tuple[int, int, int]:
    """Returns number, sum and sum of squares of messages with given counts.

    >>> exact_sums(np.array([-1, 10**12]), np.array([3, 10**9]))
    (1000000003, 999999999999999999997, 1000000000000000000000000000000003)

    Args:
        messages: Whole numbers, shape (kinds,).
        counts: How often each was sent, shape (kinds,); their sum is below 2^60.
    """
    num_messages = int(counts.sum())
    if not num_messages:
        return 0, 0, 0
    # Digits so short that no sum of two of them, over all messages, exceeds 63 bits.
    bits = (62 - num_messages.bit_length()) // 2
    minimum, digits = int(messages.min()), []
    remaining = messages.astype(np.int64) - minimum
    while remaining.any():
        digits.append(remaining & ((1 << bits) - 1))
        remaining = remaining >> bits
    total = squares = 0
    for i, digit in enumerate(digits):
        often = counts * digit
        total += int(often.sum()) << bits * i
        for j, other in enumerate(digits):
            squares += int(often @ other) << bits * (i + j)
    squares += 2 * minimum * total + minimum * minimum * num_messages
    return num_messages, total + minimum * num_messages, squares


def _power_of_two(size: int) -> int:
    return 1 << (size - 1).bit_length()
