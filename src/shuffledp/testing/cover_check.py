"""Does everybody really send what a cover says she sends?

A cover does not name its messages. Three things can be told from it all the same.

1. The victim is one of the people of her level: her own densities against omega are at
   least her level's gamma, if the cover is that of a pair of values. (One that stands for
   a worse pair may have smaller densities.)
2. gamma omega <= R for all values, so that gamma is at most the sum of all least chances.
3. Where messages are few, omega is looked for (omega.py).

Beyond that, no pair of values may show more in one message than the covers' pairs do, and
what other levels never send must be declared uncovered.
"""

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
_MOST_KINDS, _MOST_CELLS, _MOST_MESSAGES = 64, 64, 1 << 11
# So many covers of a victim, evenly spread, are looked at message by message.
_MOST_COVERS = 16
# Of the linear program.
_TOLERANCE = 1e-6
# Divergences that agree so well are those of the same pair.
_SAME = 1e-8
_ROUNDING = 1e-11
# Cells with less of omega may be there for rounding's sake.
_RARE = 1e-9
# Mass below this does not count as sent.
_SENT = 1e-12


def covers_of(
    subject: DistributionTable, crowd: Population | None = None, delta: float = _DELTA
) -> list[tuple[Cover, ...]]:
    """Returns the covers of a victim of each level.

    Args:
        subject: What is checked.
        crowd: People of its levels; as many of each by default.
        delta: The divergence that is asked for.
    """
    found: list[tuple[Cover, ...]] = subject.randomizer.covers(
        subject.levels, crowd or subject.crowd, delta=delta
    )
    return found


def check_covers(
    subject: DistributionTable, covers: list[tuple[Cover, ...]]
) -> Iterator[ConformanceFinding]:
    """Compares covers with the exact law of every pair of levels."""
    yield from check_weights(subject, covers)
    yield from _matched(subject, covers)
    yield from check_worst_pairs(subject, covers)


def check_supports(
    subject: DistributionTable, covers: list[tuple[Cover, ...]]
) -> Iterator[ConformanceFinding]:
    """Looks for messages that one level sends and another never does."""
    about, most = "supports", 0.0
    if int(getattr(subject.randomizer, "cells_beyond", 0)):
        yield ConformanceFinding(
            about, "noise without bounds was cut off, level by level.", None
        )
        return
    least = subject.table.min(axis=1)
    for place, tuples in enumerate(covers):
        for cover in tuples:
            counting = cover.blanket_probabilities > 0.0
            never = np.any(least[counting] <= 0.0, axis=0)
            alone = float(subject.table[place][:, never].sum(axis=1).max())
            declared = 0.0
            if cover.uncovered is not None:
                declared = float(cover.uncovered.sum(axis=1).max())
            most = max(most, alone)
            if alone > declared + _SENT:
                yield ConformanceFinding(
                    about,
                    f"people of level {subject.levels[place]:g} send messages that others "
                    f"never send with chance {alone:.6g}, of which {declared:.6g} is "
                    "declared uncovered.",
                    False,
                )
                return
    yield ConformanceFinding(
        about,
        "every level sends what all others may send."
        if most <= _SENT
        else f"what other levels never send, up to {most:.6g}, is declared uncovered.",
        True,
    )


def check_weights(
    subject: DistributionTable, covers: list[tuple[Cover, ...]]
) -> Iterator[ConformanceFinding]:
    """Compares gamma with what all values leave room for."""
    least = subject.table.min(axis=1).sum(axis=1)
    closest, worse = 0.0, 0
    for place, (level, tuples) in enumerate(zip(subject.levels, covers, strict=True)):
        for cover in tuples:
            gamma = cover.blanket_probabilities
            own = gamma[place] / _smallest_density(cover)
            parts = gamma / np.maximum(least, 1e-300)
            real = cover.cells is not None or _is_of_a_pair(subject, place, cover)
            if own <= 1.0 + _TOLERANCE or real:
                parts = np.append(parts, own)
            else:
                worse += 1
            closest = max(closest, float(parts.max()))
            if not (np.all(gamma >= 0.0) and np.all(parts <= 1.0 + _TOLERANCE)):
                yield ConformanceFinding(
                    ABOUT,
                    f"a victim of level {level:g} has a cover whose gamma is "
                    f"{parts.max():.6g} of the largest that can be.",
                    False,
                )
                return
    yield ConformanceFinding(
        ABOUT,
        f"gamma is at most {closest:.6g} of what all values leave room for.",
        True,
    )
    if worse:
        yield ConformanceFinding(
            ABOUT,
            f"{worse} covers stand for a worse pair than those tried: the victim's own "
            "densities were not compared with gamma.",
            None,
        )


def _is_of_a_pair(subject: DistributionTable, place: int, cover: Cover) -> bool:
    """Returns whether a pair of values shows what the cover's pair shows."""
    curve = _curve_of_cover(cover, subject.levels)
    pairs = itertools.permutations(subject.table[place], 2)
    curves = [_curve_of_pair(*pair, subject.levels) for pair in pairs]
    return any(np.all(np.abs(curve - one) <= _SAME) for one in curves)


def _smallest_density(cover: Cover) -> float:
    """Returns the victim's smallest density against omega, 1 if there is no omega."""
    here = cover.differences + cover.bases
    if cover.cells is not None:
        low = cover.cells.low.min(axis=0)
    else:
        low = np.minimum(here, cover.bases)
    if not cover.blanket_probabilities.any():
        return 1.0
    return max(float(low[cover.masses > _RARE].min(initial=math.inf)), 1e-300)


def _matched(
    subject: DistributionTable, covers: list[tuple[Cover, ...]]
) -> Iterator[ConformanceFinding]:
    every = [cover for tuples in covers for cover in tuples]
    why = ""
    if any(cover.cells is not None for cover in every):
        why = "losses vary within cells"
    elif len(subject.messages) > _MOST_MESSAGES:
        why = f"there are {len(subject.messages)} messages"
    elif max(cover.masses.size for cover in every) > _MOST_CELLS:
        why = "there are many cells"
    if why:
        yield ConformanceFinding(
            ABOUT, f"omega was not looked for message by message: {why}.", None
        )
        return
    table = merge_proportional_messages(subject.table)
    if table.shape[2] > _MOST_KINDS:
        yield ConformanceFinding(
            ABOUT,
            f"omega was not looked for: there are {table.shape[2]} kinds of messages.",
            None,
        )
        return
    matched, total, largest = 0, len(every), 0.0
    for place, tuples in enumerate(covers):
        rows = table[place]
        pairs = [(x, y) for x, y in itertools.permutations(rows, 2)]
        curves = np.array([_curve_of_pair(*pair, subject.levels) for pair in pairs])
        for cover in tuples[:: math.ceil(len(tuples) / _MOST_COVERS)]:
            curve = _curve_of_cover(cover, subject.levels)
            alike = np.flatnonzero(np.all(np.abs(curves - curve) <= _SAME, axis=1))
            found = [
                smallest_factor(cover, pairs[pair][0], pairs[pair][1], table)
                for pair in alike[:3].tolist()
            ]
            factors = [factor for factor in found if factor is not None]
            if not factors:
                continue
            matched += 1
            largest = max(largest, min(factors))
            if min(factors) > 1.0 + _TOLERANCE:
                yield ConformanceFinding(
                    ABOUT,
                    f"at level {subject.levels[place]:g}, gamma omega takes "
                    f"{min(factors):.6g} times of what people of other values and levels "
                    "send.",
                    False,
                )
                return
    if matched:
        yield ConformanceFinding(
            ABOUT,
            f"for {matched} covers an omega was found of which gamma takes {largest:.6g} "
            "of what everybody sends.",
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
    subject: DistributionTable, covers: list[tuple[Cover, ...]]
) -> Iterator[ConformanceFinding]:
    """Compares what pairs of values show with what the covers' pairs show."""
    largest = 0.0
    for place, (level, tuples) in enumerate(zip(subject.levels, covers, strict=True)):
        shown = np.max(
            [_curve_of_cover(cover, subject.levels) for cover in tuples], axis=0
        )
        for here, there in itertools.permutations(subject.table[place], 2):
            exact = _curve_of_pair(here, there, subject.levels)
            part = np.where(exact > 1e-9, exact / np.maximum(shown, 1e-300), 0.0)
            largest = max(largest, float(part.max()))
            if np.any(exact > shown * (1.0 + 1e-7) + _ROUNDING):
                yield ConformanceFinding(
                    ABOUT,
                    f"at level {level:g} a pair of values shows {part.max():.6g} times of "
                    "what the pairs of the covers show in one message.",
                    False,
                )
                return
    yield ConformanceFinding(
        ABOUT, f"one message shows at most {largest:.6g} of what covers allow.", True
    )


def _points(levels: tuple[float, ...]) -> list[float]:
    top = max(levels)
    return [0.0, *(share * top for share in (0.05, 0.15, 0.3, 0.5, 0.7, 0.9, 0.99))]


def _curve_of_pair(here: Floats, there: Floats, levels: tuple[float, ...]) -> Floats:
    """Returns divergences at a few epsilons, both ways round, shape (points,)."""
    return np.array(
        [
            float(np.maximum(here - math.exp(e) * there, 0.0).sum())
            for e in _points(levels)
        ]
    )


def _curve_of_cover(cover: Cover, levels: tuple[float, ...]) -> Floats:
    """Returns what the victim's own message shows of the cover's pair, shape (points,)."""
    found = []
    for epsilon in _points(levels):
        loss = atoms(cover, 1.0, epsilon)
        alone = float(loss.masses @ np.maximum(loss.losses, 0.0))
        found.append(alone + cover.beyond(epsilon))
    return np.array(found)
