"""Simulated counts per grid cell of many users' noise, without one draw per user.

The excess of a geometric number over a bound that it exceeds is geometric again. So users
who start to the right from different grid points can be merged once they have reached the
same cell: each of them stays with the same probability, and the others go on to the next
cell. Beyond the last starting point, a number's binary digits are independent Bernoulli
draws, and all remaining users are sorted by the highest digit first.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from scipy.special import ndtr

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.drawn_counts import draw_multinomials, halves
from shuffledp.randomizers.grid import geometric_numbers, last_digit
from shuffledp.types import Floats, Ints

# Messages, and the number of times that each was sent.
MessageCounts: TypeAlias = tuple[Ints, Ints]

# As many users as this are drawn one by one, and more if cells are very many.
_MAX_SEPARATE, _CELLS_PER_USER = 1 << 12, 32
# More users, or cells, take minutes.
_MAX_SLOW_DRAWS = 1 << 21
_MAX_DIGITS, _MAX_CELLS = 24, 1 << 26
# Noise beyond this many deviations is rarer than one in 10^22.
_DEVIATIONS = 10.0


def draw_grid_points(
    grid_positions: Floats, counts: Ints, num_cells: int, *, rng: np.random.Generator
) -> Ints:
    """Draws the number of users who are moved to each point of the grid.

    Args:
        grid_positions: Where values lie on the grid, in [0, N], shape (values,).
        counts: The number of users who hold them, shape (levels, values).
        num_cells: N.
        rng: A simulation's.

    Returns:
        Shape (levels, N + 1).
    """
    lower_points = np.floor(grid_positions)
    num_upward = rng.binomial(counts, grid_positions - lower_points)
    points = np.zeros((len(counts), num_cells + 1), dtype=np.int64)
    lower_index = lower_points.astype(np.int64)
    for row, num_staying, num_moving in zip(
        points, counts - num_upward, num_upward, strict=True
    ):
        np.add.at(row, lower_index, num_staying)
        # A user at the last point cannot move further.
        np.add.at(row, np.minimum(lower_index + 1, num_cells), num_moving)
    return points


def draw_cell_counts(
    starts: Ints, stays: Floats, *, rng: np.random.Generator
) -> tuple[Ints, int]:
    """Draws the number of users who stay in each cell, going from left to right.

    Args:
        starts: The number that starts at the left edge of each cell, shape (cells,).
        stays: Probability of staying in a cell once it is reached, shape (cells,).
        rng: A simulation's.

    Returns:
        The number in each cell, shape (cells,), and the number beyond the last.
    """
    cell_counts, num_moving = np.zeros(starts.size, dtype=np.int64), 0
    start_cells, probabilities = np.flatnonzero(starts).tolist(), stays.tolist()
    for first, next_start in itertools.pairwise([*start_cells, starts.size]):
        num_moving += int(starts[first])
        for cell in range(first, next_start):
            if not num_moving:
                break
            num_staying = int(rng.binomial(num_moving, probabilities[cell]))
            cell_counts[cell] = num_staying
            num_moving -= num_staying
    return cell_counts, num_moving


def draw_geometric_numbers(
    num_users: int, exponent: float, *, rng: np.random.Generator
) -> Iterator[MessageCounts]:
    """Draws the number of users with each geometric number d, of weight e^(-a d).

    Args:
        num_users: The number of users.
        exponent: a > 0.
        rng: A simulation's.

    Raises:
        InvalidInputError: If probabilities fall so slowly that there are too many
            numbers.
    """
    num_digits = last_digit(exponent)
    if num_users <= max(_MAX_SEPARATE, 2**num_digits // _CELLS_PER_USER):
        if num_users > _MAX_SLOW_DRAWS:
            raise _too_wide()
        exponents = np.full(num_users, exponent)
        yield geometric_numbers(exponents, rng=rng), np.ones(num_users, dtype=np.int64)
        return
    if num_digits > _MAX_DIGITS:
        raise _too_wide()
    numbers = np.arange(1 << num_digits, dtype=np.int64)
    while num_users:
        num_beyond = int(rng.binomial(num_users, math.exp(-exponent * numbers.size)))
        counts: Ints = np.array([num_users - num_beyond])
        for digit in reversed(range(num_digits)):
            counts = halves(counts, 1.0 / (1.0 + _decay(exponent, digit)), rng=rng)
        yield numbers, counts
        numbers, num_users = numbers + numbers.size, num_beyond


def draw_normal_cells(
    points: Ints,
    length: float,
    draw: Callable[[Ints], Ints],
    *,
    rng: np.random.Generator,
) -> Iterator[MessageCounts]:
    """Draws the number of normal messages that fall into each cell.

    Args:
        points: The number of users at each point of the grid, shape (N + 1,).
        length: Of a cell, in deviations.
        draw: Draws the cells of users at these points, separately.
        rng: A simulation's.

    Raises:
        InvalidInputError: If the numbers of cells and points are so large that it would
            take minutes.
    """
    # Noise of more than 10 deviations is left out: it is rarer than one in 10^22.
    num_cells = _DEVIATIONS / length
    is_separate = points <= num_cells / _CELLS_PER_USER
    shared_points = np.flatnonzero(~is_separate)
    if (
        int(points[is_separate].sum()) > _MAX_SLOW_DRAWS
        or num_cells * shared_points.size > _MAX_CELLS
    ):
        raise _too_wide()
    separate_points: Ints = np.repeat(np.flatnonzero(is_separate), points[is_separate])
    yield draw(separate_points), np.ones(separate_points.size, dtype=np.int64)
    if not shared_points.size:
        return
    edges = length * np.arange(math.ceil(num_cells) + 1)
    probabilities = ndtr(-edges[:-1]) - ndtr(-edges[1:])
    distance = np.arange(probabilities.size)
    for point in shared_points.tolist():
        sides = halves(points[point : point + 1], 0.5, rng=rng)
        left, right = draw_multinomials(sides, probabilities, rng=rng)
        yield point - 1 - distance, left
        yield point + distance, right


def _decay(exponent: float, digit: int) -> float:
    return math.exp(-exponent * 2.0**digit)


def _too_wide() -> InvalidInputError:
    return InvalidInputError(
        "Expected larger levels, fewer cells, fewer people or fewer different values: the "
        "noise of so many people spreads over more cells than can be counted in seconds."
    )
