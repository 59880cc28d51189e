"""Exact divergences of few shuffled messages, as arrays with one axis per message."""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from shuffledp.types import Floats


def shuffled(people: Sequence[Floats]) -> Floats:
    """Returns the distribution of these people's messages in uniformly random order.

    Args:
        people: Each person's distribution of messages, shape (messages,).
    """
    joint = np.ones(())
    for probabilities in people:
        joint = np.multiply.outer(joint, probabilities)
    orders = list(itertools.permutations(range(joint.ndim)))
    result: Floats = np.mean([joint.transpose(order) for order in orders], axis=0)
    return result


def with_victim(others: Floats, victim: Floats) -> Floats:
    """Returns the distribution of n shuffled messages, given that of n - 1 others."""
    joint = np.multiply.outer(victim, others)
    axes = range(joint.ndim)
    result: Floats = np.mean([np.moveaxis(joint, 0, axis) for axis in axes], axis=0)
    return result


def divergence(first: Floats, second: Floats, epsilon: float) -> float:
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


def datasets(
    senders: Sequence[Floats], counts: Sequence[int]
) -> Iterator[list[Floats]]:
    """Yields the other users' distributions, for all their values.

    People of one level are exchangeable.

    Args:
        senders: Message probabilities per level, shape (values, messages).
        counts: People per level.
    """
    choices = [
        itertools.combinations_with_replacement(range(len(probabilities)), count)
        for probabilities, count in zip(senders, counts, strict=True)
    ]
    for values_by_level in itertools.product(*choices):
        yield [
            probabilities[value]
            for probabilities, values in zip(senders, values_by_level, strict=True)
            for value in values
        ]


def largest_shuffled_divergences(
    senders: Sequence[Floats],
    counts: Sequence[int],
    victim: int,
    epsilons: Sequence[float],
) -> Floats:
    """Returns the maximum over all datasets and pairs of the target user's values.

    Args:
        senders: Message probabilities per level, shape (values, messages).
        counts: People per level, the target user included.
        victim: Index of the target user's level.
        epsilons: Arguments of the divergence.
    """
    others = [count - (level == victim) for level, count in enumerate(counts)]
    worst = np.zeros(len(epsilons))
    for people in datasets(senders, others):
        shuffled_others = shuffled(people)
        worlds = [
            with_victim(shuffled_others, probabilities)
            for probabilities in senders[victim]
        ]
        for first, second in itertools.permutations(worlds, 2):
            deltas = [divergence(first, second, epsilon) for epsilon in epsilons]
            worst = np.maximum(worst, deltas)
    return worst
