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
from shuffledp.randomizers.drawn_counts import halves, scattered
from shuffledp.randomizers.grid import geometric_numbers, last_digit
from shuffledp.types import Floats, Ints

# Messages, and how often each of them was sent.
Sent: TypeAlias = tuple[Ints, Ints]

# As many people as this are drawn one by one, and more if cells are very many.
_FEW, _PER_PERSON = 1 << 12, 32
# More people, or cells, take minutes.
_MOST_ALONE = 1 << 21
_MOST_DIGITS, _MOST_CELLS = 24, 1 << 26
# Noise beyond this many deviations is rarer than one in 10^22.
_DEVIATIONS = 10.0


def points_of_population(
    grid_positions: Floats, counts: Ints, num_cells: int, *, rng: np.random.Generator
) -> Ints:
    """Draws how many people are moved to each point of the grid.

    Args:
        grid_positions: Where values lie on the grid, in [0, N], shape (values,).
        counts: People who hold them, shape (levels, values).
        num_cells: N.
        rng: A simulation's.

    Returns:
        Shape (levels, N + 1).
    """
    below = np.floor(grid_positions)
    up = rng.binomial(counts, grid_positions - below)
    points = np.zeros((len(counts), num_cells + 1), dtype=np.int64)
    left_point = below.astype(np.int64)
    for row, stay, move in zip(points, counts - up, up, strict=True):
        np.add.at(row, left_point, stay)
        # Who is at the last point has nowhere to move.
        np.add.at(row, np.minimum(left_point + 1, num_cells), move)
    return points


def landed(
    starts: Ints, stays: Floats, *, rng: np.random.Generator
) -> tuple[Ints, int]:
    """Draws the number of users who stay in each cell, going from left to right.

    Args:
        starts: How many start at the left edge of each cell, shape (cells,).
        stays: Probability of staying in a cell once it is reached, shape (cells,).
        rng: A simulation's.

    Returns:
        How many stayed in each cell, shape (cells,), and how many went beyond the last.
    """
    stayed, on_the_way = np.zeros(starts.size, dtype=np.int64), 0
    setting_out, probabilities = np.flatnonzero(starts).tolist(), stays.tolist()
    for first, further in itertools.pairwise([*setting_out, starts.size]):
        on_the_way += int(starts[first])
        for cell in range(first, further):
            if not on_the_way:
                break
            staying = int(rng.binomial(on_the_way, probabilities[cell]))
            stayed[cell] = staying
            on_the_way -= staying
    return stayed, on_the_way


def draw_geometric_numbers(
    people: int, exponent: float, *, rng: np.random.Generator
) -> Iterator[Sent]:
    """Draws how many people have each geometric number, probabilities falling as e^(-a d).

    Args:
        people: How many there are.
        exponent: a > 0.
        rng: A simulation's.

    Raises:
        InvalidInputError: If probabilities fall so slowly that there are too many
            numbers.
    """
    num_digits = last_digit(exponent)
    if people <= max(_FEW, 2**num_digits // _PER_PERSON):
        if people > _MOST_ALONE:
            raise _too_wide()
        alone = np.full(people, exponent)
        yield geometric_numbers(alone, rng=rng), np.ones(people, dtype=np.int64)
        return
    if num_digits > _MOST_DIGITS:
        raise _too_wide()
    numbers = np.arange(1 << num_digits, dtype=np.int64)
    while people:
        beyond = int(rng.binomial(people, math.exp(-exponent * numbers.size)))
        counts: Ints = np.array([people - beyond])
        for digit in reversed(range(num_digits)):
            counts = halves(counts, 1.0 / (1.0 + _decay(exponent, digit)), rng=rng)
        yield numbers, counts
        numbers, people = numbers + numbers.size, beyond


def draw_normal_cells(
    points: Ints,
    length: float,
    draw: Callable[[Ints], Ints],
    *,
    rng: np.random.Generator,
) -> Iterator[Sent]:
    """Draws the number of normal messages that fall into each cell.

    Args:
        points: How many users are at each point of the grid, shape (N + 1,).
        length: Of a cell, in deviations.
        draw: Draws the cells of users at these points, separately.
        rng: A simulation's.

    Raises:
        InvalidInputError: If the numbers of cells and points are so large that it would
            take minutes.
    """
    # Noise of more than 10 deviations is left out: it is rarer than one in 10^22.
    num_cells = _DEVIATIONS / length
    few = points <= num_cells / _PER_PERSON
    many = np.flatnonzero(~few)
    if int(points[few].sum()) > _MOST_ALONE or num_cells * many.size > _MOST_CELLS:
        raise _too_wide()
    alone: Ints = np.repeat(np.flatnonzero(few), points[few])
    yield draw(alone), np.ones(alone.size, dtype=np.int64)
    if not many.size:
        return
    edges = length * np.arange(math.ceil(num_cells) + 1)
    probabilities = ndtr(-edges[:-1]) - ndtr(-edges[1:])
    distance = np.arange(probabilities.size)
    for point in many.tolist():
        sides = halves(points[point : point + 1], 0.5, rng=rng)
        left, right = scattered(sides, probabilities, rng=rng)
        yield point - 1 - distance, left
        yield point + distance, right


def _decay(exponent: float, digit: int) -> float:
    return math.exp(-exponent * 2.0**digit)


def _too_wide() -> InvalidInputError:
    return InvalidInputError(
        "Expected larger levels, fewer cells, fewer people or fewer different values: the "
        "noise of so many people spreads over more cells than can be counted in seconds."
    )
