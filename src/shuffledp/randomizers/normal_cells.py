"""Normal noise in whole cells, each with exactly its probability under the density.

A normal number of unit deviation is drawn by rejection: z >= 0 with density e^-z is
accepted with probability e^{-(z - 1)^2 / 2}, and gets a fair sign. With cells of length h,
z = h (d + t): d is geometric with ratio e^-h, and given d the point t of the cell has
density proportional to e^{-h t} on [0, 1). So a uniform t is accepted with probability

    e^{-(z - 1)^2 / 2 - h t},    z = h (d + t),

which never increases in t. Bits of t are drawn only until the decision is certain: the
cell d is that of a real normal number, which is never computed itself.
"""

from decimal import Decimal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from shuffledp.randomizers.exponential_draws import Bounds, around, settled_draws, word
from shuffledp.randomizers.grid import cell_beside, geometric_numbers, signs
from shuffledp.randomness import Rng, stream_of
from shuffledp.types import Floats, Ints

# Cells of this many deviations, or longer.
_COARSE = 0.2


def normal_cells(points: Ints, lengths: Floats, *, parts: int = 1, rng: Rng) -> Ints:
    """Draws the cells of normal messages around grid points, shape (n,).

    Args:
        points: Where the normal distributions are centered, shape (n,).
        lengths: Of all parts together, in units of each one's deviation, shape (n,).
        parts: How many cells have these lengths together.
        rng: The only source of randomness.
    """
    distance = np.empty(points.size, dtype=np.int64)
    undecided = np.arange(points.size)
    while undecided.size:
        stream, h = stream_of(rng, undecided), lengths[undecided]
        distance[undecided] = tried_distances = geometric_numbers(
            h, parts=parts, rng=stream
        )
        undecided = undecided[
            ~accepted_cells(tried_distances, h, parts=parts, rng=stream)
        ]
    return cell_beside(points, signs(points.size, rng=rng), distance)


def accepted_cells(
    cells: Ints, lengths: Floats, *, parts: int = 1, rng: Rng
) -> NDArray[np.bool_]:
    """Draws whether geometric numbers become normal cells, shape (n,).

    Args:
        cells: d, shape (n,).
        lengths: h times `parts`, shape (n,).
        parts: Common divisor of the lengths, applied without rounding.
        rng: The only source of randomness.
    """
    offsets = rng.random(cells.size)
    distances = lengths / parts * (cells + offsets) - 1.0
    probabilities = np.exp(-(distances**2) / 2.0 - lengths / parts * offsets)

    def bounds(index: int) -> Bounds:
        stream = stream_of(rng, np.array([index]))
        offset, known_digits = int(offsets[index] * 2.0**53), 53
        cell, exact_length = int(cells[index]), Decimal(float(lengths[index]))

        def between(bits: int) -> tuple[Decimal, Decimal]:
            nonlocal offset, known_digits
            while known_digits < bits:
                offset, known_digits = (offset << 53) + word(stream), known_digits + 53
            ends = (
                Decimal(end) * Decimal(2) ** -known_digits
                for end in (offset + 1, offset)
            )
            length = exact_length / parts
            min_probability, max_probability = (
                _probability(cell, length, end) for end in ends
            )
            return around(min_probability)[0], around(max_probability)[1]

        return between

    return settled_draws(probabilities, bounds, rng=rng)


def variance_of_cells(lengths: Floats) -> Floats:
    """Returns the variance of the cell's middle, in cells squared, shape as `lengths`.

    Args:
        lengths: h, shape (n,).
    """
    # Past a few cells per deviation Sheppard's correction is exact in double precision.
    variances: Floats = 1.0 / lengths**2 + 1.0 / 12.0
    steep = lengths > _COARSE
    distances = np.arange(1.0, 40.0 / _COARSE)
    beyond = 2.0 * ndtr(-distances * lengths[steep, None])
    # (d + 1/2)^2 = 1/4 + 2 + 4 + ... + 2 d.
    variances[steep] = 0.25 + beyond @ (2.0 * distances)
    return variances


def _probability(cell: int, length: Decimal, offset: Decimal) -> Decimal:
    distance = length * (cell + offset) - 1
    return (-(distance * distance) / 2 - length * offset).exp()
