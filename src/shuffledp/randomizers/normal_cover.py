"""The cover of normal noise whose deviations differ from user to user.

Values are scaled to [-1, 1]; s_i is user i's deviation, s the target user's. For every
value, user i's density at y is at least that of the farther end, the normal density of
deviation s_i at |y| + 1. omega is proportional to e^{-h(|y|)} on [-reach, reach], with

    h'(y) = (y + fold) / width^2 up to `joint`, and h'' = 1 / s^2 beyond,

fold = 1 and width = s (that least density of the target user's own deviation), or fold
= 0 and width >= s. For both the ends are the worst pair (docs/theory/covers.md).
gamma_i is a smallest ratio of exponentials of quadratic functions. Messages beyond
`reach` are charged to the target user, and so are uncovered ones.
"""

import math

import numpy as np

from shuffledp.cover import CellBounds, Cover
from shuffledp.randomizers.normal_blanket import (
    CELLS,
    ROUNDING,
    NormalBlanket,
    normal_masses,
    uncovered_beyond,
)
from shuffledp.randomizers.normal_shape import FARTHEST, best_shape
from shuffledp.types import Floats, Ints


def normal_cover(
    deviation: float, deviations: Floats, counts: Ints, *, delta: float
) -> Cover:
    """Returns the cover for one target user, with the best omega of the family.

    Args:
        deviation: Of the target user's noise.
        deviations: Of the noise at each level of the population, shape (levels,).
        counts: People at each level, shape (levels,).
        delta: About the size of the divergence that is asked for, in (0, 1).
    """
    if FARTHEST * deviation <= 2.0:
        return _cover_hiding_nothing(deviations.size)
    shape = best_shape(deviation, deviations, counts, delta=delta)
    return cover_with(shape, shape.blanket_probability(deviations))


def _cover_hiding_nothing(num_levels: int) -> Cover:
    """Returns the cover that hides nothing."""
    nothing = np.zeros(1)
    uncovered = np.array([[1.0], [0.0]])
    return Cover(np.zeros(num_levels), nothing + 1.0, nothing, nothing, None, uncovered)


def cover_with(shape: NormalBlanket, gamma: Floats) -> Cover:
    """Returns the target user's cells: the right half and its mirror."""
    s, norm = shape.deviation, shape.norm
    edges = np.linspace(0.0, shape.reach, CELLS + 1)
    masses = shape.masses(edges) / norm
    near_densities, far_densities = (
        normal_masses((edges - end) / s) / masses for end in (1.0, -1.0)
    )
    # Of both densities against omega at the edges.
    scale = norm / (math.sqrt(2.0 * math.pi) * s)
    high_end, low_end = (
        scale * np.exp(-0.5 * ((edges - end) / s) ** 2 - shape.log_density(edges))
        for end in (1.0, -1.0)
    )
    telling = 2.0 * edges / s**2
    slopes = shape.steepness(edges) - (edges - 1.0) / s**2
    with np.errstate(divide="ignore", over="ignore"):
        faster = 2.0 / s**2 / np.expm1(telling)
    near_low, near_high = _cell_extremes(high_end, slopes, edges)
    # R(-1) against omega never rises on this side.
    far_low, far_high = low_end[1:], low_end[:-1]
    gap_low, gap_high = _cell_extremes(
        -np.expm1(-telling) * high_end, slopes + faster, edges
    )
    low, high = np.stack([far_low, near_low]), np.stack([far_high, near_high])
    differences, slack = (
        far_densities - near_densities,
        ROUNDING * (near_densities + far_densities),
    )
    down, up = 1.0 - ROUNDING, 1.0 + ROUNDING
    return Cover(
        blanket_probabilities=gamma,
        masses=np.concatenate([masses, masses]),
        differences=np.concatenate([differences + slack, -differences + slack]),
        bases=np.concatenate([near_densities, far_densities]),
        cells=CellBounds(
            down * np.hstack([low, low[::-1]]),
            up * np.hstack([high, high[::-1]]),
            np.array(
                [
                    np.concatenate([-up * gap_high, down * gap_low]),
                    np.concatenate([-down * gap_low, up * gap_high]),
                ]
            ),
        ),
        uncovered=uncovered_beyond(shape.reach, shape.deviation),
    )


def _cell_extremes(
    values: Floats, slopes: Floats, edges: Floats
) -> tuple[Floats, Floats]:
    """Returns the smallest and largest value in each cell of a log-concave function.

    Args:
        values: At the edges.
        slopes: Of its logarithm, there; the first may be infinite.
        edges: Of the cells.
    """
    low = np.minimum(values[:-1], values[1:])
    high = np.maximum(values[:-1], values[1:])
    # The peak is below the tangent from the right.
    peaked = (slopes[:-1] > 0.0) & (slopes[1:] < 0.0)
    tangent = values[1:] * np.exp(np.maximum(-slopes[1:], 0.0) * np.diff(edges))
    return low, np.where(peaked, tangent, high)
