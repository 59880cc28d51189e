"""Comparison of covers with exact message distributions."""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from shuffledp.accounting.upper.atoms import atoms
from shuffledp.cover import Cover
from shuffledp.population import Population
from shuffledp.testing.blanket_distribution_lp import smallest_factor
from shuffledp.testing.conformance import ConformanceFinding
from shuffledp.testing.distribution_table import (
    DistributionTable,
    merge_proportional_messages,
)
from shuffledp.types import Floats

ABOUT = "covers"
_DELTA = 1e-6
_MAX_KINDS, _MAX_CELLS, _MAX_MESSAGES = 64, 64, 1 << 11
# The linear program is solved for at most this many covers of a level, evenly spread.
_MAX_COVERS = 16
# Feasibility tolerance of the linear program.
_LP_TOLERANCE = 1e-6
# Curves of divergences that agree to this precision belong to the same pair.
_CURVE_TOLERANCE = 1e-8
_ROUNDING = 1e-11
# Cells with less mass may exist only to absorb rounding.
_MIN_CELL_MASS = 1e-9
# Smaller masses do not count as sent.
_MIN_SENT_MASS = 1e-12


def covers_of(
    distributions: DistributionTable,
    population: Population | None = None,
    delta: float = _DELTA,
) -> list[tuple[Cover, ...]]:
    """Returns the covers of a target user of each level.

    Args:
        distributions: Exact distributions of the device under test.
        population: Users of its levels; by default, the same number of each.
        delta: Central delta that the covers are computed for.
    """
    covers: list[tuple[Cover, ...]] = distributions.randomizer.covers(
        distributions.levels, population or distributions.population, delta=delta
    )
    return covers


def check_covers(
    distributions: DistributionTable, covers: list[tuple[Cover, ...]]
) -> Iterator[ConformanceFinding]:
    """Compares covers with the exact distributions at every pair of levels."""
    yield from check_weights(distributions, covers)
    yield from _check_blanket_distribution(distributions, covers)
    yield from check_worst_pairs(distributions, covers)


def check_supports(
    distributions: DistributionTable, covers: list[tuple[Cover, ...]]
) -> Iterator[ConformanceFinding]:
    """Checks that messages exclusive to one level are declared uncovered."""
    about, maximum = "supports", 0.0
    if int(getattr(distributions.randomizer, "cells_beyond", 0)):
        yield ConformanceFinding(
            about, "noise without bounds was cut off, level by level.", None
        )
        return
    # A message is in every blanket only if all values send it.
    smallest_probabilities = distributions.probabilities.min(axis=1)
    for level_index, tuples in enumerate(covers):
        for cover in tuples:
            in_blanket = cover.blanket_probabilities > 0.0
            never = np.any(smallest_probabilities[in_blanket] <= 0.0, axis=0)
            exclusive = float(
                distributions.probabilities[level_index][:, never].sum(axis=1).max()
            )
            declared = 0.0
            if cover.uncovered is not None:
                declared = float(cover.uncovered.sum(axis=1).max())
            maximum = max(maximum, exclusive)
            if exclusive > declared + _MIN_SENT_MASS:
                yield ConformanceFinding(
                    about,
                    f"people of level {distributions.levels[level_index]:g} send messages "
                    f"that others never send with probability {exclusive:.6g}, of which "
                    f"{declared:.6g} is declared uncovered.",
                    False,
                )
                return
    yield ConformanceFinding(
        about,
        "every level sends what all others may send."
        if maximum <= _MIN_SENT_MASS
        else f"what other levels never send, up to {maximum:.6g}, is declared uncovered.",
        True,
    )


def check_weights(
    distributions: DistributionTable, covers: list[tuple[Cover, ...]]
) -> Iterator[ConformanceFinding]:
    """Compares gamma with the mass that the distributions of all values share."""
    # gamma omega <= R for all values, summed over messages.
    smallest_sums = distributions.probabilities.min(axis=1).sum(axis=1)
    largest_share, num_worse = 0.0, 0
    for level_index, (level, tuples) in enumerate(
        zip(distributions.levels, covers, strict=True)
    ):
        for cover in tuples:
            gamma = cover.blanket_probabilities
            # The target user has one of the levels: in a cover of a pair of values,
            # their own densities against omega are at least gamma of their level.
            own_share = gamma[level_index] / _smallest_density(cover)
            shares = gamma / np.maximum(smallest_sums, 1e-300)
            is_tried_pair = cover.cells is not None or _matches_a_pair(
                distributions, level_index, cover
            )
            # A cover of a worse pair than those tried may have smaller densities.
            if own_share <= 1.0 + _LP_TOLERANCE or is_tried_pair:
                shares = np.append(shares, own_share)
            else:
                num_worse += 1
            largest_share = max(largest_share, float(shares.max()))
            if not (np.all(gamma >= 0.0) and np.all(shares <= 1.0 + _LP_TOLERANCE)):
                yield ConformanceFinding(
                    ABOUT,
                    f"a target user of level {level:g} has a cover whose gamma is "
                    f"{shares.max():.6g} of the largest that can be.",
                    False,
                )
                return
    yield ConformanceFinding(
        ABOUT,
        f"gamma is at most {largest_share:.6g} of what all values leave room for.",
        True,
    )
    if num_worse:
        yield ConformanceFinding(
            ABOUT,
            f"{num_worse} covers stand for a worse pair than those tried: the target "
            "user's own "
            "densities were not compared with gamma.",
            None,
        )


def _matches_a_pair(
    distributions: DistributionTable, level_index: int, cover: Cover
) -> bool:
    """Returns whether a pair of values has the same divergences as the cover's pair."""
    curve = _curve_of_cover(cover, distributions.levels)
    pairs = itertools.permutations(distributions.probabilities[level_index], 2)
    curves = [_curve_of_pair(*pair, distributions.levels) for pair in pairs]
    return any(
        np.all(np.abs(curve - pair_curve) <= _CURVE_TOLERANCE) for pair_curve in curves
    )


def _smallest_density(cover: Cover) -> float:
    """Returns the target's smallest density against omega, 1 if there is no omega."""
    first = cover.differences + cover.bases
    if cover.cells is not None:
        low = cover.cells.low.min(axis=0)
    else:
        low = np.minimum(first, cover.bases)
    if not cover.blanket_probabilities.any():
        return 1.0
    return max(float(low[cover.masses > _MIN_CELL_MASS].min(initial=math.inf)), 1e-300)


def _check_blanket_distribution(
    distributions: DistributionTable, covers: list[tuple[Cover, ...]]
) -> Iterator[ConformanceFinding]:
    all_covers = [cover for tuples in covers for cover in tuples]
    reason = ""
    if any(cover.cells is not None for cover in all_covers):
        reason = "losses vary within cells"
    elif len(distributions.messages) > _MAX_MESSAGES:
        reason = f"there are {len(distributions.messages)} messages"
    elif max(cover.masses.size for cover in all_covers) > _MAX_CELLS:
        reason = "there are many cells"
    if reason:
        yield ConformanceFinding(
            ABOUT, f"omega was not looked for message by message: {reason}.", None
        )
        return
    # Proportional messages have proportional constraints: the program keeps its value.
    table = merge_proportional_messages(distributions.probabilities)
    if table.shape[2] > _MAX_KINDS:
        yield ConformanceFinding(
            ABOUT,
            f"omega was not looked for: there are {table.shape[2]} kinds of messages.",
            None,
        )
        return
    matched, total, largest_factor = 0, len(all_covers), 0.0
    for level_index, tuples in enumerate(covers):
        distributions_of_level = table[level_index]
        pairs = [(x, y) for x, y in itertools.permutations(distributions_of_level, 2)]
        curves = np.array(
            [_curve_of_pair(*pair, distributions.levels) for pair in pairs]
        )
        for cover in tuples[:: math.ceil(len(tuples) / _MAX_COVERS)]:
            curve = _curve_of_cover(cover, distributions.levels)
            matching = np.flatnonzero(
                np.all(np.abs(curves - curve) <= _CURVE_TOLERANCE, axis=1)
            )
            # Several pairs may have the same curve: one feasible omega is enough.
            candidates = [
                smallest_factor(cover, pairs[pair][0], pairs[pair][1], table)
                for pair in matching[:3].tolist()
            ]
            factors = [factor for factor in candidates if factor is not None]
            if not factors:
                continue
            matched += 1
            largest_factor = max(largest_factor, min(factors))
            if min(factors) > 1.0 + _LP_TOLERANCE:
                yield ConformanceFinding(
                    ABOUT,
                    f"at level {distributions.levels[level_index]:g}, gamma omega takes "
                    f"{min(factors):.6g} times of what people of other values and levels "
                    "send.",
                    False,
                )
                return
    if matched:
        yield ConformanceFinding(
            ABOUT,
            f"for {matched} covers an omega was found of which gamma takes "
            f"{largest_factor:.6g} of what everybody sends.",
            True,
        )
    if matched < total:
        yield ConformanceFinding(
            ABOUT,
            f"{total - matched} of {total} covers were not looked at in this way: there "
            "are too many, or they are of no pair of the values tried.",
            None,
        )


def check_worst_pairs(
    distributions: DistributionTable, covers: list[tuple[Cover, ...]]
) -> Iterator[ConformanceFinding]:
    """Compares divergences of pairs of values with those of the covers' pairs."""
    maximum = 0.0
    for level_index, (level, tuples) in enumerate(
        zip(distributions.levels, covers, strict=True)
    ):
        curves = np.max(
            [_curve_of_cover(cover, distributions.levels) for cover in tuples], axis=0
        )
        for first, second in itertools.permutations(
            distributions.probabilities[level_index], 2
        ):
            exact = _curve_of_pair(first, second, distributions.levels)
            share = np.where(exact > 1e-9, exact / np.maximum(curves, 1e-300), 0.0)
            maximum = max(maximum, float(share.max()))
            if np.any(exact > curves * (1.0 + 1e-7) + _ROUNDING):
                yield ConformanceFinding(
                    ABOUT,
                    f"at level {level:g} a pair of values shows {share.max():.6g} times of "
                    "what the pairs of the covers show in one message.",
                    False,
                )
                return
    yield ConformanceFinding(
        ABOUT, f"one message shows at most {maximum:.6g} of what covers allow.", True
    )


def _epsilons(levels: tuple[float, ...]) -> list[float]:
    top = max(levels)
    return [0.0, *(share * top for share in (0.05, 0.15, 0.3, 0.5, 0.7, 0.9, 0.99))]


def _curve_of_pair(first: Floats, second: Floats, levels: tuple[float, ...]) -> Floats:
    """Returns hockey-stick divergences at a few epsilons, shape (points,)."""
    return np.array(
        [
            float(np.maximum(first - math.exp(e) * second, 0.0).sum())
            for e in _epsilons(levels)
        ]
    )


def _curve_of_cover(cover: Cover, levels: tuple[float, ...]) -> Floats:
    """Returns divergences of the cover's pair in one message, shape (points,)."""
    divergences = []
    for epsilon in _epsilons(levels):
        loss = atoms(cover, 1.0, epsilon)
        exclusive = float(loss.masses @ np.maximum(loss.losses, 0.0))
        divergences.append(exclusive + cover.beyond(epsilon))
    return np.array(divergences)
