"""Comparison of exact probability ratios with the local budget and `local_delta`.

A pure mechanism must keep every ratio of probabilities within exp(level); any mechanism
must keep the hockey-stick divergence of one message within `local_delta`.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from shuffledp.testing.conformance import ConformanceFinding
from shuffledp.testing.distribution_table import DistributionTable
from shuffledp.types import Floats

ABOUT = "local budget"
# Bound on the rounding error of sums of doubles.
ROUNDING = 1e-11


def check_local_budget(
    distributions: DistributionTable,
) -> Iterator[ConformanceFinding]:
    """Compares exact log ratios with levels, and exact divergences with `local_delta`."""
    pure = distributions.randomizer.delta_local == 0.0
    largest_share = 0.0
    for level, probabilities in zip(
        distributions.levels, distributions.probabilities, strict=True
    ):
        # Other mechanisms may have infinite ratios: for these, divergences decide.
        log_ratio = _largest_log_ratio(distributions, probabilities) if pure else 0.0
        if log_ratio > level + ROUNDING:
            yield ConformanceFinding(
                ABOUT,
                f"at level {level:g} the logarithm of a ratio of probabilities reaches "
                f"{log_ratio:.9g}.",
                False,
            )
        # Also beyond the level, where local_delta of a pure mechanism is 0.
        for epsilon in np.linspace(0.0, 1.25 * level, 6).tolist():
            exact = _largest_divergence(probabilities, epsilon)
            stated = distributions.randomizer.local_delta(level, epsilon)
            largest_share = max(
                largest_share, exact / max(stated, 1e-300) if exact > 1e-9 else 0.0
            )
            if not exact <= stated + ROUNDING:
                yield ConformanceFinding(
                    ABOUT,
                    f"at level {level:g} the divergence of one message at epsilon "
                    f"{epsilon:g} is {exact:.9g}, and local_delta {stated:.9g}.",
                    False,
                )
        if not pure and not _largest_divergence(probabilities, level) <= (
            distributions.randomizer.delta_local * (1.0 + 1e-6) + ROUNDING
        ):
            yield ConformanceFinding(
                ABOUT,
                f"at level {level:g} the divergence at that epsilon is "
                f"{_largest_divergence(probabilities, level):.9g}, above delta_local.",
                False,
            )
    yield ConformanceFinding(
        ABOUT,
        f"one message shows at most {largest_share:.9g} of local_delta"
        + (", and no ratio exceeds its level." if pure else "."),
        largest_share <= 1.0 + 1e-6,
    )


def _largest_log_ratio(
    distributions: DistributionTable, probabilities: Floats
) -> float:
    """Returns the largest log ratio of probabilities of a whole report."""
    smallest_probabilities, largest_probabilities = (
        probabilities.min(axis=0),
        probabilities.max(axis=0),
    )
    # A message that some value never sends has an infinite ratio.
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(
            largest_probabilities > 0.0,
            np.log(largest_probabilities / smallest_probabilities),
            0.0,
        )
    if not distributions.one_coordinate:
        return float(ratios.max())
    # A change of value turns half of the `changes` coordinates off, the other half on.
    return float(ratios.sum()) * int(distributions.randomizer.changes) / 2.0


def _largest_divergence(probabilities: Floats, epsilon: float) -> float:
    divergences = [
        float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())
        for first, second in itertools.permutations(probabilities, 2)
    ]
    return max(divergences)
