"""The smaller one of two bounds, without evaluating both."""

import functools
import math

from shuffledp.accounting.upper.blanket import UpperBound
from shuffledp.errors import CertificationError

# The other bound is evaluated where it promises so much less.
_LESS = 0.99


class SmallerByEstimate:
    """The one of two bounds that is smaller by its estimate, or else the other one.

    Args:
        usual: A bound.
        other: Another one.
        is_composed: Whether bounds at hundreds of epsilons are composed, which are
            compared at few of them only, as estimates take time.
    """

    def __init__(
        self, usual: UpperBound, other: UpperBound, *, is_composed: bool
    ) -> None:
        self._usual, self._other, self._is_composed = usual, other, is_composed
        self._is_other_less = functools.cache(self._compare)

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        first, second = self._ordered(epsilon)
        try:
            return first.delta(epsilon)
        except CertificationError:
            return second.delta(epsilon)

    def estimate(self, epsilon: float) -> float:
        """Returns about the bound, or NaN."""
        first, second = self._ordered(epsilon)
        size = first.estimate(epsilon)
        return second.estimate(epsilon) if math.isnan(size) else size

    def slack(self, epsilon: float) -> float:
        """Returns the share of the bound at `epsilon` that is numerical margin."""
        first, second = self._ordered(epsilon)
        try:
            return first.slack(epsilon)
        except CertificationError:
            return second.slack(epsilon)

    def _ordered(self, epsilon: float) -> tuple[UpperBound, UpperBound]:
        if self._is_composed and epsilon > 0.0:
            # One comparison for all epsilons near each other.
            epsilon = 2.0 ** (0.5 * round(2.0 * math.log2(epsilon)))
        if self._is_other_less(epsilon):
            return self._other, self._usual
        return self._usual, self._other

    def _compare(self, epsilon: float) -> bool:
        # Of either nothing may be known, and NaN is not less.
        return self._other.estimate(epsilon) < _LESS * self._usual.estimate(epsilon)
