"""A public grid of messages, so that noise leaks nothing through floating point.

Noise added in double precision can be told from its last bits: the sums that v + noise can
be and those that v' + noise can be are nearly disjoint sets (Mironov 2012). Here a
message is a whole number, the cell of a public grid that the noisy number falls into, and
its probability is exactly that of the cell under the mechanism's density:

1. The range of values is cut into N cells, by default 4096. A value is moved to one of the
   two grid points next to it, at random and without bias. This happens to the value, not
   to the message: guarantees for all values hold for the points.
2. Noise whose density falls by a factor u from one cell to the next carries a point into
   the d-th cell to its right or left with probability (1 - u) u^d / 2: a fair sign and
   a geometric number. The binary digits of such a number are independent,

       P(digit i = 1) = u^(2^i) / (1 + u^(2^i)),

   and u is e^(-eps / N). The draws are settled by real numbers (exponential_draws.py),
   so that eps / N need not be a double: any number of cells is as exact as any other.

Reporting the cell is a function of the real-valued message: a guarantee for the
real-valued message holds for the cell. There is no rounding to allow for.

Sources: Mironov (2012), "On significance of the least significant bits for differential
privacy"; Canonne, Kamath, Steinke (2020), "The discrete Gaussian for differential
privacy", for noise in whole numbers.
"""

import math

import numpy as np

from shuffledp.arrays import int_array
from shuffledp.errors import InvalidInputError
from shuffledp.number_range import half_range
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.exponential_draws import exponential_draws, logistic_draws
from shuffledp.randomness import Rng, bernoulli_draws, stream_of
from shuffledp.types import Floats, Ints

# Cells across the range of values, unless another number is given; the number is public.
STEPS = 4096
MOST_CELLS = 2**20
# Cells beyond the range on either side; messages farther out are sent as the outermost one.
FARTHEST = 2**40
# Below it, unbounded noise is so wide that messages are worth nothing.
SMALLEST_LEVEL = 1e-6
# Beyond it a geometric number's remaining digits are 0 except with probability e^-32.
_LAST = 32.0


def check_num_cells(cells: int) -> None:
    """Raises InvalidInputError unless the number of cells is in the supported range."""
    whole_number(cells, "cells", least=2, most=MOST_CELLS)


def on_grid(edges: Floats, num_cells: int) -> Floats:
    """Returns the nearest edges of cells, where the range of values is [-1, 1].

    >>> on_grid(np.array([-1.0, 0.3]), 4096) * 2048
    array([-2048.,   614.])
    """
    half = num_cells / 2.0
    rounded: Floats = (np.round(edges * half + half) - half) / half
    return rounded


def positions(values: Floats, low: float, high: float, num_cells: int) -> Floats:
    """Returns where values lie on the grid, in [0, N], shape as `values`."""
    # Halves, as high - low may be more than the largest double.
    share: Floats = (values / 2.0 - low / 2.0) / half_range(low, high)
    return np.clip(share, 0.0, 1.0) * num_cells


def grid_points(grid_positions: Floats, *, rng: Rng) -> Ints:
    """Draws one of the two grid points next to each position, without bias."""
    below = np.floor(grid_positions)
    points: Ints = below.astype(np.int64) + bernoulli_draws(
        grid_positions - below, rng=rng
    )
    return points


def grid_values(messages: Ints, low: float, high: float, num_values: int) -> Floats:
    """Returns messages as values; the first is `low` and the last is `high`."""
    # Half the length is divided first: the length itself may overflow.
    step = half_range(low, high) / (num_values - 1) * 2.0
    values: Floats = low + np.asarray(messages, dtype=np.float64) * step
    return values


def midpoints(messages: Ints, low: float, high: float, num_cells: int) -> Floats:
    """Returns the middle of each cell, in the units of the values."""
    step = half_range(low, high) / (num_cells / 2)
    # Far cells of a huge range may be beyond the largest double.
    with np.errstate(over="ignore"):
        middle: Floats = low + (messages.astype(np.float64) + 0.5) * step
    return middle


def geometric_numbers(exponents: Floats, *, parts: int = 1, rng: Rng) -> Ints:
    """Draws d = 0, 1, ... with probability proportional to e^(-a d / parts), shape (n,).

    Args:
        exponents: a > 0, shape (n,).
        parts: Common divisor of the exponents, applied without rounding.
        rng: The only source of randomness.
    """
    if not exponents.size:
        return np.zeros(0, dtype=np.int64)
    num_digits = last_digit(float(exponents.min()) / parts)
    numbers = geometric_digits(exponents, num_digits, parts=parts, rng=rng)
    # What is left is a geometric number, too; nearly always 0.
    undecided = np.arange(exponents.size)
    while undecided.size:
        further = exponents[undecided] * 2.0**num_digits
        stream = stream_of(rng, undecided)
        undecided = undecided[exponential_draws(further, parts=parts, rng=stream)]
        numbers[undecided] += 2**num_digits
    return numbers


def last_digit(exponent: float) -> int:
    """Returns how many binary digits a geometric number has, nearly always."""
    return max(0, math.ceil(math.log2(_LAST / exponent)))


def geometric_digits(
    exponents: Floats, num_digits: int, *, parts: int = 1, rng: Rng
) -> Ints:
    """Draws d < 2^num_digits, probability proportional to e^(-a d / parts), shape (n,).

    Args:
        exponents: a >= 0, shape (n,).
        num_digits: How many binary digits d has.
        parts: Common divisor of the exponents, applied without rounding.
        rng: The only source of randomness.
    """
    numbers = np.zeros(exponents.size, dtype=np.int64)
    for digit in range(num_digits):
        hits = logistic_draws(exponents * 2.0**digit, parts=parts, rng=rng)
        numbers += hits.astype(np.int64) << digit
    return numbers


def signs(size: int, *, rng: Rng) -> Ints:
    """Draws fair bits: 1 is right, 0 is left."""
    return rng.integers(0, 2, size)


def cell_beside(points: Ints, right: Ints, distance: Ints) -> Ints:
    """Returns the d-th cell beside each point: point + d, or point - 1 - d on the left."""
    cells: Ints = np.where(right == 1, points + distance, points - 1 - distance)
    return cells


def within_bounds(cells: Ints, num_cells: int) -> Ints:
    """Returns the cells, those too far out replaced by the outermost one."""
    bounded: Ints = np.clip(cells, -FARTHEST, FARTHEST + num_cells - 1)
    return bounded


def check_cells(messages: Ints, num_cells: int, beyond: int) -> None:
    """Raises InvalidInputError unless these are cells of the grid, shape (n,).

    Args:
        messages: Unvalidated messages.
        num_cells: How many there are across the range of values.
        beyond: How many cells they may be off the range of values.
    """
    cell_array = int_array(messages, "messages")
    if cell_array.size and not (
        int(cell_array.min()) >= -beyond and int(cell_array.max()) < num_cells + beyond
    ):
        raise InvalidInputError(
            f"Expected messages to be integers in [{-beyond}, {num_cells + beyond})."
        )


def rounding_variances(grid_positions: Floats) -> Floats:
    """Returns the variance of moving a value to a grid point, in cells squared."""
    share = grid_positions - np.floor(grid_positions)
    variances: Floats = share * (1.0 - share)
    return variances


def bits_for(distance: float, num_cells: int) -> float:
    """Returns the bits of an integer for all cells within a distance of the range."""
    outermost = min(float(math.ceil(distance)), float(FARTHEST))
    return float(math.ceil(math.log2(num_cells + 2.0 * outermost)))
