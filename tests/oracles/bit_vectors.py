"""Vectors of bits, randomly flipped and shuffled apart, from the definitions.

Probabilities of a reported 1 are pairs: for a bit that is 1, and for a bit that is 0.
"""

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np

from oracles.enumeration import coin_sum_distribution, hockey_stick
from shuffledp.types import Floats

mp.mp.dps = 50
Pattern = tuple[int, ...]
Chances = tuple[float, float]


def one_hot(k: int) -> list[Pattern]:
    return [tuple(int(bit == value) for bit in range(k)) for value in range(k)]


def filters(num_bits: int, num_ones: int) -> list[Pattern]:
    return [
        tuple(int(bit in ones) for bit in range(num_bits))
        for ones in itertools.combinations(range(num_bits), num_ones)
    ]


def unary(level: float, variant: str) -> Chances:
    if variant == "symmetric":
        half = math.exp(level / 2.0)
        return half / (half + 1.0), 1.0 / (half + 1.0)
    return 0.5, 1.0 / (math.exp(level) + 1.0)


def bloom(level: float, hashes: int, q: float, p: float) -> Chances:
    f = 2.0 / (1.0 + math.exp(level / (2.0 * hashes)))
    mixed = f * (p + q) / 2.0
    return mixed + (1.0 - f) * q, mixed + (1.0 - f) * p


def law_of_counts(people: Sequence[tuple[Pattern, Chances]]) -> Floats:
    """Returns the joint distribution of the number of ones in every coordinate."""
    # Coordinates are independent, given the people's values.
    laws = []
    for coordinate in range(len(people[0][0])):
        ones = [chances[1 - pattern[coordinate]] for pattern, chances in people]
        laws.append(coin_sum_distribution(np.array(ones)))
    result: Floats = functools.reduce(np.multiply.outer, laws)
    return result


def largest_divergences(
    patterns: Sequence[Pattern],
    chances: Sequence[Chances],
    counts: Sequence[int],
    victim: int,
    epsilons: Sequence[float],
) -> Floats:
    """Returns the maximum over all datasets and ordered pairs of the target user's values.

    Args:
        patterns: The bits of each value.
        chances: Probabilities of each level.
        counts: People per level, the target user included.
        victim: Index of the target user's level.
        epsilons: Arguments of the divergence.
    """
    choices = [
        itertools.combinations_with_replacement(patterns, count - (level == victim))
        for level, count in enumerate(counts)
    ]
    worst = np.zeros(len(epsilons))
    for dataset in itertools.product(*choices):
        others = [
            (pattern, chances[level])
            for level, level_patterns in enumerate(dataset)
            for pattern in level_patterns
        ]
        worlds = [
            law_of_counts([*others, (pattern, chances[victim])]) for pattern in patterns
        ]
        for first, second in itertools.permutations(worlds, 2):
            deltas = [hockey_stick(first, second, epsilon) for epsilon in epsilons]
            worst = np.maximum(worst, deltas)
    return worst


def measured_budget(patterns: Sequence[Pattern], lost: float, stray: float) -> Any:
    """Returns the largest log-ratio of two values' reports, to fifty digits."""
    # Probabilities of 0 and 1 for a 0, and for a 1, in 50 digits from the start.
    lost, stray = mp.mpf(lost), mp.mpf(stray)
    sends = (1 - stray, stray), (lost, 1 - lost)

    def probability(report: Pattern, pattern: Pattern) -> Any:
        return mp.fprod(
            sends[bit][sent] for sent, bit in zip(report, pattern, strict=True)
        )

    reports = itertools.product((0, 1), repeat=len(patterns[0]))
    table = [
        [probability(report, pattern) for pattern in patterns] for report in reports
    ]
    return max(mp.log(max(row) / min(row)) for row in table)
