"""Cells of two-sided exponential noise for simulations: millions of them per second.

A device draws its cells exactly (`shuffledp.randomizers.grid`), which takes half a
microsecond each. Simulations draw them by the inverse of the distribution function in
double precision, in a fiftieth of the time. The steps are the same: a value is moved to a
point of the grid, at random and without bias, and noise carries the point into a cell.

Approximations:

* A uniform number u is a multiple of 2^-53, and the arithmetic after it rounds. Either
  edge of a cell's part of [0, 1) moves by less than 8 * 2^-53. For levels up to 6 every
  cell of the range has a probability of 3.6e-6 or more, so that probabilities have a
  relative error below 1e-9; at any level, the errors of all 4096 add up to less than
  1e-11. Levels below 1e-9 are drawn like 1e-9.
* Noise is cut off where a probability of 2^-53 is left.
* The probability that a value moves up is rounded to a multiple of 2^-24.

It is unfit for real people's data, which take the exact path.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shuffledp.randomizers.grid import STEPS
from shuffledp.types import Floats

# Where messages of why_not_local noise end, so that they fit into 32 bits.
FARTHEST_CELL = 2**30

# Level 0 would have a rate of 0, by which lengths are divided.
_SMALLEST_LEVEL = 1e-9
# Entries of a block: its four buffers fit into the cache of a core.
_BLOCK = 2**14
_BELOW_ONE = 1.0 - 2.0**-53


def clip_laplace_cells(
    updates: NDArray[np.float32],
    levels: Floats,
    *,
    clip: float,
    rng: np.random.Generator,
) -> NDArray[np.uint16]:
    """Draws the cell of each clipped value's Clip-Laplace message, 0, ..., 4095.

    Args:
        updates: Finite, shape (k, d).
        levels: Local budgets in nats, shape (k,).
        clip: C > 0; values are clipped to [-C, C].
        rng: The only source of randomness.

    Returns:
        Shape (k, d).
    """
    cells = np.empty(updates.shape, dtype=np.uint16)
    for people, points, spare_buffer, drawn in _blocks(updates, clip, rng=rng):
        rates = _rates(levels[people])
        # With F(x) = 1 - exp(-rate x): minus the weight of the cells left of the point,
        # then minus that of both sides, of which a uniform part is drawn.
        np.multiply(points, -rates, out=spare_buffer)
        np.expm1(spare_buffer, out=spare_buffer)
        beyond = points - STEPS
        beyond *= rates
        np.expm1(beyond, out=beyond)
        beyond += spare_buffer
        drawn *= beyond
        np.subtract(spare_buffer, drawn, out=drawn)
        _move(points, drawn, spare_buffer, rates)
        np.clip(points, 0.0, STEPS - 1.0, out=cells[people], casting="unsafe")
    return cells


def laplace_cells(
    updates: NDArray[np.float32],
    levels: Floats,
    *,
    clip: float,
    rng: np.random.Generator,
) -> NDArray[np.int32]:
    """Draws the cell of each clipped value's Laplace message; the range is 0, ..., 4095.

    Args:
        updates: Finite, shape (k, d).
        levels: Local budgets in nats, shape (k,).
        clip: C > 0; values are clipped to [-C, C], and noise is of scale 2 C / level.
        rng: The only source of randomness.

    Returns:
        Shape (k, d), within 2^30 of 0.
    """
    cells = np.empty(updates.shape, dtype=np.int32)
    for people, points, spare_buffer, drawn in _blocks(updates, clip, rng=rng):
        # Uniform in [-1, 1): the sign is the side of the noise.
        drawn *= 2.0
        drawn -= 1.0
        _move(points, drawn, spare_buffer, _rates(levels[people]))
        np.clip(
            points, -FARTHEST_CELL, FARTHEST_CELL, out=cells[people], casting="unsafe"
        )
    return cells


def _rates(levels: Floats) -> Floats:
    """Returns the exponential rate of the noise per cell, shape (k, 1)."""
    rates: Floats = np.maximum(levels, _SMALLEST_LEVEL)[:, None] / STEPS
    return rates


def _blocks(
    updates: NDArray[np.float32], clip: float, *, rng: np.random.Generator
) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
    """Yields people, their values as points of the grid, a buffer, and uniform numbers."""
    # The buffers are the same arrays for every block: consumers overwrite them in place.
    people, width = updates.shape
    step = max(_BLOCK // width, 1)
    buffers = np.empty((3, min(step, people), width))
    fine = np.empty(buffers.shape[1:], dtype=np.float32)
    for start in range(0, people, step):
        part = slice(start, min(start + step, people))
        points, spare_buffer, drawn = buffers[:, : part.stop - start]
        np.multiply(updates[part], STEPS / 2 / clip, out=points, dtype=np.float64)
        points += STEPS / 2
        np.clip(points, 0.0, STEPS, out=points)
        # Unbiased rounding: up with a probability equal to the fractional part.
        # In steps of 2^-24 of a cell, 3e-11 of the clip range: less than the resolution
        # of single precision in most of it.
        points += rng.random(dtype=np.float32, out=fine[: len(points)])
        np.floor(points, out=points)
        rng.random(out=drawn)
        yield part, points, spare_buffer, drawn


def _move(points: Floats, drawn: Floats, spare: Floats, rates: Floats) -> None:
    """Moves points by noise into cells, in place.

    Args:
        points: Of the grid.
        drawn: Minus or plus the probability that noise is shorter than drawn, on the left
            or on the right; it is overwritten.
        spare: A buffer, which is overwritten.
        rates: The exponential rate of the noise per cell.
    """
    # Inverse of the distribution function: length = -log(1 - probability) / rate. The
    # cap below 1 keeps the logarithm finite.
    np.abs(drawn, out=spare)
    np.minimum(spare, _BELOW_ONE, out=spare)
    np.negative(spare, out=spare)
    np.log1p(spare, out=spare)
    spare /= rates
    np.copysign(spare, drawn, out=spare)
    points += spare
    np.floor(points, out=points)
