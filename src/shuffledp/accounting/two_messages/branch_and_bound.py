"""Branch and bound for the worst data, with a proof that none are worse.

All data of a population lie in one box. The boxes with the largest bounds are cut in
two, along the bands that make a bound loose, until no bound exceeds the worst data seen
by more than a thousandth (up to twenty in compositions), cutting no longer helps, or a
stated effort is spent. It may end at any time: the largest bound of the boxes that are
left is proven. Where there are few data, all of them are evaluated (`all_data`).
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.two_messages.all_data import num_products, worst_of_all
from shuffledp.accounting.two_messages.tilted import TiltedPopulation
from shuffledp.accounting.two_messages.tilted_bounds import box_bounds, data_bounds
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

# Boxes evaluated at most for one epsilon, and boxes times bands: with many bands, cutting
# one of them changes little. Boxes that are cut at a time.
EFFORT = 3_000
_MOST_WORK = 10_000
_AT_ONCE = 128
# Boxes to start from at most, as a part of all that may be evaluated.
_MOST_STARTED = 0.9
# By how much a logarithm may exceed that of the worst data seen.
_ENOUGH = 1e-3
# From this many bands on searches are slow.
MANY_BANDS = 3
# In a composition, which makes hundreds of slow searches and rounds losses by more, it may
# exceed that by more: of many bands, and of so many that searches take longest.
_ENOUGH_MANY, _ENOUGH_MOST, _MOST_BANDS = 3e-3, 2e-2, 6
# A logarithm is about the square of epsilon: where it is large, this part of it moves
# epsilon by half as much.
_PART_OF_LOGARITHM = 2e-4
# Where the largest bound fell by no more while the boxes doubled, or so many were added to
# those of a near epsilon, it comes near what a bound of many data at once exceeds each of
# them by, and hardly falls any more.
_PROGRESS, _LEAST_MORE = 1e-5, 64
# In a composition, where it fell by no more than this part of what is aimed for.
_LITTLE = 0.1
# Bands that loosen a bound by this part of the loosest one are cut at the same time.
_LOOSE = 0.3
# Data whose size is about this logarithm below another's are not evaluated to begin with:
# sums fall with the variance at a power between these.
_NEARLY, _POWERS = 0.3, (0.5, 1.5)
# All data are evaluated where that takes fewer products for each box that may be; in a
# composition, whose searches begin where others ended, fewer.
_PRODUCTS, _PRODUCTS_COMPOSED = 25_000, 3_000


@dataclass(frozen=True, eq=False)
class WorstData:
    """Worst data, and a bound for all others.

    Attributes:
        worst: Holders in each band of the worst data seen, shape (bands,).
        lower: Logarithm of a lower bound of the divergence there.
        upper: Logarithm of an upper bound for all data.
        boxes: Lower and upper corners of boxes that cover all data, shape (2, boxes,
            bands); None where there are few data.
        enough: By how much `upper` may exceed `lower`.
    """

    worst: Floats
    lower: float
    upper: float
    boxes: Floats | None = None
    enough: float = _ENOUGH

    @property
    def is_settled(self) -> bool:
        """Whether the bound exceeds the worst data by no more than was aimed for."""
        return self.upper <= self.lower + self.enough


def search(
    tilted: TiltedPopulation,
    *,
    effort: int = EFFORT,
    likely: WorstData | None = None,
    start: Floats | None = None,
    is_near: bool = False,
    is_quick: bool = False,
) -> WorstData:
    """Returns the worst data found, with a proven bound for all data.

    Args:
        tilted: The population, at one epsilon.
        effort: Boxes to be evaluated at most, about.
        likely: What `likely_worst` returns, where it is known.
        start: Boxes that cover all data, as in `WorstData`; by default one box.
        is_near: Whether they are of an epsilon so near that cutting others is no use.
        is_quick: Whether data that are worse by less than was aimed for are no matter.
    """
    counts = tilted.population.counts
    incumbent = likely or likely_worst(tilted)
    most_products = effort * (_PRODUCTS_COMPOSED if is_quick else _PRODUCTS)
    if num_products(counts) <= most_products:
        return _worst_of_all(tilted, incumbent)
    enough = _composed_enough(counts.size, incumbent.lower) if is_quick else _ENOUGH
    progress = max(_PROGRESS, _LITTLE * enough) if is_quick else _PROGRESS
    effort = min(effort, _MOST_WORK // counts.size)
    most = math.inf if is_near else _MOST_STARTED * effort
    if start is None or start.shape[1] > most:
        start = np.stack([0.0 * counts, counts])[:, None, :]
    boxes = _evaluated(tilted, *start)
    settled: list[Floats] = []
    settled_upper, num_evaluated = -math.inf, start.shape[1]
    checked, upper_then = num_evaluated, float(boxes.upper.max())
    while True:
        worst = int(np.argmax(boxes.upper))
        if not (is_quick and boxes.upper[worst] <= incumbent.lower + enough):
            inside = _inside(boxes, worst)
            incumbent = max(
                incumbent, _worst_of(tilted, inside), key=lambda data: data.lower
            )
        loose = boxes.upper > incumbent.lower + enough
        settled_upper = max(
            settled_upper, float(boxes.upper[~loose].max(initial=-math.inf))
        )
        settled.append(boxes.chosen(~loose).corners)
        boxes = boxes.chosen(loose)
        is_stalled = False
        more = _LEAST_MORE if is_near else max(checked, _LEAST_MORE)
        if num_evaluated >= checked + more:
            upper = float(boxes.upper.max(initial=-math.inf))
            is_stalled = upper > upper_then - progress
            checked, upper_then = num_evaluated, upper
        if not loose.any() or is_stalled or num_evaluated >= effort:
            settled_upper = max(
                settled_upper, float(boxes.upper.max(initial=-math.inf))
            )
            covering = np.concatenate([*settled, boxes.corners], axis=1)
            return WorstData(
                incumbent.worst, incumbent.lower, settled_upper, covering, enough
            )
        order = np.argsort(-boxes.upper, kind="stable")
        loosest = boxes.chosen(order[:_AT_ONCE])
        number = _within(loosest, effort - num_evaluated)
        halves = _cut(tilted, loosest.chosen(slice(number)))
        num_evaluated += len(halves.upper)
        boxes = boxes.chosen(order[number:]).plus(halves)


def likely_worst(tilted: TiltedPopulation) -> WorstData:
    """Returns the worst of a few data that are likely to be so; `upper` is of these."""
    counts = tilted.population.counts
    data = np.stack([0.0 * counts, counts, np.where(tilted.rise > 0.0, counts, 0.0)])
    exponents, variances = tilted.exponents(data), tilted.variances(data)
    scores = exponents - np.outer(_POWERS, np.log(np.maximum(variances, 1.0)))
    likely = np.any(scores >= scores.max(axis=1, keepdims=True) - _NEARLY, axis=0)
    # np.unique would compare rows of many bands by records of as many fields.
    distinct = sorted({tuple(row) for row in data[likely].tolist()})
    return _worst_of(tilted, np.array(distinct))


def _composed_enough(num_bands: int, lower: float) -> float:
    """Returns by how much a logarithm may exceed this one, in a composition."""
    enough = _ENOUGH
    if num_bands == 1:
        return enough
    if num_bands >= MANY_BANDS:
        enough = _ENOUGH_MOST if num_bands >= _MOST_BANDS else _ENOUGH_MANY
    return max(enough, -_PART_OF_LOGARITHM * lower)


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Corners of boxes, and the bounds of each; the last axis is that of bands."""

    low: Floats
    high: Floats
    upper: Floats
    doubt: Floats
    rise: Floats

    @property
    def corners(self) -> Floats:
        """Lower and upper corners, shape (2, boxes, bands)."""
        return np.stack([self.low, self.high])

    @property
    def is_loose(self) -> NDArray[np.bool_]:
        """Which bands loosen a bound about as much as any, shape (boxes, bands)."""
        doubt = np.where(self.high > self.low, self.doubt, -1.0)
        loosest = doubt.max(axis=1, keepdims=True)
        loose: NDArray[np.bool_] = (doubt >= 0.0) & (doubt >= _LOOSE * loosest)
        return loose

    def chosen(self, which: NDArray[np.generic] | slice) -> "_Boxes":
        return _Boxes(
            self.low[which],
            self.high[which],
            self.upper[which],
            self.doubt[which],
            self.rise[which],
        )

    def plus(self, others: "_Boxes") -> "_Boxes":
        return _Boxes(
            np.concatenate([self.low, others.low]),
            np.concatenate([self.high, others.high]),
            np.concatenate([self.upper, others.upper]),
            np.concatenate([self.doubt, others.doubt]),
            np.concatenate([self.rise, others.rise]),
        )


def _evaluated(tilted: TiltedPopulation, low: Floats, high: Floats) -> _Boxes:
    points = np.all(low == high, axis=1)
    # Nothing loosens the bound of a point.
    upper = np.empty(len(low))
    doubt, rise = np.zeros((2, *low.shape))
    if points.any():
        upper[points] = data_bounds(tilted, low[points])[1]
    if not points.all():
        wide = ~points
        upper[wide], doubt[wide], rise[wide] = box_bounds(tilted, low[wide], high[wide])
    _check(upper)
    return _Boxes(low, high, upper, doubt, rise)


def _cut(tilted: TiltedPopulation, boxes: _Boxes) -> _Boxes:
    """Returns parts of each box; points, which cannot be cut, stay.

    A box is cut in two along its loosest band. The half that seems to be worse is cut
    again, along the next of the loose bands.
    """
    loose = boxes.is_loose
    doubt = np.where(boxes.high > boxes.low, boxes.doubt, -1.0)
    ranks = np.argsort(np.argsort(-doubt, axis=1, kind="stable"), axis=1)
    middle = np.floor(0.5 * (boxes.low + boxes.high))
    rises = boxes.rise > 0.0
    worse_low = np.where(rises, middle + 1.0, boxes.low)
    worse_high = np.where(rises, boxes.high, middle)
    # Part k of a box is the better half along its k-th loose band, of what is the worse
    # half along those before; the last part is the worse half along all of them.
    parts, rows = np.nonzero(
        np.arange(loose.shape[1])[:, np.newaxis] < np.count_nonzero(loose, axis=1)
    )
    part_ranks = ranks[rows]
    is_worse = part_ranks < parts[:, np.newaxis]
    is_better = part_ranks == parts[:, np.newaxis]
    better_low = np.where(rises, boxes.low, middle + 1.0)
    better_high = np.where(rises, middle, boxes.high)
    low = np.where(is_better, better_low[rows], boxes.low[rows])
    high = np.where(is_better, better_high[rows], boxes.high[rows])
    low = np.where(is_worse, worse_low[rows], low)
    high = np.where(is_worse, worse_high[rows], high)
    last_low = np.where(loose, worse_low, boxes.low)
    last_high = np.where(loose, worse_high, boxes.high)
    evaluated = _evaluated(
        tilted, np.concatenate([last_low, low]), np.concatenate([last_high, high])
    )
    wholes = np.concatenate([boxes.upper, boxes.upper[rows]])
    # A part is never worse than the whole.
    return replace(evaluated, upper=np.minimum(evaluated.upper, wholes))


def _within(boxes: _Boxes, most: int) -> int:
    """Returns how many boxes have no more parts together, and at least 1."""
    num_boxes, num_bands = len(boxes.low), boxes.low.shape[1]
    if num_boxes * (num_bands + 1) <= most:
        return num_boxes
    parts = np.cumsum(np.count_nonzero(boxes.is_loose, axis=1) + 1)
    number = int(np.count_nonzero(parts <= most))
    return max(1, number)


def _inside(boxes: _Boxes, index: int) -> Floats:
    """Returns data of a box to be tried: its middle, and the corner that seems worst."""
    low, high = boxes.low[index], boxes.high[index]
    corner = np.where(boxes.rise[index] > 0.0, high, low)
    return np.stack([np.floor(0.5 * (low + high)), corner])


def _worst_of_all(tilted: TiltedPopulation, incumbent: WorstData) -> WorstData:
    data, upper = worst_of_all(tilted, incumbent.lower)
    _check(np.array([upper]))
    best = max(incumbent, _worst_of(tilted, data[None]), key=lambda each: each.lower)
    return WorstData(best.worst, best.lower, upper)


def _worst_of(tilted: TiltedPopulation, data: Floats) -> WorstData:
    lower, upper = data_bounds(tilted, data)
    _check(upper)
    worst = int(np.argmax(lower))
    return WorstData(data[worst], float(lower[worst]), float(upper.max()))


def _check(upper: Floats) -> None:
    # Written this way round, it refuses NaN, which comparisons would lose.
    if not np.all(upper < math.inf):
        raise CertificationError("No proven bound: the probabilities are too extreme.")
