"""Exact divergences of two protocols with the same people, over all data of both.

A protocol is a list of pairs of distributions: what is seen of it with one value of the
target user and with another, for every choice of everybody's other values.
"""

import itertools
import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from oracles.enumeration import (
    datasets_of_others,
    hockey_stick,
    response_density,
    sum_over_messages,
)
from shuffledp.types import Floats

Worlds: TypeAlias = list[tuple[Floats, Floats]]


def response_worlds(
    population: dict[float, int], target: float, num_categories: int
) -> Worlds:
    """Returns the pairs of shuffled k-ary response; levels travel apart."""
    levels = list(population)
    others = [population[level] - (level == target) for level in levels]
    worlds: Worlds = []
    for dataset in datasets_of_others(others, num_categories):
        histogram = np.zeros([sum(population.values()) + 1] * num_categories)
        histogram[(0,) * num_categories] = 1.0
        for level, value in dataset:
            density = response_density(levels[level], value, num_categories)
            histogram = sum_over_messages(histogram, density)
        ends = [
            sum_over_messages(histogram, response_density(target, v, num_categories))
            for v in range(num_categories)
        ]
        worlds += list(itertools.permutations(ends, 2))
    return worlds


def poisson(mean: float, cells: int) -> Floats:
    """Returns P(0), ..., P(cells - 1)."""
    logs = [z * math.log(mean) - mean - math.lgamma(z + 1) for z in range(cells)]
    return np.exp(logs)


def moved_message(mean: float, cells: int) -> Worlds:
    """Returns the pair of a message in one of two buckets with Poisson noise."""
    noise = poisson(mean, cells)
    shifted = np.append(0.0, noise[:-1])
    first = np.outer(shifted, noise)
    return [(first, first.T), (first.T, first)]


def joint_divergence(protocols: Sequence[Worlds], epsilon: float) -> float:
    """Returns the largest divergence of all that is seen, over all pairs of each."""
    worst = 0.0
    for pairs in itertools.product(*protocols):
        firsts, seconds = zip(*pairs, strict=True)
        worst = max(worst, hockey_stick(_product(firsts), _product(seconds), epsilon))
    return worst


def _product(distributions: Sequence[Floats]) -> Floats:
    result = np.ones(1)
    for distribution in distributions:
        result = np.multiply.outer(result, distribution.ravel()).ravel()
    return result
