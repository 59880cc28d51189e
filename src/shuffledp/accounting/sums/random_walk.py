"""Simple random walks beyond a threshold, with proven ends.

For a walk D of T steps, (T + D) / 2 = a ~ Binomial(T, 1/2) gives the exact expectation

    E[(D - tau)_+] = c P(a = c) - tau P(a >= c),     c = floor((T + tau) / 2) + 1.
"""

from functools import cached_property

import numpy as np
from scipy.special import betainc

from shuffledp.accounting.sums.binomial import binomial_weight, relative_error
from shuffledp.types import Floats, Ints

# How far off a threshold may be: some roundings of its few factors.
_THRESHOLD_ERROR = 2e-15


class RandomWalks:
    """Walks of given lengths, ready for thresholds.

    Where many walks have few different lengths, what a threshold of each may need is
    computed once.

    Args:
        steps: Lengths T >= 1, whole numbers, shape (walks,).

    Attributes:
        steps: The same.
    """

    def __init__(self, steps: Floats) -> None:
        self.steps = steps

    def excess(self, threshold: Floats) -> tuple[Floats, Floats]:
        """Returns proven lower and upper ends of E[(D - threshold)_+], shape (walks,).

        Both ends hold for every threshold within a relative 2e-15 of the given one, which
        thereby need not be exact.

        Args:
            threshold: tau >= 0 of each walk, shape (walks,).
        """
        threshold = threshold * (1.0 - _THRESHOLD_ERROR)
        first = np.floor((self.steps + threshold) / 2.0) + 1.0
        reachable = first <= self.steps
        first = np.where(reachable, first, self.steps)
        weight, beyond = self._from(first)
        peak, tail = first * weight, threshold * beyond
        slack = self._relative_error * (peak + tail)
        excess = peak - tail
        # The expectation falls by at most P(D > threshold) per unit of the threshold.
        lower_excess = excess - slack - 2.5 * _THRESHOLD_ERROR * tail
        lower: Floats = np.where(reachable, np.maximum(lower_excess, 0.0), 0.0)
        upper: Floats = np.where(reachable, np.maximum(excess, 0.0) + slack, 0.0)
        return lower, upper

    def _from(self, first: Floats) -> tuple[Floats, Floats]:
        """Returns P(a = first) and P(a >= first) of each walk."""
        if self._table is None:
            return _upward(first, self.steps)
        start, weights, tails = self._table
        places = start + first.astype(np.int64)
        return weights[places], tails[places]

    @cached_property
    def _table(self) -> tuple[Ints, Floats, Floats] | None:
        """The same for every a above T / 2, and where a = 0 of a walk would be."""
        if self.steps.size == 0:
            return None
        lengths, walk = np.unique(self.steps, return_inverse=True)
        least = np.floor(lengths / 2.0) + 1.0
        sizes = (lengths - least + 1.0).astype(np.int64)
        if sizes.sum() > self.steps.size:
            return None
        start = np.cumsum(sizes) - sizes - least.astype(np.int64)
        all_steps = np.repeat(lengths, sizes)
        first = np.arange(float(sizes.sum())) - np.repeat(start, sizes)
        return start[walk], *_upward(first, all_steps)

    @cached_property
    def _relative_error(self) -> Floats:
        return relative_error(self.steps)


def _upward(first: Floats, steps: Floats) -> tuple[Floats, Floats]:
    tail = np.asarray(betainc(first, steps - first + 1.0, 0.5), dtype=np.float64)
    return binomial_weight(first, steps, 0.5), tail
