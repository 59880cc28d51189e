"""Cover checks at other deltas, populations and levels.

The weights, worst pairs and supports of covers are compared with the exact distribution.
"""

from collections.abc import Iterator
from dataclasses import replace

from shuffledp.cover import Cover
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.testing.conformance import ConformanceFinding
from shuffledp.testing.cover_check import (
    check_supports,
    check_weights,
    check_worst_pairs,
    covers_of,
)
from shuffledp.testing.distribution_table import DistributionTable, tabulate

ABOUT = "covers"
_DELTAS = (1e-2, 1e-4, 1e-9, 1e-12)
_LARGE_POPULATION = 1_000_000
# Distributions at other levels are computed only up to this table size.
_MAX_PROBABILITIES = 20_000


def check_cover_queries(
    distributions: DistributionTable,
) -> Iterator[ConformanceFinding]:
    """Compares covers at other deltas, populations and levels with the distribution."""
    num_queries = 0
    # The distribution of a user's message depends neither on delta nor on other users:
    # the covers of all queries must agree with the same probabilities.
    for restricted, population, delta, description in _queries(distributions):
        num_queries += 1
        covers = covers_of(restricted, population, delta)
        for finding in _failures(restricted, covers):
            yield replace(finding, text=f"{description}: {finding.text}")
            return
    yield ConformanceFinding(
        ABOUT,
        f"they hold for {num_queries} other deltas, populations and levels, too.",
        True,
    )


def _failures(
    restricted: DistributionTable, covers: list[tuple[Cover, ...]]
) -> Iterator[ConformanceFinding]:
    for check in (check_weights, check_worst_pairs, check_supports):
        for finding in check(restricted, covers):
            if finding.holds is False:
                yield finding


def _queries(
    distributions: DistributionTable,
) -> Iterator[tuple[DistributionTable, Population, float, str]]:
    """Yields distributions, a population at their levels, a delta, and a description."""
    levels = distributions.levels
    for delta in _DELTAS:
        yield distributions, distributions.population, delta, f"at delta {delta:g}"
    for size in (1, _LARGE_POPULATION):
        population = Population.from_counts(dict.fromkeys(levels, size))
        people = "1 person" if size == 1 else f"{size:,} people"
        yield distributions, population, 1e-9, f"among {people} of each level"
    if len(levels) > 1:
        for index in sorted({0, len(levels) - 1}):
            counts = dict.fromkeys(levels, _LARGE_POPULATION) | {levels[index]: 2}
            population = Population.from_counts(counts)
            description = f"with 2 people of level {levels[index]:g} among millions"
            yield distributions, population, 1e-6, description
        for index, level in enumerate(levels):
            restricted = replace(
                distributions,
                levels=(level,),
                probabilities=distributions.probabilities[[index]],
            )
            description = f"among people of level {level:g} alone"
            yield restricted, restricted.population, 1e-6, description
    if distributions.probabilities.size > _MAX_PROBABILITIES:
        return
    other_levels = (
        0.6 * levels[0],
        (levels[0] * levels[-1]) ** 0.5 * 1.1,
        1.4 * levels[-1],
    )
    try:
        restricted = tabulate(
            distributions.randomizer, tuple(sorted(set(other_levels)))
        )
    except InvalidInputError:
        # A mechanism may refuse levels outside those that were requested.
        return
    description = "at levels " + ", ".join(
        f"{level:.4g}" for level in restricted.levels
    )
    yield restricted, restricted.population, 1e-6, description
