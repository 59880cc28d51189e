"""Exact divergences of few shuffled messages, as arrays with one axis per message."""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from shuffledp.types import Floats


def shuffled(people: Sequence[Floats]) -> Floats:
    """The distribution of the messages of these people in uniformly random order.

    Args:
        people: What each sends, shape (messages,).
    """
    joint = np.ones(())
    for chances in people:
        joint = np.multiply.outer(joint, chances)
    orders = list(itertools.permutations(range(joint.ndim)))
    result: Floats = np.mean([joint.transpose(order) for order in orders], axis=0)
    return result


def with_victim(others: Floats, victim: Floats) -> Floats:
    """The distribution of n shuffled messages, given that of the n - 1 others'."""
    joint = np.multiply.outer(victim, others)
    places = range(joint.ndim)
    result: Floats = np.mean([np.moveaxis(joint, 0, place) for place in places], axis=0)
    return result


def divergence(first: Floats, second: Floats, epsilon: float) -> float:
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


def datasets(
    senders: Sequence[Floats], counts: Sequence[int]
) -> Iterator[list[Floats]]:
    """What the others send, for all their values; people of one level are alike.

    Args:
        senders: Per level, what is sent on each value, shape (values, messages).
        counts: People per level.
    """
    choices = [
        itertools.combinations_with_replacement(range(len(chances)), count)
        for chances, count in zip(senders, counts, strict=True)
    ]
    for values_by_level in itertools.product(*choices):
        yield [
            chances[value]
            for chances, values in zip(senders, values_by_level, strict=True)
            for value in values
        ]


def largest_shuffled_divergences(
    senders: Sequence[Floats],
    counts: Sequence[int],
    victim: int,
    epsilons: Sequence[float],
) -> Floats:
    """The maximum over all datasets and ordered pairs of the victim's values.

    Args:
        senders: Per level, what is sent on each value, shape (values, messages).
        counts: People per level, the victim included.
        victim: Position of her level.
        epsilons: Where the divergence is asked for.
    """
    others = [count - (level == victim) for level, count in enumerate(counts)]
    worst = np.zeros(len(epsilons))
    for people in datasets(senders, others):
        rest = shuffled(people)
        worlds = [with_victim(rest, chances) for chances in senders[victim]]
        for first, second in itertools.permutations(worlds, 2):
            found = [divergence(first, second, epsilon) for epsilon in epsilons]
            worst = np.maximum(worst, found)
    return worst
