"""Small crowds, all of their outcomes: is the truth between attack and certificate?

The shuffled messages of n people are a histogram over kinds of messages. Its law is
computed for everything the others may hold and every pair of the victim's values. Where
there are too many kinds, messages are put together into a few: what an adversary sees of
these is less, and must not exceed the certificate either. Of vectors of bits, what the
coordinates that differ show is enumerated together.
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
# People of the smallest and of the largest level.
_CROWDS = ((1, 1), (2, 1), (2, 2), (3, 2), (3, 3))
# Where the truth is known in part only, fewer of them say as much.
_FEW_CROWDS = ((1, 1), (2, 2))
_MOST_KINDS, _FEW_KINDS = 8, 4
_MOST_VALUES = 6
# Histograms times what the others may hold.
MAX_OUTCOMES = 400_000
# Of sums of doubles.
_ROUNDING = 1e-12


def check_small_populations(subject: DistributionTable) -> Iterator[ConformanceFinding]:
    """Compares exact divergences with both bounds of `account`."""
    levels = (subject.levels[0], subject.levels[-1])
    table = subject.table[[0, -1]]
    whole = True
    if not subject.one_coordinate:
        table, whole = reduce_table(table)
    sizes, tightest, strongest = [], math.inf, 0.0
    for pair in _CROWDS if whole else _FEW_CROWDS:
        counts: tuple[int, ...] = pair if levels[0] < levels[1] else (sum(pair),)
        if num_outcomes(subject, table, counts) > MAX_OUTCOMES:
            continue
        people = Population.from_counts(dict(zip(levels, counts, strict=False)))
        epsilons = [part * levels[-1] for part in (0.0, 0.1, 0.4, 0.8)]
        exact = exact_divergences(subject, table, counts, np.array(epsilons))
        for epsilon, truths in zip(epsilons, exact.T.tolist(), strict=True):
            try:
                found = certify(
                    SingleMessage(subject.randomizer), people, epsilon=epsilon
                ).levels
            except CertificationError as error:
                yield ConformanceFinding(
                    ABOUT, f"of {people.num_users} people: {error}", False
                )
                return
            for level, truth in zip(found, truths, strict=True):
                upper, lower = level.delta_central, level.delta_central_lower
                if truth > 1e-9:
                    tightest = min(tightest, upper / truth)
                    strongest = max(strongest, lower / truth)
                below = lower <= truth * (1.0 + 1e-9) + _ROUNDING or not whole
                if not (below and truth <= upper * (1.0 + 1e-9) + _ROUNDING):
                    yield ConformanceFinding(
                        ABOUT,
                        f"of {people.num_users} people, at epsilon {epsilon:.6g}, the "
                        f"divergence of level {level.epsilon_local:g} is {truth:.9g}, and "
                        f"not between attack {lower:.9g} and certificate {upper:.9g}.",
                        False,
                    )
                    return
        sizes.append(people.num_users)
    if not sizes:
        yield ConformanceFinding(
            ABOUT, "there are too many outcomes to enumerate.", None
        )
        return
    crowd = ", ".join(map(str, sizes))
    text = (
        f"of {crowd} people, the certificate is at least {tightest:.4g} times the truth"
    )
    if whole:
        text += f", and the attack at most {strongest:.4g} times"
    yield ConformanceFinding(ABOUT, text + ".", True)
    if not whole:
        yield ConformanceFinding(
            ABOUT,
            "attacks were not compared with the truth: messages or values were too many "
            "and were put together.",
            None,
        )


def reduce_table(table: Floats) -> tuple[Floats, bool]:
    """Returns fewer values and kinds of messages, and whether these are all there are."""
    whole = table.shape[1] <= _MOST_VALUES
    if not whole:
        places = np.linspace(0, table.shape[1] - 1, _MOST_VALUES).round().astype(int)
        table = table[:, places]
    if table.shape[2] <= 4096:
        table = merge_proportional_messages(table)
    if table.shape[2] <= _MOST_KINDS:
        return table, whole
    first, last = table[-1, 0], table[-1, -1]
    lean = first / np.maximum(first + last, 1e-300)
    kind = np.minimum((lean * _FEW_KINDS).astype(np.int64), _FEW_KINDS - 1)
    groups = np.zeros((table.shape[2], _FEW_KINDS))
    groups[np.arange(table.shape[2]), kind] = 1.0
    return table @ groups, False


def num_outcomes(
    subject: DistributionTable, table: Floats, counts: tuple[int, ...]
) -> float:
    """Returns how many outcomes there are, times what the others may hold."""
    people = sum(counts)
    if subject.one_coordinate:
        return float((people + 1) ** subject.randomizer.changes)
    values, kinds = table.shape[1:]
    held = math.prod(math.comb(count + values - 1, count) for count in counts)
    return float(held * math.comb(people + kinds - 1, people))


def exact_divergences(
    subject: DistributionTable, table: Floats, counts: tuple[int, ...], epsilons: Floats
) -> Floats:
    """Returns the largest divergences, shape (victims' levels, epsilons)."""
    found = np.zeros((len(counts), epsilons.size))
    for victim in range(len(counts)):
        others = [count - (place == victim) for place, count in enumerate(counts)]
        if subject.one_coordinate:
            worlds = _bit_worlds(subject, table, victim, others)
        else:
            worlds = _histogram_worlds(table, victim, others)
        for world in worlds:
            for here, there in itertools.permutations(world, 2):
                excess = here - np.exp(epsilons)[:, None] * there
                shown = np.maximum(excess, 0.0).sum(axis=1)
                found[victim] = np.maximum(found[victim], shown)
    return found


def _histogram_worlds(
    table: Floats, victim: int, others: list[int]
) -> Iterator[list[Floats]]:
    """Yields laws of the histogram, for each value of the victim, shape (histograms,)."""
    values, kinds = table.shape[1:]
    steps = [_next_histograms(kinds, size) for size in range(sum(others) + 1)]
    choices = [
        itertools.combinations_with_replacement(range(values), count)
        for count in others
    ]
    for held in itertools.product(*choices):
        law = np.ones(1)
        people = [(level, value) for level, row in enumerate(held) for value in row]
        for size, (level, value) in enumerate(people):
            law = _one_more(law, table[level, value], steps[size])
        yield [_one_more(law, chances, steps[-1]) for chances in table[victim]]


def _next_histograms(kinds: int, size: int) -> Ints:
    """Returns which histogram of size + 1 follows each of `size`, (histograms, kinds)."""
    now = list(itertools.combinations_with_replacement(range(kinds), size))
    after = itertools.combinations_with_replacement(range(kinds), size + 1)
    place = {one: number for number, one in enumerate(after)}
    return np.array(
        [[place[tuple(sorted((*one, kind)))] for kind in range(kinds)] for one in now]
    )


def _one_more(law: Floats, chances: Floats, steps: Ints) -> Floats:
    """Returns the law of the histogram after one more message."""
    weights = law[:, None] * chances[None, :]
    return np.bincount(steps.ravel(), weights.ravel()).astype(np.float64)


def _bit_worlds(
    subject: DistributionTable, table: Floats, victim: int, others: list[int]
) -> Iterator[list[Floats]]:
    """Yields laws of the counts of all coordinates in which x and x' differ.

    The others hold x, x' or, where there is one, a value without ones there.
    """
    half = subject.randomizer.changes // 2
    patterns = [(1, 0), (0, 1)]
    if subject.randomizer.has_third_value:
        patterns.append((0, 0))
    choices = [
        itertools.combinations_with_replacement(patterns, count) for count in others
    ]
    # The first value of the table is a one.
    ones = {1: table[:, 0, 1], 0: table[:, 1, 1]}
    for held in itertools.product(*choices):
        others_bits = [(level, bits) for level, row in enumerate(held) for bits in row]
        counts = []
        for side in (0, 1):
            law = np.ones(1)
            for level, bits in others_bits:
                one = ones[bits[side]][level]
                law = np.convolve(law, [1.0 - one, one])
            counts.append(law)
        world = []
        for bits in patterns[:2]:
            law = np.ones(1)
            for side in (0, 1):
                one = float(ones[bits[side]][victim])
                coordinate = np.convolve(counts[side], [1.0 - one, one])
                for _ in range(half):
                    law = np.outer(law, coordinate).ravel()
            world.append(law)
        yield world
