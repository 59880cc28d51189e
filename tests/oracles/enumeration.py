"""Exact divergences of shuffled randomized response, by enumerating all datasets."""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from shuffledp.types import Floats


def response_density(epsilon: float, value: int, num_categories: int) -> Floats:
    """Returns the textbook density of k-ary randomized response."""
    weights = np.ones(num_categories)
    weights[value] = math.exp(epsilon)
    density: Floats = weights / weights.sum()
    return density


def datasets_of_others(
    counts: list[int], num_categories: int
) -> Iterator[list[tuple[int, int]]]:
    """Yields all lists of (level, value); people of one level are exchangeable."""
    choices = [
        itertools.combinations_with_replacement(range(num_categories), count)
        for count in counts
    ]
    for values_by_level in itertools.product(*choices):
        yield [
            (level, value)
            for level, values in enumerate(values_by_level)
            for value in values
        ]


def largest_divergences(
    population: dict[float, int],
    victim: float,
    epsilons: list[float],
    *,
    num_categories: int,
    levels_visible: bool = False,
) -> Floats:
    """Returns the maximum over all datasets and pairs of values, per epsilon.

    The pairs are ordered values of the target user. The output is the histogram of
    messages or, if levels travel with messages, one histogram per level: the same over an
    alphabet of (level, category).
    """
    levels = list(population)
    alphabet = num_categories * (len(levels) if levels_visible else 1)
    shape = [sum(population.values()) + 1] * num_categories
    if levels_visible:
        shape = [
            population[level] + 1 for level in levels for _ in range(num_categories)
        ]

    def message_density(level: int, value: int) -> Floats:
        density = response_density(levels[level], value, num_categories)
        letters = np.zeros(alphabet)
        start = num_categories * level if levels_visible else 0
        letters[start : start + num_categories] = density
        return letters

    others = [population[level] - (level == victim) for level in levels]
    worst = np.zeros(len(epsilons))
    for dataset in datasets_of_others(others, num_categories):
        histogram = np.zeros(shape)
        histogram[(0,) * alphabet] = 1.0
        for level, value in dataset:
            histogram = sum_over_messages(histogram, message_density(level, value))
        worlds = [
            sum_over_messages(histogram, message_density(levels.index(victim), value))
            for value in range(num_categories)
        ]
        for first, second in itertools.permutations(worlds, 2):
            deltas = [hockey_stick(first, second, epsilon) for epsilon in epsilons]
            worst = np.maximum(worst, deltas)
    return worst


def sum_over_messages(histogram: Floats, letters: Floats) -> Floats:
    """Returns the distribution of the histogram with one more person's message."""
    result = np.zeros_like(histogram)
    for letter in np.flatnonzero(letters):
        # Nothing wraps around: no count reaches the length of its axis.
        result += letters[letter] * np.roll(histogram, 1, axis=letter)
    return result


def hockey_stick(first: Floats, second: Floats, epsilon: float) -> float:
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


def coin_sum_distribution(probabilities: Floats) -> Floats:
    """Returns P(0), ..., P(n) of a sum of independent Bernoulli variables."""
    distribution = np.ones(1)
    for probability in probabilities:
        distribution = np.convolve(distribution, [1.0 - probability, probability])
    return distribution
