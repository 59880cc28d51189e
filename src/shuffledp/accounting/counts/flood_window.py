"""Negative binomial numbers where they are not negligible.

Z of shape r > 1 and mean F has P(Z = z + 1) / P(Z = z) = t (z + r) / (z + 1), t = F / (r
+ F), which falls with z. So masses come from ratios of neighbors, from the mode to both
sides, and beyond either end of the window they fall faster than a geometric series.
"""

import math
from functools import lru_cache

import numpy as np

from shuffledp.accounting.counts.poisson_pair import PoissonWindow, poisson_window
from shuffledp.types import Floats

LARGEST_FLOOD = 1e5
LARGEST_SHAPE = 1e4

_ULP = 2.3e-16
# Windows end where masses fall below this part of the largest one.
_NEGLIGIBLE = 1e-75
# Wide windows end earlier, so that they stay short.
_NEGLIGIBLE_OF_LARGE = 1e-45
_LARGE = 1e4
# Masses computed at a time: only they say where the window ends.
_BLOCK = 4096


@lru_cache(maxsize=8)
def flood_window(mean: float, shape: float) -> PoissonWindow:
    """Returns the distribution of a negative binomial number without its far tails.

    Args:
        mean: F, from 1e-9 to LARGEST_FLOOD.
        shape: r > 1 up to LARGEST_SHAPE, or infinity for a Poisson number.
    """
    if math.isinf(shape):
        return poisson_window(mean)
    step = mean / (shape + mean)
    small = _NEGLIGIBLE if mean <= _LARGE else _NEGLIGIBLE_OF_LARGE
    mode = math.floor(mean * (shape - 1.0) / shape)
    above = [np.ones(1)]
    last = mode
    while above[-1][-1] > small:
        counts = last + np.arange(_BLOCK, dtype=np.float64)
        ratios = step * (counts + shape) / (counts + 1.0)
        above.append(above[-1][-1] * np.cumprod(ratios))
        last += _BLOCK
    # Up to the first negligible one: numbers far below are not right to a few roundings.
    after = np.concatenate(above)
    after = after[: np.count_nonzero(after > small) + 1]
    last = mode + after.size - 1
    # The next ratio bounds all later ones, and masses beyond are at most a series.
    ratio = step * (last + shape) / (last + 1.0)
    beyond = float(after[-1]) * ratio / (1.0 - ratio)
    counts = np.arange(mode - 1, -1, -1, dtype=np.float64)
    below = np.cumprod((counts + 1.0) / (step * (counts + shape)))
    below = below[below > small]
    first = mode - below.size
    ratio = first / (step * (first - 1.0 + shape)) if first else 0.0
    before = float(below[-1]) * ratio / (1.0 - ratio) if first else 0.0
    weights: Floats = np.concatenate([below[::-1], after])
    total = weights.sum()
    masses = weights / total
    tails = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
    for array in (masses, tails):
        array.setflags(write=False)
    outside = 1.01 * max(beyond, before) / float(total)
    return PoissonWindow(
        first, masses, tails, outside, (4.0 * masses.size + 60.0) * _ULP
    )
