"""Monotone upper bound on delta, from evaluations at smaller epsilons.

delta(epsilon) is non-increasing: a bound at one epsilon holds at every larger one. Error
margins may make an evaluated bound rise, or leave it infinite. Then it is evaluated at
smaller epsilons of one fixed logarithmic grid: at coarse points downward, and at finer ones
between the first finite value and the next coarse point above. The result is monotone up to
one fine step, 1% of epsilon, below the point where the bound becomes infinite.
"""

import math
from collections.abc import Callable

# Fine steps per doubling of epsilon, fine steps per coarse step, and most coarse steps.
_DOUBLING = 64
_COARSE = 16
_MOST = 40
# After this many coarse points without improvement the search stops.
_WORSE = 2


class MonotoneDelta:
    """Bound on a fixed grid of epsilons, evaluated lazily and cached.

    Args:
        bound: A proven upper bound at any epsilon > 0; infinite where none is known.
    """

    def __init__(self, bound: Callable[[float], float]) -> None:
        self._bound = bound
        self._known: dict[int, float] = {}

    def least(self, epsilon: float, bound: float) -> float:
        """Returns the smallest bound at grid points up to `epsilon` > 0, or `bound`."""
        top = math.floor(_DOUBLING * math.log2(epsilon))
        # The logarithm may be rounded up to the next whole number.
        while _grid_point(top) > epsilon:
            top -= 1
        worse, unknown = 0, top + 1
        start = top - top % _COARSE
        for index in range(start, start - _COARSE * _MOST, -_COARSE):
            if _grid_point(index) == 0.0:
                break
            value = self._at(index)
            if value < bound:
                bound = min(value, self._between(index, unknown))
            elif math.isfinite(value):
                worse += 1
                if worse == _WORSE:
                    break
            unknown = index
        return bound

    def _between(self, known: int, unknown: int) -> float:
        """Returns the least bound at fine grid points below the first unknown one."""
        best = self._at(known)
        while unknown - known > 1:
            middle = (known + unknown) // 2
            if self._at(middle) <= best:
                best, known = self._at(middle), middle
            else:
                unknown = middle
        return best

    def _at(self, index: int) -> float:
        if index not in self._known:
            self._known[index] = self._bound(_grid_point(index))
        return self._known[index]


def _grid_point(index: int) -> float:
    return float(2.0 ** (index / _DOUBLING))
