"""The smaller one of two bounds, without evaluating both."""

import functools
import math
from collections.abc import Callable

from shuffledp.accounting.upper.blanket import UpperBound
from shuffledp.errors import CertificationError

# The other bound is evaluated where it promises so much less.
_LESS = 0.99
# Estimates of less than this may be far below bounds.
_TINY = 1e-10


class SmallerByEstimate:
    """The one of two bounds that is smaller by its estimate, or else the other one.

    Args:
        usual: A bound.
        make_other: Makes another one, or None; called when it is first asked for, as that
            may take long.
        is_composed: Whether bounds at hundreds of epsilons are composed, which are
            compared at few of them only, as estimates take time.
    """

    def __init__(
        self,
        usual: UpperBound,
        make_other: Callable[[], UpperBound | None],
        *,
        is_composed: bool,
    ) -> None:
        self._usual, self._is_composed = usual, is_composed
        self._other = functools.cache(make_other)
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
        other = self._other() or self._usual
        if self._is_composed and epsilon > 0.0:
            # One comparison for all epsilons near each other.
            epsilon = 2.0 ** (0.5 * round(2.0 * math.log2(epsilon)))
        if self._is_other_less(epsilon):
            return other, self._usual
        return self._usual, other

    def _compare(self, epsilon: float) -> bool:
        other = self._other()
        if other is None:
            return False
        estimate = other.estimate(epsilon)
        # Of either nothing may be known, and NaN is not less.
        is_less = estimate < _LESS * self._usual.estimate(epsilon)
        if not is_less or not self._is_composed or estimate > _TINY:
            return is_less
        # Rounding losses upward, as compositions do, moves so small numbers by orders.
        try:
            return other.delta(epsilon) < _LESS * self._usual.delta(epsilon)
        except CertificationError:
            return False
