"""Monotone upper bound on delta, from evaluations at smaller epsilons.

delta(epsilon) is non-increasing: a bound at one epsilon holds at every larger one. Error
margins may make an evaluated bound rise, or leave it infinite. Then it is evaluated at
smaller epsilons of one fixed logarithmic grid: at coarse points downward, and at finer ones
next to the last two that lowered the bound. A coarse point that lowers the bound by less
than a millionth counts as none that does, though its bound, which holds, is used. The
result is monotone up to a millionth of delta, and up to one fine step, 1% of epsilon, below
the point where the bound becomes infinite.

Where an estimate at a coarse point is well above the bound, the divergence itself is, there
and at all smaller epsilons, and no other bound is evaluated. An estimate that exceeds even
the bound at its own epsilon is wrong, and none is trusted then, nor where a bound at such a
point is smaller than the one that is to fall.
"""

import math
from collections.abc import Callable

# Fine steps per doubling of epsilon, fine steps per coarse step, and most coarse steps.
_DOUBLING = 64
_COARSE = 16
_MAX_COARSE_STEPS = 40
# A bound that falls by a smaller part is flat: finer points are not worth evaluating.
_TOO_LITTLE = 1e-6
# After this many coarse points without improvement the search stops, and after this many
# where nothing is known of the divergence.
_MAX_WORSE_POINTS, _MANY_WORSE_POINTS = 2, 6
# Estimates are right to a twentieth: where one is so many times a bound, the divergence
# itself is larger than the bound.
_LARGER_RATIO = 1.2


class MonotoneDelta:
    """Bound on a fixed grid of epsilons, evaluated lazily and cached.

    Args:
        bound: A proven upper bound at any epsilon > 0; infinite where none is known.
        estimate: About the divergence that it bounds; NaN where nothing is known.
    """

    def __init__(
        self, bound: Callable[[float], float], estimate: Callable[[float], float]
    ) -> None:
        self._bound, self._estimate = bound, estimate
        self._bounds: dict[int, float] = {}
        self._estimates: dict[int, float] = {}

    def least(self, epsilon: float, bound: float) -> float:
        """Returns the smallest bound at grid points up to `epsilon` > 0, or `bound`."""
        top = math.floor(_DOUBLING * math.log2(epsilon))
        # The logarithm may be rounded up to the next whole number.
        while _grid_point(top) > epsilon:
            top -= 1
        num_worse, most_worse, index_above = 0, _MAX_WORSE_POINTS, top + 1
        # Where estimates are larger, nothing less than the bound is true.
        surely_larger = _LARGER_RATIO * bound
        if not self._estimate(epsilon) <= surely_larger:
            surely_larger = math.inf
        # Coarse points that lowered the bound, each with the one above.
        lower: list[tuple[int, int]] = []
        start = top - top % _COARSE
        for index in range(start, start - _COARSE * _MAX_COARSE_STEPS, -_COARSE):
            if _grid_point(index) == 0.0:
                break
            if self._estimate_at_index(index) > surely_larger:
                if not self._delta_at_index(index) < bound:
                    break
                # The estimate is wrong, and so is what it said of points above.
                surely_larger, most_worse = math.inf, _MANY_WORSE_POINTS
            coarse_bound = self._delta_at_index(index)
            if coarse_bound < (1.0 - _TOO_LITTLE) * bound:
                lower.append((index, index_above))
            elif math.isfinite(coarse_bound):
                num_worse += 1
            bound = min(bound, coarse_bound)
            if num_worse == most_worse:
                break
            index_above = index
        # Where a bound falls from point to point, finer ones matter next to the last two.
        refined = [self._refined(*indices) for indices in lower[-2:]]
        return min([bound, *refined])

    def _refined(self, finite_index: int, infinite_index: int) -> float:
        """Returns the smallest bound at fine grid points between two coarse ones."""
        best_bound = self._delta_at_index(finite_index)
        while infinite_index - finite_index > 1:
            middle = (finite_index + infinite_index) // 2
            if self._delta_at_index(middle) <= best_bound:
                best_bound, finite_index = self._delta_at_index(middle), middle
            else:
                infinite_index = middle
        return best_bound

    def _estimate_at_index(self, index: int) -> float:
        if index not in self._estimates:
            self._estimates[index] = self._estimate(_grid_point(index))
        return self._estimates[index]

    def _delta_at_index(self, index: int) -> float:
        if index not in self._bounds:
            self._bounds[index] = self._bound(_grid_point(index))
        return self._bounds[index]


def _grid_point(index: int) -> float:
    return float(2.0 ** (index / _DOUBLING))
