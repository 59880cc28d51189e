"""The worst of all data of few people, by products of two halves.

A matrix product of the distributions of one half (`data_halves`) with those of the other
evaluates all data at once. With D the divergence and P_first, P_last the tilted
distributions of the halves,

    D = c e^{K - theta t} max over t of  sum over i of P_first(i) V(t - i),
    V(j) = P_last(j - 1) - (1 - e^{-theta}) sum_{u >= 0} e^{-theta u} P_last(j + u).

There is no box and no transform: the bound is that of the worst data, up to rounding.
"""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.sums.matrix_products import real_product
from shuffledp.accounting.two_messages.data_halves import (
    DataHalf,
    data_half,
    parted_bands,
)
from shuffledp.accounting.two_messages.tilted import TiltedPopulation
from shuffledp.types import Floats, Ints

# Data of the last half that are multiplied at a time, at most, and how far their means may
# lie apart, in units of the tilt: their factors are doubles.
_AT_ONCE, _WIDEST = 128, 500.0
# A tile, of these and data of the first half, and the distributions of a band, for each of
# its people, take as long as this many products beside their own.
_TILE = 1e5
# Several times what a product of probabilities, and a sum of these, may be off by for every
# person; and people beside those who are there.
_UNIT, _MORE = 2e-15, 10
# Added to every sum: its terms may have been rounded to 0.
_NOTHING = 1e-290
# No factor is smaller than this power of e: a larger one only raises the bound.
_LEAST_FACTOR = -600.0


def num_products(counts: Floats) -> float:
    """Returns about how many products of two numbers `worst_of_all` takes time for.

    Args:
        counts: People in each band, shape (bands,).
    """
    first, last = parted_bands(counts)
    people, num_columns = float(counts[first].sum()), _num_data(counts[last])
    # Infinite, and no error, where data are more than any double.
    tiles = (1.0 + num_columns / _AT_ONCE) * (people + 3.0)
    products = _num_data(counts[first]) * num_columns * (people + 1.0)
    return products + _TILE * (tiles + float(counts.sum()))


def worst_of_all(tilted: TiltedPopulation, floor: float) -> tuple[Floats, float]:
    """Returns the worst of all data, and a proven bound.

    Args:
        tilted: The population, at one epsilon, with divergences rounded upward.
        floor: A logarithm that some data reach: those below it are not looked at.

    Returns:
        Holders in each band, shape (bands,), and the logarithm of a bound for all data.
    """
    counts = tilted.population.counts
    bands = parted_bands(counts)
    error = tilted.exponent_error + 1e-9
    least = floor - tilted.log_scale - error
    largest = tilted.low_exponent + np.maximum(tilted.rise, 0.0)
    spare = float(counts @ largest) - least
    first, last = (data_half(tilted, each, spare) for each in bands)
    first, last = (
        half.chosen(np.flatnonzero(half.bounds + other.bounds.max() >= least))
        for half, other in ((first, last), (last, first))
    )
    people = float(counts.sum()) + _MORE
    terms = _terms(tilted, last.chances, first.chances.shape[1], _UNIT * people)
    blur = tilted.unit * (people + float(counts @ tilted.one))
    upper, worst = -math.inf, (0, 0)
    for tile in _tiles(tilted, first, last, blur):
        # Data may be worse than what is known, with the best of the other half.
        enough = max(least, upper - error)
        if tile.most <= enough:
            break
        rows = _beyond(
            first.bounds, tile.rows, enough - last.bounds[tile.columns].max()
        )
        columns = _beyond(last.bounds, tile.columns, enough - first.bounds[rows].max())
        left, log_left = _scaled(first.chances[rows], first.logs(tilted.theta)[rows])
        at_t = _columns_at(first, terms, tile.t)
        right, log_right = _scaled(
            terms[columns, at_t], last.logs(tilted.theta)[columns]
        )
        sums = real_product(left, right)
        height = math.log(max(float(sums.max()), 0.0) + _NOTHING)
        height += log_left + log_right - tilted.theta * tile.t
        if height > upper:
            upper = height
            row, column = divmod(int(sums.argmax()), columns.size)
            worst = int(rows[row]), int(columns[column])
    data = np.empty(counts.size)
    for half, where, row in zip((first, last), bands, worst, strict=True):
        data[where] = half.holders[row]
    # Means are rounded, and what a sum is scaled by grows with theta.
    return data, upper + tilted.log_scale + error + tilted.theta * blur


@dataclass(frozen=True)
class _Tile:
    """Data of both halves that are multiplied at one t.

    Attributes:
        rows: Of the first half.
        columns: Of the last half.
        t: The number of messages.
        most: No logarithm is larger.
    """

    rows: slice
    columns: slice
    t: int
    most: float


def _tiles(
    tilted: TiltedPopulation, first: DataHalf, last: DataHalf, blur: float
) -> list[_Tile]:
    """Returns tiles that hold all data at their best t, the largest bounds first.

    The best t is above the mean, and by less than 2: it is next to the mode.
    """
    tiles = []
    for block in _blocks(tilted, last.means):
        means, most = last.means[block], float(last.bounds[block].max())
        lowest = math.floor(first.means[0] + means[0] - blur) + 1
        highest = math.ceil(first.means[-1] + means[-1] + blur) + 1
        numbers = np.arange(lowest, highest + 1)
        begins = np.searchsorted(first.means, numbers - 2.0 - means[-1] - blur)
        ends = np.searchsorted(first.means, numbers - means[0] + blur)
        for t, begin, end in zip(
            numbers.tolist(), begins.tolist(), ends.tolist(), strict=True
        ):
            if begin < end:
                bound = most + float(first.bounds[begin:end].max())
                tiles.append(_Tile(slice(begin, end), block, t, bound))
    tiles.sort(key=lambda tile: -tile.most)
    return tiles


def _beyond(most: Floats, where: slice, enough: float) -> Ints:
    """Returns the positions of data within a range whose bounds exceed a number."""
    positions: Ints = np.flatnonzero(most[where] > enough) + where.start
    return positions


def _scaled(rows: Floats, logs: Floats) -> tuple[Floats, float]:
    """Returns rows times e to the power of their logarithms, over the largest of these."""
    largest = float(logs.max())
    return rows * np.exp(np.maximum(logs - largest, _LEAST_FACTOR))[:, None], largest


def _columns_at(first: DataHalf, terms: Floats, t: int) -> slice:
    """Returns the columns of V(t - i), for all i that the first half may send."""
    width = first.chances.shape[1]
    begin = terms.shape[1] - width - t
    return slice(begin, begin + width)


def _terms(
    tilted: TiltedPopulation, chances: Floats, width: int, rounding: float
) -> Floats:
    """Returns V(j), rounded upward, for falling j.

    Args:
        tilted: The population.
        chances: P_last, shape (data, people + 1).
        width: How many numbers the first half may send, and 0.
        rounding: Which part of a sum may have been lost.

    Returns:
        Shape (data, terms): the last one is V(1 - width).
    """
    num_data, length = chances.shape
    # From the largest t, which is next to a mean, down to 1 - width.
    highest = length + width
    later = np.zeros((num_data, highest + width))
    before = np.zeros_like(later)
    position = highest
    before[:, position - length : position] = chances[:, ::-1]
    # Sums over u from j on, by those from j + 1 on.
    later[:, position - length + 1 : position + 1] = chances[:, ::-1]
    fall = math.exp(-tilted.theta)
    for column in range(1, later.shape[1]):
        later[:, column] += fall * later[:, column - 1]
    upward: Floats = before * (1.0 + rounding)
    upward += math.expm1(-tilted.theta) * (1.0 - rounding) * later
    return upward


def _blocks(tilted: TiltedPopulation, means: Floats) -> list[slice]:
    """Returns ranges of data of the last half with close means."""
    blocks, start = [], 0
    while start < means.size:
        farthest = means[start] + _WIDEST / max(tilted.theta, 1e-9)
        end = int(np.searchsorted(means, farthest, side="right"))
        blocks.append(slice(start, min(end, start + _AT_ONCE)))
        start = blocks[-1].stop
    return blocks


def _num_data(counts: Floats) -> float:
    product: float = math.prod((counts + 1.0).tolist())
    return product
