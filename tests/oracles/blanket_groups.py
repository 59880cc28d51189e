"""Shuffled messages of groups with blankets of their own, by enumeration.

Each other person of a group sends a message of the group's blanket with some probability,
and otherwise the value that they hold. Nothing is shared with the accountant.
"""

import itertools
import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def exact_divergence(
    groups: list[tuple[int, float, Floats, int]], pair: Floats, epsilon: float
) -> float:
    """Returns the divergence of the counts of three messages.

    Args:
        groups: People, probability of a blanket message, distribution of these over
            three messages, and the value that all of them hold, for each group.
        pair: The target's distributions at x and x', shape (2, 3).
        epsilon: >= 0.
    """
    size = sum(people for people, *_ in groups) + 2
    table = np.zeros((size, size))
    table[0, 0] = 1.0
    for people, gamma, blanket, value in groups:
        message = gamma * blanket + (1.0 - gamma) * np.eye(3)[value]
        for _ in range(people):
            table = _with_person(table, message)
    worlds = [_with_person(table, message) for message in pair]
    return float(np.maximum(worlds[0] - math.exp(epsilon) * worlds[1], 0.0).sum())


def poisson_divergence(means: Floats, pair: Floats, epsilon: float) -> float:
    """Returns the divergence among Poisson numbers of each message, by enumeration.

    Args:
        means: Of the number of each of three messages, shape (3,).
        pair: The target's distributions at x and x', shape (2, 3).
        epsilon: >= 0.
    """
    most = int(means.max() + 12.0 * math.sqrt(means.max()) + 12.0)
    numbers = np.arange(most)
    weights = [
        np.exp(numbers * math.log(m) - m - [math.lgamma(k + 1) for k in numbers])
        for m in means
    ]
    total = 0.0
    for counts in itertools.product(range(most), repeat=2):
        # As if the target had sent any of the messages.
        rows = [
            sum(target[i] * counts[i] / means[i] for i in range(2))
            + target[2] * numbers / means[2]
            for target in pair
        ]
        weight = weights[0][counts[0]] * weights[1][counts[1]] * weights[2]
        total += float(
            (weight * np.maximum(rows[0] - math.exp(epsilon) * rows[1], 0.0)).sum()
        )
    return total


def _with_person(table: Floats, message: Floats) -> Floats:
    result: Floats = message[2] * table
    result[1:] += message[0] * table[:-1]
    result[:, 1:] += message[1] * table[:, :-1]
    return result
