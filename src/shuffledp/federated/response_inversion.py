"""Inversion of the mean response of Clip-Laplace messages.

Clip-Laplace messages are biased towards the middle, the more so the smaller the level.
The analyst sees levels and messages apart from each other, and solves for the value v
that, held by all users, would give the average message that was observed,

    average = (1 / n) sum_i E[Z | v, eps_i] ?                      (eq. (1) of the source)

With messages in cells of a grid the answer is exact.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", section 3.2.
"""

import math

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.grid import STEPS
from shuffledp.randomizers.tally import batches
from shuffledp.types import Floats

_HALF = STEPS // 2
# Smaller levels are rounded up to this one: their messages are noise anyway.
_SMALLEST_LEVEL = 1e-9
# Enough for an error of 5.8^-20 = 5e-16 within levels that differ by a factor of 2.
_NODES = 20


def mean_response(people: Population, *, threshold: int = 0) -> Floats:
    """Returns the average message at each grid point, as a distance from the middle.

    A message at least `threshold` cells from the middle counts in full; others are
    replaced by noise around 0, and count nothing on average.

    Args:
        people: The population that sends messages.
        threshold: In cells; 0 for plain Clip-Laplace.

    Returns:
        In cells, ascending, shape (4097,).
    """
    nodes, weights = _quadrature(people)
    average = np.zeros(STEPS + 1)
    for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
        average += weight * _level_response(node, threshold)
    return average / people.num_users


def invert_response(averages: Floats, responses: Floats) -> Floats:
    """Returns the value that, held by all users, gives each average, within [-1, 1].

    Args:
        averages: Distances from the middle in cells, shape (d,).
        responses: From `mean_response`, shape (4097,).

    Returns:
        As a share of the clip range, shape (d,).

    Raises:
        InvalidInputError: If the levels are so small that messages are only noise.
    """
    # Below this, rounding is as large as the signal. `not >` refuses NaN, too.
    if not responses[-1] - responses[0] > 1e-9 * STEPS:
        raise InvalidInputError(
            "Expected privacy budgets well above 0: messages at level 0 are nothing but "
            "noise and cannot be analyzed on their own."
        )
    points = (np.arange(STEPS + 1) - _HALF) / _HALF
    # The response is nearly flat next to the ends, where rounding may make it fall;
    # np.interp needs points that do not.
    growing = np.maximum.accumulate(responses)
    # Exact: a value is moved to one of the two points beside it without bias, so that
    # the expectation is a straight line between points.
    values: Floats = np.interp(averages, growing, points)
    return values


def _level_response(level: float, threshold: int) -> Floats:
    """Returns the average message of one level at each grid point, shape (4097,)."""
    distances = np.arange(STEPS)
    decay = np.exp(-level / STEPS * distances)
    # Weights of the nearest m cells on one side of a point, and of their distances.
    near_sums = np.concatenate([[0.0], np.cumsum(decay)])
    far_sums = np.concatenate([[0.0], np.cumsum(decay * (distances + 0.5))])
    points = np.arange(STEPS + 1)
    start, offset = _HALF + threshold, points - _HALF
    right, between = STEPS - points, np.maximum(start - points, 0)
    left = np.maximum(points - start, 0)
    # Sum over the cells right of the middle: first those right of the point, then left.
    total = (
        offset * (near_sums[right] - near_sums[between])
        + far_sums[right]
        - far_sums[between]
    )
    total += offset * near_sums[left] - far_sums[left]
    # By symmetry, the mirrored point gives the sum left of the middle.
    average: Floats = (total - total[::-1]) / (near_sums + near_sums[::-1])
    return average


def _quadrature(people: Population) -> tuple[Floats, Floats]:
    """Returns at most `_NODES` levels per factor of 2, and their weights."""
    # A level's response is analytic in the right half-plane: zeros of its denominator, a
    # polynomial in e^(-eps / 4096) with positive and falling coefficients, are on the
    # unit circle or outside (Enestroem, Kakeya). Between x and 2 x, polynomials through
    # Chebyshev nodes converge like (3 + sqrt(8))^-nodes.
    levels = np.maximum(people.epsilons, _SMALLEST_LEVEL)
    distinct, indices = np.unique(levels, return_inverse=True)
    counts = np.bincount(indices, weights=people.counts)
    octaves = np.floor(np.log2(distinct)).astype(np.int64)
    nodes, weights = [], []
    for octave in np.unique(octaves).tolist():
        inside = octaves == octave
        octave_nodes, octave_weights = distinct[inside], counts[inside]
        if octave_nodes.size > _NODES:
            octave_nodes, octave_weights = _chebyshev(octave_nodes, octave_weights)
        nodes.append(octave_nodes)
        weights.append(octave_weights)
    return np.concatenate(nodes), np.concatenate(weights)


def _chebyshev(levels: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Returns Chebyshev nodes, with weights that are exact for polynomials."""
    # Discrete orthogonality turns the moments of the levels into weights of the nodes.
    middle, half = (levels[0] + levels[-1]) / 2.0, (levels[-1] - levels[0]) / 2.0
    moments = np.zeros(_NODES)
    for part in batches(levels.size, width=_NODES):
        scaled = (levels[part] - middle) / half  # In [-1, 1].
        moments += counts[part] @ chebvander(scaled, _NODES - 1)
    moments[1:] *= 2.0
    nodes = np.cos((np.arange(_NODES) + 0.5) * math.pi / _NODES)
    weights: Floats = chebvander(nodes, _NODES - 1) @ moments / _NODES
    return middle + half * nodes, weights
