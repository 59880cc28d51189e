"""A bound that is not known everywhere, from smaller epsilons at which it is.

delta(epsilon) falls: what is certified at an epsilon is certified at every larger one.
Numerical caution may make an evaluated bound rise, or keep it from being known at all.
Then smaller epsilons are tried: rungs of a ladder that is the same for everybody, coarse
ones downward, and between the first that is known and the next finer ones. So delta falls
but for what it loses within one fine step, 1% of epsilon, before it stops being known.
"""

import math
from collections.abc import Callable

# Fine steps in which epsilon doubles, in a coarse one, and coarse ones tried at most.
_DOUBLING = 64
_COARSE = 16
_MOST = 40
# After so many rungs that are worse nothing better is to be expected.
_WORSE = 2


class MonotoneDelta:
    """What a bound says at the rungs; each is computed when it is first needed.

    Args:
        bound: A proven bound at any epsilon > 0; infinite where nothing is known.
    """

    def __init__(self, bound: Callable[[float], float]) -> None:
        self._bound = bound
        self._known: dict[int, float] = {}

    def least(self, epsilon: float, found: float) -> float:
        """Returns the smallest bound at rungs up to `epsilon` > 0, or `found`."""
        top = math.floor(_DOUBLING * math.log2(epsilon))
        while _place(top) > epsilon:
            top -= 1
        worse, unknown = 0, top + 1
        start = top - top % _COARSE
        for rung in range(start, start - _COARSE * _MOST, -_COARSE):
            if _place(rung) == 0.0:
                break
            value = self._at(rung)
            if value < found:
                found = min(value, self._between(rung, unknown))
            elif math.isfinite(value):
                worse += 1
                if worse == _WORSE:
                    break
            unknown = rung
        return found

    def _between(self, known: int, unknown: int) -> float:
        """Returns the best of fine rungs up to where nothing is known any more."""
        best = self._at(known)
        while unknown - known > 1:
            middle = (known + unknown) // 2
            if self._at(middle) <= best:
                best, known = self._at(middle), middle
            else:
                unknown = middle
        return best

    def _at(self, rung: int) -> float:
        if rung not in self._known:
            self._known[rung] = self._bound(_place(rung))
        return self._known[rung]


def _place(rung: int) -> float:
    return float(2.0 ** (rung / _DOUBLING))
