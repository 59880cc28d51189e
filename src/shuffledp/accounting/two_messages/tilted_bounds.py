"""Bounds of the divergence of a tilted population, over a box or at some data.

The Fourier sum of `tilted` is evaluated in the middle of a box, and how far it may be from
that for any data of the box is bounded (docs/theory/two-messages.md).
"""

import numpy as np

from shuffledp.accounting.two_messages.tilted import (
    CELLS,
    FourierGrid,
    TiltedPopulation,
)
from shuffledp.types import Complexes, Floats

# Beyond this a bound by differences says nothing.
_FAR_APART = 100.0


def box_bounds(
    tilted: TiltedPopulation, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Bounds the divergence of all data between two corners of each box.

    Args:
        tilted: The population.
        low: Least holders in each band, shape (boxes, bands).
        high: Most of them, shape (boxes, bands).

    Returns:
        The logarithm of a bound for each box, shape (boxes,), and by how much each band
        loosens it, shape (boxes, bands).
    """
    middle, radius = 0.5 * (low + high), 0.5 * (high - low)
    falls = tilted.high_variance < tilted.low_variance
    max_variance = tilted.variances(np.where(falls, low, high)) + tilted.variance_error
    min_variance = tilted.variances(np.where(falls, high, low)) - tilted.variance_error
    min_variance = np.maximum(min_variance, 0.0)
    exponent = tilted.exponents(np.where(tilted.rise > 0.0, high, low))
    scales = np.ceil(np.log2(np.maximum(max_variance, 1.0) * (1.0 + 1e-9))).astype(
        np.int64
    )
    upper = np.empty(len(low))
    doubt = np.empty(low.shape)
    for scale in set(scales.tolist()):
        rows = scales == scale
        grid = tilted.grid(scale)
        sums, parts = _worst_sum(
            tilted, grid, middle[rows], radius[rows], min_variance[rows]
        )
        upper[rows] = np.log(np.maximum(sums, 1e-300))
        doubt[rows] = parts / np.maximum(sums, 1e-300)[:, None]
    upper += tilted.log_scale + exponent + tilted.exponent_error + 1e-12
    doubt += 2.0 * radius * np.abs(tilted.rise)
    return upper, doubt


def _amplitudes(
    tilted: TiltedPopulation, grid: FourierGrid, holders: Floats
) -> tuple[Complexes, Floats]:
    """Returns the tilted distribution's centered transform, and its rounding error."""
    counts = tilted.population.counts
    logs = (counts - holders) @ grid.ones.T + holders @ grid.zeros.T
    return np.exp(logs), grid.rounding


def _worst_sum(
    tilted: TiltedPopulation,
    grid: FourierGrid,
    middle: Floats,
    radius: Floats,
    min_variance: Floats,
) -> tuple[Floats, Floats]:
    """Returns the largest sum for any data of each box, and the term of each band."""
    amplitudes, rounding = _amplitudes(tilted, grid, middle)
    moved = radius @ grid.apart.T + rounding
    terms = amplitudes * grid.kernel
    sizes = np.abs(terms)
    # |e^a - e^b| <= |e^b| (e^|a - b| - 1), and the least variance limits |e^a|.
    decay = np.exp(-np.multiply.outer(min_variance, grid.falls))
    near = np.where(moved < _FAR_APART, np.expm1(np.minimum(moved, _FAR_APART)), np.inf)
    farthest = np.minimum(sizes * near, sizes + decay * np.abs(grid.kernel))
    scale = 2.0 / grid.size
    error = scale * (farthest.sum(axis=1) + 1e-13 * sizes.sum(axis=1)) + grid.alias
    if grid.angles.size < (grid.size - 1.0) / 2.0:
        # The points left out; the kernel never exceeds 4.
        error += 4.0 * decay[:, -1]
    sums = cell_bounds(grid, terms, error).max(axis=1)
    return sums, scale * radius * (sizes @ grid.apart)


def cell_bounds(grid: FourierGrid, terms: Complexes, error: Floats) -> Floats:
    """Bounds a Fourier sum for all tau of each cell, shape (boxes, CELLS).

    Args:
        grid: The points of the sum.
        terms: Transform times kernel at every angle, shape (boxes, angles).
        error: Largest error of the sum at tau = 0, shape (boxes,).
    """
    half, z, scale = 1.0 / CELLS, grid.points, 2.0 / grid.size
    # Taylor's theorem about the center of a cell: value, slope, and the largest bend.
    values = scale * (terms @ grid.waves).real
    slopes = scale * np.abs(((terms * z) @ grid.waves).real)
    bend = scale * (np.abs(terms) @ np.abs(z) ** 2)
    bounds: Floats = values + half * slopes
    bounds += np.multiply.outer(error + 0.5 * half**2 * bend, grid.shrink)
    return bounds


def data_bounds(tilted: TiltedPopulation, holders: Floats) -> tuple[Floats, Floats]:
    """Returns logarithms of a lower and an upper bound at each row of data.

    Args:
        tilted: The population.
        holders: How many people of each band hold the likelier value, whole numbers,
            shape (data, bands).
    """
    variances = tilted.variances(holders)
    max_variance = np.maximum(variances + tilted.variance_error, 1.0)
    scales = np.ceil(np.log2(max_variance * (1.0 + 1e-9)))
    lower, upper = np.empty(len(holders)), np.empty(len(holders))
    for scale in set(scales.astype(np.int64).tolist()):
        rows = scales == scale
        ends = _sums_at(tilted, tilted.grid(scale), holders[rows], variances[rows])
        lower[rows], upper[rows] = np.log(np.maximum(ends, 1e-300))
    exponent = tilted.log_scale + tilted.exponents(holders)
    slack = tilted.exponent_error + 1e-12
    # Where nothing is left of a sum, the logarithm is that of nothing.
    lower = np.where(lower > -690.0, lower + exponent - slack - 1e-9, -np.inf)
    return lower, upper + exponent + slack


def _sums_at(
    tilted: TiltedPopulation, grid: FourierGrid, holders: Floats, variances: Floats
) -> Floats:
    """Returns lower and upper ends of the sum at the best t, shape (2, data)."""
    amplitudes, rounding = _amplitudes(tilted, grid, holders)
    terms = amplitudes * grid.kernel
    sizes = np.abs(terms)
    z = grid.points
    means = tilted.means(holders)
    # The mean itself is rounded.
    blur = tilted.unit * (float(tilted.population.counts @ (tilted.one + 1.0)) + 1.0)
    scale = 2.0 / grid.size
    error = grid.alias + scale * (
        sizes @ (np.expm1(rounding) + 1e-13 + blur * np.abs(z))
    )
    if grid.angles.size < (grid.size - 1.0) / 2.0:
        min_variance = np.maximum(variances - tilted.variance_error, 0.0)
        error += 4.0 * np.exp(-min_variance * grid.falls[-1])
    # The mode lies next to the mean, and the best t one above it.
    first, last = np.floor(means - blur) + 1.0, np.ceil(means + blur) + 1.0
    tau = np.minimum(first + np.array([[0.0], [1.0], [2.0]]), last) - means
    waves = np.exp(-np.multiply.outer(tau, z))
    values = scale * (terms * waves).real.sum(axis=2)
    doubt = error * np.exp(-tilted.theta * tau)
    ends: Floats = np.stack([values - doubt, values + doubt]).max(axis=1)
    return ends
