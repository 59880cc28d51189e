"""Do covers hold whatever they are asked for?

What everybody sends depends on no delta and on nobody else. So the weights and pairs of
covers are compared with the exact law again, for other deltas, crowds and levels.
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
_MANY = 1_000_000
# Laws of other levels are computed if there are so few chances.
_MOST_CHANCES = 20_000


def check_cover_queries(subject: DistributionTable) -> Iterator[ConformanceFinding]:
    """Compares covers at other deltas, crowds and levels with the exact law."""
    asked = 0
    for part, crowd, delta, words in _queries(subject):
        asked += 1
        covers = covers_of(part, crowd, delta)
        for finding in _failures(part, covers):
            yield replace(finding, text=f"{words}: {finding.text}")
            return
    yield ConformanceFinding(
        ABOUT, f"they hold for {asked} other deltas, crowds and levels, too.", True
    )


def _failures(
    part: DistributionTable, covers: list[tuple[Cover, ...]]
) -> Iterator[ConformanceFinding]:
    for check in (check_weights, check_worst_pairs, check_supports):
        for finding in check(part, covers):
            if finding.holds is False:
                yield finding


def _queries(
    subject: DistributionTable,
) -> Iterator[tuple[DistributionTable, Population, float, str]]:
    """Yields laws, a crowd of their levels, a delta, and all that in words."""
    levels = subject.levels
    for delta in _DELTAS:
        yield subject, subject.crowd, delta, f"at delta {delta:g}"
    for size in (1, _MANY):
        crowd = Population.from_counts(dict.fromkeys(levels, size))
        yield subject, crowd, 1e-9, f"among {size:,} people of each level"
    if len(levels) > 1:
        for place in sorted({0, len(levels) - 1}):
            counts = dict.fromkeys(levels, _MANY) | {levels[place]: 2}
            crowd = Population.from_counts(counts)
            words = f"with 2 people of level {levels[place]:g} among millions"
            yield subject, crowd, 1e-6, words
        for place, level in enumerate(levels):
            part = replace(subject, levels=(level,), table=subject.table[[place]])
            words = f"among people of level {level:g} alone"
            yield part, part.crowd, 1e-6, words
    if subject.table.size > _MOST_CHANCES:
        return
    others = (0.6 * levels[0], (levels[0] * levels[-1]) ** 0.5 * 1.1, 1.4 * levels[-1])
    try:
        part = tabulate(subject.randomizer, tuple(sorted(set(others))))
    except InvalidInputError:
        # It need not take levels that nobody asked for.
        return
    words = "at levels " + ", ".join(f"{level:.4g}" for level in part.levels)
    yield part, part.crowd, 1e-6, words
