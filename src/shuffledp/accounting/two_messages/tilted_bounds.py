"""Bounds of the divergence of a tilted population, over a box or at some data.

The Fourier sum of `tilted` is evaluated in the middle of a box, and how far it may be from
that for any data of the box is bounded (docs/theory/two-messages.md).
"""

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.sums.complex_exp import exp_of
from shuffledp.accounting.sums.matrix_products import real_product
from shuffledp.accounting.two_messages.tilted import (
    CELLS,
    FourierGrid,
    TiltedPopulation,
    parts_of,
)
from shuffledp.types import Complexes, Floats, Ints

# Beyond this a bound by differences says nothing.
_FAR_APART = 100.0
# Powers of 2 up to this one have grids of their own.
_SMALL_SCALE = 8
# Where a logarithm may move by more, its exponential is far from linear.
_FAR_FROM_LINEAR = 1.0
# Whole numbers from one below a mean to one above it, where that is rounded.
_MOST_MODES = 3


def box_bounds(
    tilted: TiltedPopulation, low: Floats, high: Floats
) -> tuple[Floats, Floats, Floats]:
    """Bounds the divergence of all data between two corners of each box.

    Args:
        tilted: The population.
        low: Least holders in each band, shape (boxes, bands).
        high: Most of them, shape (boxes, bands).

    Returns:
        The logarithm of a bound for each box, shape (boxes,), by how much each band
        loosens it, and how it about grows with the data, shapes (boxes, bands).
    """
    middle, radius = 0.5 * (low + high), 0.5 * (high - low)
    falls = tilted.high_variance < tilted.low_variance
    max_variance = tilted.variances(np.where(falls, low, high)) + tilted.variance_error
    min_variance = tilted.variances(np.where(falls, high, low)) - tilted.variance_error
    min_variance = np.maximum(min_variance, 0.0)
    scales = _scales(max_variance)
    upper = np.empty(len(low))
    doubt, rise = np.empty(low.shape), np.empty(low.shape)
    for scale in set(scales.tolist()):
        rows = scales == scale
        upper[rows], doubt[rows], rise[rows] = _worst_logs(
            tilted,
            tilted.grid(scale),
            middle[rows],
            radius[rows],
            min_variance[rows],
        )
    # Data of a box are rounded twice: its middle, and what they differ by from that.
    upper += tilted.log_scale + 2.0 * tilted.exponent_error + 1e-12
    return upper, doubt, rise


def _scales(max_variances: Floats) -> Ints:
    """Returns the logarithms, to base 2, of variances for which grids are prepared."""
    scales = np.ceil(np.log2(np.maximum(max_variances, 1.0) * (1.0 + 1e-9)))
    # Of a large variance, powers of 4 do: the points that are left out matter as little.
    scales += (scales > _SMALL_SCALE) & (scales % 2.0 == 1.0)
    return scales.astype(np.int64)


def _amplitudes(
    grid: FourierGrid, holders: Floats, *, tau: Floats | None = None
) -> tuple[Complexes, Floats]:
    """Returns the tilted distribution's centered transform, and its rounding error.

    Args:
        grid: The points of the sum.
        holders: Holders in each band, shape (data, bands).
        tau: Where its factors e^{-z tau} are multiplied, too, shape (data,).
    """
    moves, size = real_product(holders, grid.moves), grid.angles.size
    real, imaginary = moves[:, :size] + grid.base.real, moves[:, size:] + grid.base.imag
    if tau is not None:
        # In the exponent, one exponential does for both.
        real -= np.multiply.outer(tau, grid.points.real)
        imaginary -= np.multiply.outer(tau, grid.points.imag)
    return exp_of(real, imaginary), grid.rounding


def _worst_logs(
    tilted: TiltedPopulation,
    grid: FourierGrid,
    middle: Floats,
    radius: Floats,
    min_variance: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Returns the largest logarithm of sum and exponent for any data of each box.

    The sum is as good as linear in the data, as the exponent is: both are taken together.

    Returns:
        Logarithms, shape (boxes,), and by how much each band adds to the error of the
        sum, as a part of it, shape (boxes, bands).
    """
    amplitudes, rounding = _amplitudes(grid, middle)
    # By how much a logarithm of the transform may be larger or smaller, at most.
    moved = real_product(radius, grid.apart)
    terms = amplitudes * grid.kernel
    sizes = np.abs(terms)
    is_linear = moved < _FAR_FROM_LINEAR
    errors = _errors(grid, sizes, moved, rounding, min_variance, is_linear)
    scale = 2.0 / grid.size
    error = scale * (errors.sum(axis=1) + 1e-13 * sizes.sum(axis=1)) + grid.alias
    if grid.angles.size < (grid.size - 1.0) / 2.0:
        # The points left out; the kernel never exceeds 4.
        error += 4.0 * np.exp(-min_variance * grid.falls[-1])
    sums = np.maximum(cell_bounds(grid, terms, error), 1e-300)
    growing = np.where(is_linear, terms, 0.0)
    logs, rises = _largest_logs(tilted, grid, growing, moved, sums, radius)
    relative_errors = errors / np.maximum(moved, 1e-300)
    doubt = scale * radius * (relative_errors @ grid.apart)
    doubt /= sums.max(axis=1)[:, None]
    return tilted.exponents(middle) + logs, doubt, rises


def _largest_logs(
    tilted: TiltedPopulation,
    grid: FourierGrid,
    growing: Complexes,
    moved: Floats,
    sums: Floats,
    radius: Floats,
) -> tuple[Floats, Floats]:
    """Returns the largest logarithms over all cells, and how they grow with the data.

    Args:
        tilted: The population.
        grid: The points of the sums.
        growing: Terms that are as good as linear in the data, others 0, shape (boxes,
            angles).
        moved: By how much each logarithm may move, shape (boxes, angles).
        sums: Bounds in the middle of each box, for each cell of tau, shape (boxes, CELLS).
        radius: Half the widths of the boxes, shape (boxes, bands).
    """
    boxes = np.arange(len(radius))
    # No growth exceeds the sum of what its terms may move by.
    moves = (np.abs(growing) * moved) @ np.abs(grid.waves).T
    most = np.log(sums) + 2.0 / grid.size * moves / sums
    worst = most.argmax(axis=1)
    logs, rises = _logs_at(tilted, grid, growing, sums, radius, boxes, worst)
    # Cells that even so stay below that of another need not be looked at.
    most[boxes, worst] = -np.inf
    most += (radius @ np.abs(tilted.rise))[:, None]
    rows, cells = np.nonzero(most > logs[:, None])
    if rows.size:
        others, other_rises = _logs_at(tilted, grid, growing, sums, radius, rows, cells)
        # In ascending order, as the last of several cells of a box stays.
        order = np.argsort(others, kind="stable")
        order = order[others[order] > logs[rows[order]]]
        logs[rows[order]], rises[rows[order]] = others[order], other_rises[order]
    return logs, rises


def _logs_at(
    tilted: TiltedPopulation,
    grid: FourierGrid,
    growing: Complexes,
    sums: Floats,
    radius: Floats,
    rows: Ints,
    cells: Ints,
) -> tuple[Floats, Floats]:
    """Returns the same at these boxes and cells, shapes (pairs,) and (pairs, bands)."""
    at_cells = grid.waves[cells]
    np.multiply(growing[rows], at_cells, out=at_cells)
    growth = 2.0 / grid.size * _real_part(at_cells, grid.parts_of_moves)
    widths, middle_sums = radius[rows], sums[rows, cells]
    rises = tilted.rise + growth / middle_sums[:, None]
    # log(a + b) <= log a + b / a, of the growth b.
    together = np.log(middle_sums) + (widths * np.abs(rises)).sum(axis=1)
    # Apart, in case the sum in the middle is much smaller than elsewhere.
    largest = middle_sums + (widths * np.abs(growth)).sum(axis=1)
    apart = np.log(largest) + widths @ np.abs(tilted.rise)
    return np.where(middle_sums > 1e-290, np.minimum(together, apart), apart), rises


def _errors(
    grid: FourierGrid,
    sizes: Floats,
    moved: Floats,
    rounding: Floats,
    min_variance: Floats,
    is_linear: NDArray[np.bool_],
) -> Floats:
    """Returns how far each term may be from a linear one, or from that in the middle."""
    farther = np.minimum(moved + rounding, _FAR_APART)
    # |e^w - 1 - w| <= e^|w| - 1 - |w|, and a cell's center stands for all of its tau.
    growth = np.expm1(farther)
    bends = growth - farther + rounding + 1e-13 * farther
    bends += np.abs(grid.points) * moved / CELLS
    errors: Floats = sizes * bends
    if is_linear.all():
        return errors
    # |e^a - e^b| <= |e^b| (e^|a - b| - 1), and the least variance limits |e^a|.
    decay = np.exp(-np.multiply.outer(min_variance, grid.falls))
    near = np.where(farther < _FAR_APART, growth, np.inf)
    apart = np.minimum(sizes * near, sizes + decay * np.abs(grid.kernel))
    np.copyto(errors, apart, where=~is_linear)
    return errors


def cell_bounds(grid: FourierGrid, terms: Complexes, error: Floats) -> Floats:
    """Bounds a Fourier sum for all tau of each cell, shape (boxes, CELLS).

    Args:
        grid: The points of the sum.
        terms: Transform times kernel at every angle, shape (boxes, angles).
        error: Largest error of the sum at tau = 0, shape (boxes,).
    """
    half, z, scale = 1.0 / CELLS, grid.points, 2.0 / grid.size
    # Taylor's theorem about the center of a cell: value, slope, and the largest bend.
    sums = scale * _real_part(terms, grid.parts_of_waves)
    values, slopes = sums[:, :CELLS], np.abs(sums[:, CELLS:])
    bend = scale * (np.abs(terms) @ np.abs(z) ** 2)
    bounds: Floats = values + half * slopes
    bounds += np.multiply.outer(error + 0.5 * half**2 * bend, grid.shrink)
    return bounds


def _real_part(terms: Complexes, parts: Floats) -> Floats:
    """Returns the real part of a product with what `parts_of` gives."""
    return real_product(terms.view(np.float64), parts)


def data_bounds(tilted: TiltedPopulation, holders: Floats) -> tuple[Floats, Floats]:
    """Returns logarithms of a lower and an upper bound at each row of data.

    Args:
        tilted: The population.
        holders: How many people of each band hold the likelier value, whole numbers,
            shape (data, bands).
    """
    variances = tilted.variances(holders)
    scales = _scales(variances + tilted.variance_error)
    lower, upper = np.empty(len(holders)), np.empty(len(holders))
    for scale in set(scales.tolist()):
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
    means = tilted.means(holders)
    # The mean itself is rounded.
    blur = tilted.unit * (float(tilted.population.counts @ (tilted.one + 1.0)) + 1.0)
    # The mode lies next to the mean, and the best t one above it.
    first, last = np.floor(means - blur) + 1.0, np.ceil(means + blur) + 1.0
    tau = first - means
    # Terms at the first t; at each t after it they have one more factor e^-z.
    terms = _amplitudes(grid, holders, tau=tau)[0] * grid.kernel
    steps = np.arange(_MOST_MODES)
    factors = np.exp(-np.multiply.outer(steps, grid.points))
    scale = 2.0 / grid.size
    values = scale * _real_part(terms, parts_of(factors))
    relative = np.expm1(grid.rounding) + 1e-13 + blur * np.abs(grid.points)
    error = np.full(len(holders), grid.alias)
    if grid.angles.size < (grid.size - 1.0) / 2.0:
        min_variance = np.maximum(variances - tilted.variance_error, 0.0)
        error += 4.0 * np.exp(-min_variance * grid.falls[-1])
    doubt = error * np.exp(-tilted.theta * tau) + scale * (np.abs(terms) @ relative)
    doubts = np.multiply.outer(doubt, np.exp(-tilted.theta * steps))
    is_beyond = steps > (last - first)[:, None]
    ends = np.stack([values - doubts, values + doubts])
    ends[:, is_beyond] = -np.inf
    best: Floats = ends.max(axis=2)
    return best
