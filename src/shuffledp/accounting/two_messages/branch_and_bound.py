"""Branch and bound for the worst data, with a proof that none are worse.

All data of a population lie in one box. The boxes with the largest bounds are cut in
two, along the band that makes a bound loose, until no bound exceeds the worst data seen
by more than a thousandth, cutting no longer helps, or a stated effort is spent. It may
end at any time: the largest bound of the boxes that are left is proven. Where there are
few data, all of them are evaluated.
"""

import math
from dataclasses import dataclass

import numpy as np

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
# Where the largest bound fell by no more while the boxes doubled, or so many were added to
# those of a near epsilon, it comes near what a bound of many data at once exceeds each of
# them by, and hardly falls any more.
_PROGRESS, _LEAST_MORE = 1e-5, 64
# So few data are all evaluated.
_FEW_DATA = 1_000


@dataclass(frozen=True, eq=False)
class WorstData:
    """Worst data, and a bound for all others.

    Attributes:
        worst: Holders in each band of the worst data seen, shape (bands,).
        lower: Logarithm of a lower bound of the divergence there.
        upper: Logarithm of an upper bound for all data.
        boxes: Lower and upper corners of boxes that cover all data, shape (2, boxes,
            bands); None where there are few data.
    """

    worst: Floats
    lower: float
    upper: float
    boxes: Floats | None = None

    @property
    def is_settled(self) -> bool:
        """Whether the bound exceeds the worst data by no more than was aimed for."""
        return self.upper <= self.lower + _ENOUGH


def search(
    tilted: TiltedPopulation,
    *,
    effort: int = EFFORT,
    start: Floats | None = None,
    is_near: bool = False,
    is_quick: bool = False,
) -> WorstData:
    """Returns the worst data found, with a proven bound for all data.

    Args:
        tilted: The population, at one epsilon.
        effort: Boxes to be evaluated at most, about.
        start: Boxes that cover all data, as in `WorstData`; by default one box.
        is_near: Whether they are of an epsilon so near that cutting others is no use.
        is_quick: Whether data that are worse by less than was aimed for are no matter.
    """
    counts = tilted.population.counts
    if math.prod((counts + 1.0).tolist()) <= _FEW_DATA:
        grids = np.meshgrid(*(np.arange(n + 1.0) for n in counts), indexing="ij")
        all_data = np.reshape([grid.ravel() for grid in grids], (counts.size, -1)).T
        return _worst_of(tilted, all_data.reshape(-1, counts.size))
    incumbent = likely_worst(tilted)
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
        if not (is_quick and boxes.upper[worst] <= incumbent.lower + _ENOUGH):
            inside = _inside(tilted, boxes.low[worst], boxes.high[worst])
            incumbent = max(
                incumbent, _worst_of(tilted, inside), key=lambda data: data.lower
            )
        loose = boxes.upper > incumbent.lower + _ENOUGH
        settled_upper = max(
            settled_upper, float(boxes.upper[~loose].max(initial=-math.inf))
        )
        settled.append(boxes.chosen(~loose).corners)
        boxes = boxes.chosen(loose)
        is_stalled = False
        more = _LEAST_MORE if is_near else max(checked, _LEAST_MORE)
        if num_evaluated >= checked + more:
            upper = float(boxes.upper.max(initial=-math.inf))
            is_stalled = upper > upper_then - _PROGRESS
            checked, upper_then = num_evaluated, upper
        if not loose.any() or is_stalled or num_evaluated >= effort:
            settled_upper = max(
                settled_upper, float(boxes.upper.max(initial=-math.inf))
            )
            covering = np.concatenate([*settled, boxes.corners], axis=1)
            return WorstData(incumbent.worst, incumbent.lower, settled_upper, covering)
        order = np.argsort(-boxes.upper, kind="stable")
        halves = _cut(tilted, boxes.chosen(order[:_AT_ONCE]))
        num_evaluated += len(halves.upper)
        boxes = boxes.chosen(order[_AT_ONCE:]).plus(halves)


def likely_worst(tilted: TiltedPopulation) -> WorstData:
    """Returns the worst of a few data that are likely to be so; `upper` is of these."""
    counts = tilted.population.counts
    data = [0.0 * counts, counts]
    rises = tilted.rise > 0.0
    # Where the exponent rises everywhere or nowhere, the third are one of these.
    if rises.any() and not rises.all():
        data.append(np.where(rises, counts, 0.0))
    return _worst_of(tilted, np.stack(data))


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Corners of boxes, and the bounds of each; the last axis is that of bands."""

    low: Floats
    high: Floats
    upper: Floats
    doubt: Floats

    @property
    def corners(self) -> Floats:
        """Lower and upper corners, shape (2, boxes, bands)."""
        return np.stack([self.low, self.high])

    def chosen(self, which: np.typing.NDArray[np.generic]) -> "_Boxes":
        return _Boxes(
            self.low[which], self.high[which], self.upper[which], self.doubt[which]
        )

    def plus(self, others: "_Boxes") -> "_Boxes":
        return _Boxes(
            np.concatenate([self.low, others.low]),
            np.concatenate([self.high, others.high]),
            np.concatenate([self.upper, others.upper]),
            np.concatenate([self.doubt, others.doubt]),
        )


def _evaluated(tilted: TiltedPopulation, low: Floats, high: Floats) -> _Boxes:
    upper, doubt = box_bounds(tilted, low, high)
    points = np.all(low == high, axis=1)
    if points.any():
        upper[points] = data_bounds(tilted, low[points])[1]
    _check(upper)
    return _Boxes(low, high, upper, doubt)


def _cut(tilted: TiltedPopulation, boxes: _Boxes) -> _Boxes:
    """Returns both halves of each box; points, which cannot be cut, stay."""
    rows = np.arange(len(boxes.upper))
    wide = boxes.high > boxes.low
    band = np.argmax(np.where(wide, boxes.doubt, -1.0), axis=1)
    middle = np.floor(0.5 * (boxes.low[rows, band] + boxes.high[rows, band]))
    left, right = boxes.high.copy(), boxes.low.copy()
    left[rows, band] = middle
    right[rows, band] = middle + 1.0
    halves = wide[rows, band]
    low = np.concatenate([boxes.low, right[halves]])
    high = np.concatenate([left, boxes.high[halves]])
    parts = _evaluated(tilted, low, high)
    # A part is never worse than the whole.
    whole = np.concatenate([boxes.upper, boxes.upper[halves]])
    return _Boxes(low, high, np.minimum(parts.upper, whole), parts.doubt)


def _inside(tilted: TiltedPopulation, low: Floats, high: Floats) -> Floats:
    """Returns data of a box to be tried: its middle, and where the exponent is largest."""
    middle = np.floor(0.5 * (low + high))
    return np.stack([middle, np.where(tilted.rise > 0.0, high, low)])


def _worst_of(tilted: TiltedPopulation, data: Floats) -> WorstData:
    lower, upper = data_bounds(tilted, data)
    _check(upper)
    worst = int(np.argmax(lower))
    return WorstData(data[worst], float(lower[worst]), float(upper.max()))


def _check(upper: Floats) -> None:
    # Written this way round, it refuses NaN, which comparisons would lose.
    if not np.all(upper < math.inf):
        raise CertificationError("No proven bound: the probabilities are too extreme.")
