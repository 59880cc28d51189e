"""Exact divergences of small populations, between attack and certificate.

The shuffled messages of n users are a histogram over kinds of messages. Its distribution is
computed for all data of the other users and every pair of values of the target user (whose
privacy is certified); for vectors of bits, that of the counts of all coordinates that
differ. Where there are too many kinds, they are merged into a few.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from shuffledp.accounting.account import certify
from shuffledp.errors import CertificationError
from shuffledp.population import Population
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.testing.conformance import ConformanceFinding
from shuffledp.testing.distribution_table import (
    DistributionTable,
    merge_proportional_messages,
)
from shuffledp.types import Floats, Ints

ABOUT = "crowds"
# Numbers of users of the smallest and of the largest level.
_POPULATIONS = ((1, 1), (2, 1), (2, 2), (3, 2), (3, 3))
# Fewer populations suffice where merged messages give only a lower bound.
_FEWER_POPULATIONS = ((1, 1), (2, 2))
# Histograms of messages are listed one by one: their number grows with the kinds.
_MAX_KINDS, _FEW_KINDS = 8, 4
_MAX_VALUES = 6
# Number of histograms times number of data sets of the other users.
MAX_OUTCOMES = 400_000
# Bound on the rounding error of sums of doubles.
_ROUNDING = 1e-12


def check_small_populations(
    distributions: DistributionTable,
) -> Iterator[ConformanceFinding]:
    """Compares exact divergences with both bounds of `account`."""
    levels = (distributions.levels[0], distributions.levels[-1])
    table = distributions.probabilities[[0, -1]]
    is_complete = True
    if not distributions.one_coordinate:
        table, is_complete = reduce_table(table)
    sizes, tightest, strongest = [], math.inf, 0.0
    for pair in _POPULATIONS if is_complete else _FEWER_POPULATIONS:
        counts: tuple[int, ...] = pair if levels[0] < levels[1] else (sum(pair),)
        if num_outcomes(distributions, table, counts) > MAX_OUTCOMES:
            continue
        population = Population.from_counts(dict(zip(levels, counts, strict=False)))
        epsilons = [part * levels[-1] for part in (0.0, 0.1, 0.4, 0.8)]
        exact = exact_divergences(distributions, table, counts, np.array(epsilons))
        for epsilon, exact_deltas in zip(epsilons, exact.T.tolist(), strict=True):
            try:
                certified = certify(
                    SingleMessage(distributions.randomizer), population, epsilon=epsilon
                ).levels
            except CertificationError as error:
                yield ConformanceFinding(
                    ABOUT, f"of {population.num_users} people: {error}", False
                )
                return
            for level, exact_delta in zip(certified, exact_deltas, strict=True):
                upper, lower = level.delta_central, level.delta_central_lower
                if exact_delta > 1e-9:
                    tightest = min(tightest, upper / exact_delta)
                    strongest = max(strongest, lower / exact_delta)
                # A merged table is a lower bound only: attacks may exceed it.
                below = (
                    lower <= exact_delta * (1.0 + 1e-9) + _ROUNDING or not is_complete
                )
                if not (below and exact_delta <= upper * (1.0 + 1e-9) + _ROUNDING):
                    yield ConformanceFinding(
                        ABOUT,
                        f"of {population.num_users} people, at epsilon {epsilon:.6g}, "
                        f"the divergence of level {level.epsilon_local:g} is "
                        f"{exact_delta:.9g}, and not between attack {lower:.9g} and "
                        f"certificate {upper:.9g}.",
                        False,
                    )
                    return
        sizes.append(population.num_users)
    if not sizes:
        yield ConformanceFinding(
            ABOUT, "there are too many outcomes to enumerate.", None
        )
        return
    sizes_text = ", ".join(map(str, sizes))
    text = (
        f"of {sizes_text} people, the certificate is at least {tightest:.4g} times "
        "the truth"
    )
    if is_complete:
        text += f", and the attack at most {strongest:.4g} times"
    yield ConformanceFinding(ABOUT, text + ".", True)
    if not is_complete:
        yield ConformanceFinding(
            ABOUT,
            "attacks were not compared with the truth: messages or values were too many "
            "and were put together.",
            None,
        )


def reduce_table(table: Floats) -> tuple[Floats, bool]:
    """Returns a table with few values and kinds of messages, and whether none is lost."""
    is_complete = table.shape[1] <= _MAX_VALUES
    if not is_complete:
        # Both ends stay, as messages are grouped by their ratio below.
        indices = np.linspace(0, table.shape[1] - 1, _MAX_VALUES).round().astype(int)
        table = table[:, indices]
    if table.shape[2] <= 4096:
        table = merge_proportional_messages(table)
    if table.shape[2] <= _MAX_KINDS:
        return table, is_complete
    first, last = table[-1, 0], table[-1, -1]
    # Merging is postprocessing: the divergence only becomes smaller, and must not
    # exceed the certificate either.
    # Messages are grouped by their likelihood ratio between the first and the last value.
    share = first / np.maximum(first + last, 1e-300)
    kind = np.minimum((share * _FEW_KINDS).astype(np.int64), _FEW_KINDS - 1)
    groups = np.zeros((table.shape[2], _FEW_KINDS))
    groups[np.arange(table.shape[2]), kind] = 1.0
    return table @ groups, False


def num_outcomes(
    distributions: DistributionTable, table: Floats, counts: tuple[int, ...]
) -> float:
    """Returns the number of outcomes times the number of data sets of the others."""
    num_users = sum(counts)
    if distributions.one_coordinate:
        return float((num_users + 1) ** distributions.randomizer.changes)
    values, kinds = table.shape[1:]
    # Data sets and histograms are multisets, as the shuffle hides the order.
    num_data_sets = math.prod(math.comb(count + values - 1, count) for count in counts)
    return float(num_data_sets * math.comb(num_users + kinds - 1, num_users))


def exact_divergences(
    distributions: DistributionTable,
    table: Floats,
    counts: tuple[int, ...],
    epsilons: Floats,
) -> Floats:
    """Returns the largest divergences, shape (levels of the target user, epsilons)."""
    largest_divergences = np.zeros((len(counts), epsilons.size))
    for target in range(len(counts)):
        # The target user is one of the users of their own level.
        others = [count - (index == target) for index, count in enumerate(counts)]
        if distributions.one_coordinate:
            neighboring_distributions = _bit_count_distributions(
                distributions, table, target, others
            )
        else:
            neighboring_distributions = _histogram_distributions(table, target, others)
        for neighbors in neighboring_distributions:
            for first, second in itertools.permutations(neighbors, 2):
                excess = first - np.exp(epsilons)[:, None] * second
                divergence = np.maximum(excess, 0.0).sum(axis=1)
                largest_divergences[target] = np.maximum(
                    largest_divergences[target], divergence
                )
    return largest_divergences


def _histogram_distributions(
    table: Floats, target: int, others: list[int]
) -> Iterator[list[Floats]]:
    """Yields distributions, shape (histograms,), for each value of the target user."""
    values, kinds = table.shape[1:]
    successors = [_next_histograms(kinds, size) for size in range(sum(others) + 1)]
    choices = [
        itertools.combinations_with_replacement(range(values), count)
        for count in others
    ]
    for data_set in itertools.product(*choices):
        distribution = np.ones(1)
        users = [(level, value) for level, row in enumerate(data_set) for value in row]
        for size, (level, value) in enumerate(users):
            distribution = _add_message(
                distribution, table[level, value], successors[size]
            )
        yield [
            _add_message(distribution, probabilities, successors[-1])
            for probabilities in table[target]
        ]


def _next_histograms(kinds: int, size: int) -> Ints:
    """Returns the index of each histogram plus a message, shape (histograms, kinds)."""
    histograms = list(itertools.combinations_with_replacement(range(kinds), size))
    larger_histograms = itertools.combinations_with_replacement(range(kinds), size + 1)
    index = {histogram: number for number, histogram in enumerate(larger_histograms)}
    return np.array(
        [
            [index[tuple(sorted((*histogram, kind)))] for kind in range(kinds)]
            for histogram in histograms
        ]
    )


def _add_message(
    distribution: Floats, probabilities: Floats, successors: Ints
) -> Floats:
    """Returns the distribution of the histogram after one more message."""
    joint = distribution[:, None] * probabilities[None, :]
    return np.bincount(successors.ravel(), joint.ravel()).astype(np.float64)


def _bit_count_distributions(
    distributions: DistributionTable, table: Floats, target: int, others: list[int]
) -> Iterator[list[Floats]]:
    """Yields distributions of the counts of all coordinates in which x and x' differ.

    The others hold x, x' or, where it exists, a third value with zeros there.
    """
    half = distributions.randomizer.changes // 2
    patterns = [(1, 0), (0, 1)]
    if distributions.randomizer.has_third_value:
        patterns.append((0, 0))
    choices = [
        itertools.combinations_with_replacement(patterns, count) for count in others
    ]
    # The first row of a bit's table is that of a 1.
    ones = {1: table[:, 0, 1], 0: table[:, 1, 1]}
    for data_set in itertools.product(*choices):
        others_bits = [
            (level, bits) for level, row in enumerate(data_set) for bits in row
        ]
        counts = []
        for side in (0, 1):
            distribution = np.ones(1)
            for level, bits in others_bits:
                probability = ones[bits[side]][level]
                distribution = np.convolve(
                    distribution, [1.0 - probability, probability]
                )
            counts.append(distribution)
        neighbors = []
        for bits in patterns[:2]:
            distribution = np.ones(1)
            for side in (0, 1):
                probability = float(ones[bits[side]][target])
                coordinate = np.convolve(counts[side], [1.0 - probability, probability])
                # Independent coordinates have a product distribution; half of those
                # that differ have a 1 under x, the others under x'.
                for _ in range(half):
                    distribution = np.outer(distribution, coordinate).ravel()
            neighbors.append(distribution)
        yield neighbors
