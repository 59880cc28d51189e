"""Privacy loss distribution of one collection, with finitely many values.

The profile H(E) = sup (P - E Q)_+, E = e^epsilon, is convex and falls. The lower convex
hull of bounds at some nodes, and of their mirror images H(1 / E) = 1 - 1 / E + H(E) / E,
lies above it, and is the profile of a pair with finitely many ratios X = dP / dQ that
dominates it: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, PETS 2022, arXiv:2207.04380,
"connect the dots". No grid is needed: every node is exact.
"""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.errors import CertificationError
from shuffledp.types import Floats

# A node with less of the mass beyond it than this is dropped: the hull only rises.
_COLLINEAR = 1e-9
# Covers the rounding of a difference of two slopes, as a part of their sum.
_SLOPES = 1e-13
# Masses near the smallest normal number would lose digits.
LEAST_MASS = 1e-290
# Totals of P and Q that differ by more are not rounding. What differs multiplies, over
# MOST_SHUFFLES of them, the infinite part by less than 1 + _ROOM.
_CONSISTENT = 1e-13
MOST_SHUFFLES = 10**6
_ROOM = 1e-6
# Totals of both exceed 1 by no more: twice that, MOST_SHUFFLES times, is room for it.
_MOST_EXCESS = 1e-9
_ULP = 2.3e-16
# Covers the rounding of a chord's height, a few sums and products of positive numbers.
_CHORD_ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class LossDistribution:
    """A pair that dominates one collection, for neighbors in both directions.

    Attributes:
        losses: Values of log X, ascending, shape (atoms,).
        masses: Their masses under Q, or a little more, shape (atoms,).
        infinite: Mass under P where X is infinite.
    """

    losses: Floats
    masses: Floats
    infinite: float


def connect_dots(
    losses: Floats, values: Floats, *, least_mass: float = LEAST_MASS
) -> LossDistribution:
    """Returns the pair whose profile is the hull of these points and their mirror images.

    Args:
        losses: Nodes, ascending, each >= 0, shape (nodes,).
        values: Upper bounds of the divergence there, shape (nodes,).
        least_mass: Of every atom: room for rounding.
    """
    if not np.all((values >= 0.0) & np.isfinite(values)):
        raise CertificationError("Expected bounds of the divergence, each >= 0.")
    # The profile falls with epsilon and is at most 1, whether or not its bounds do.
    values = np.minimum.accumulate(np.minimum(values, 1.0))
    hull = _hull(losses, values)
    while len(hull) > 1 and values[hull[-2]] == values[hull[-1]]:
        hull.pop()
    nodes, infinite = losses[hull], float(values[hull[-1]])
    fall, rise = _slopes(nodes, values[hull])
    # Too much mass at E and 1 / E, taken from X = 1, is a spread that keeps the mean. So
    # rounding these upward raises the bound, but not the total over any number of rounds.
    outer = np.maximum(fall - rise + _SLOPES * (fall + rise), least_mass)
    outer, nodes = outer[nodes > 0.0], nodes[nodes > 0.0]
    inner = np.maximum(outer * np.exp(-nodes) * (1.0 + 4.0 * _ULP), least_mass)
    remainder = max(math.fsum([1.0, -infinite, *(-outer), *(-inner)]), 0.0)
    # What rounding `inner` up took away comes back.
    middle = (
        remainder
        + _ULP * (remainder + 8.0 * float(inner.sum()))
        + losses.size * least_mass
    )
    return LossDistribution(
        losses=np.concatenate([-nodes[::-1], [0.0], nodes]),
        masses=np.concatenate([outer[::-1], [middle], inner]),
        infinite=infinite,
    )


def connect_directions(
    losses: Floats, forward: Floats, backward: Floats, *, least_mass: float
) -> LossDistribution | None:
    """Returns a pair (P, Q) from bounds of both of its divergences, each on its own.

    Right of E = 1 the profile is that of (P, Q), left of it the mirror image of that of
    (Q, P). At E = 1 both are the total variation, which no chord from one side to the other
    is below. The pair may be composed with others MOST_SHUFFLES times.

    Args:
        losses: Nodes, ascending from 0, shape (nodes,).
        forward: Upper bounds of the divergence of P from Q there, shape (nodes,).
        backward: Upper bounds of that of Q from P, shape (nodes,).
        least_mass: Of every atom: room for rounding.

    Returns:
        The pair; None if its totals are not those of distributions.
    """
    bounds = np.stack([forward, backward])
    if not np.all((bounds >= 0.0) & np.isfinite(bounds)) or losses[0] != 0.0:
        raise CertificationError("Expected bounds of the divergence, each >= 0.")
    # At E = 1 both bound the total variation, and beyond it neither exceeds that.
    bounds[:, 0] = bounds[:, 0].min()
    bounds = np.minimum.accumulate(np.minimum(bounds, 1.0), axis=1)
    bounds = np.minimum(bounds, _least_chord(losses, bounds[0], bounds[1]))
    outer, extra = np.zeros((2, 2, losses.size))
    infinite = bounds[:, -1].tolist()
    for side, values in enumerate(bounds):
        hull = _hull(losses, values, keep_first=True)
        fall, rise = _slopes(losses[hull], values[hull])
        outer[side, hull] = fall - rise
        extra[side, hull] = _SLOPES * (fall + rise)
    # The same at E and 1 / E, taken from X = 1, is a spread that keeps both totals.
    outer = np.maximum(outer + extra.max(axis=0), least_mass)[:, 1:]
    nodes = losses[1:]
    inner = np.maximum(outer * np.exp(-nodes) * (1.0 + 4.0 * _ULP), least_mass)
    remainder = [
        math.fsum([1.0, -infinite[other], *(-inner[side]), *(-outer[other])])
        for side, other in ((0, 1), (1, 0))
    ]
    # Where the profile is straight at E = 1, nothing can be taken from there: what rounding
    # adds at E and 1 / E is more mass, which only raises the bound, too.
    excess = max(0.0, -min(remainder))
    difference = abs(remainder[0] - remainder[1])
    if not (excess <= _MOST_EXCESS and difference <= _CONSISTENT):
        return None
    room = _ROOM + 2.0 * MOST_SHUFFLES * excess
    middle = max(*remainder, 0.0)
    # What rounding `inner` up took away comes back.
    middle += _ULP * (middle + 8.0 * float(inner.sum())) + losses.size * least_mass
    return LossDistribution(
        losses=np.concatenate([-nodes[::-1], [0.0], nodes]),
        masses=np.concatenate([outer[1, ::-1], [middle], inner[0]]),
        infinite=min(infinite[0] * (1.0 + room), 1.0),
    )


def _least_chord(losses: Floats, forward: Floats, backward: Floats) -> float:
    """Returns the lowest point, at E = 1, of all chords from a node left of it to another.

    The profile is convex, and so its total variation is no larger, whatever the bound is.
    """
    # Lengths of both parts of a chord, to E and to 1 / E, and heights at these ends.
    right, left = np.expm1(losses[1:]), -np.expm1(-losses[1:])[:, np.newaxis]
    ends = left + (backward[1:] * np.exp(-losses[1:]))[:, np.newaxis]
    heights = (right * ends + left * forward[1:]) / (right + left)
    # Rounded upward, by more than these operations lose.
    return min(float(heights.min(initial=math.inf)) * (1.0 + _CHORD_ROUNDING), 1.0)


def _hull(losses: Floats, values: Floats, *, keep_first: bool = False) -> list[int]:
    """Returns the nodes of the lower convex hull, with mirror images or from the first."""
    hull: list[int] = []
    # Minus the slope left of each of these nodes, times its E, as of `_slopes`.
    falls: list[float] = []
    nodes, heights = losses.tolist(), values.tolist()
    for new, (loss, height) in enumerate(zip(nodes, heights, strict=True)):
        while len(hull) > keep_first:
            rise = (heights[hull[-1]] - height) / math.expm1(loss - nodes[hull[-1]])
            if falls[-1] - rise > _COLLINEAR * (falls[-1] + rise):
                break
            hull.pop()
            falls.pop()
        if hull:
            length = loss - nodes[hull[-1]]
            falls.append((heights[hull[-1]] - height) / -math.expm1(-length))
        else:
            falls.append((1.0 - height) / (1.0 + math.exp(-loss)))
        hull.append(new)
    return hull


def _slopes(losses: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Returns minus the slopes left and right of each node, times its E.

    Their difference is the mass under P. Without E itself, nothing overflows or cancels.
    Left of the first node lies its mirror image.
    """
    falls, lengths = -np.diff(values), np.diff(losses)
    first = (1.0 - values[:1]) / (1.0 + np.exp(-losses[:1]))
    left = np.concatenate([first, falls / -np.expm1(-lengths)])
    return left, np.concatenate([falls / np.expm1(lengths), [0.0]])
