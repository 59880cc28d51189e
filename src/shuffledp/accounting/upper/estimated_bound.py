"""The estimate of a bound in the place of the bound, to begin searches with."""

import math
from dataclasses import dataclass

from shuffledp.accounting.upper.blanket import UpperBound
from shuffledp.errors import CertificationError


@dataclass(frozen=True, eq=False)
class EstimatedBound:
    """About a bound at any epsilon; nothing is proven.

    Attributes:
        bound: The bound that is estimated.
    """

    bound: UpperBound

    def delta(self, epsilon: float) -> float:
        """Returns about the bound at `epsilon` >= 0.

        Raises:
            CertificationError: If nothing is known.
        """
        size = self.bound.estimate(epsilon)
        if math.isnan(size):
            raise CertificationError(f"Nothing is estimated at epsilon {epsilon:g}.")
        return min(size, 1.0)

    def estimate(self, epsilon: float) -> float:
        """Returns 0: no other theorem is quicker, and each is evaluated."""
        return 0.0

    def slack(self, epsilon: float) -> float:
        """Returns 0: there is no margin in an estimate."""
        return 0.0
