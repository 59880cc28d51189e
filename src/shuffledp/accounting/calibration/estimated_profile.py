"""About the profile of a target user, to be composed where searches begin.

Two messages are bounded by searches for the worst data, one per epsilon of a composition.
Estimates take a few data in their place; nothing about them is proven.
"""

import math
from dataclasses import dataclass, replace

from shuffledp.accounting.upper.blanket import UpperBound
from shuffledp.accounting.upper_profile import UpperProfile
from shuffledp.errors import CertificationError

# At how many epsilons a composition may evaluate an estimate: of parts of reports, which
# budgets are matched to, and of others, which only begin searches.
_PART_EVALUATIONS, _EVALUATIONS = 60, 40


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


def estimated_profile(upper: UpperProfile) -> UpperProfile:
    """Returns about a profile, as quickly as its estimates are composed.

    Args:
        upper: The certified profile.
    """
    bounds, evaluations = upper.bounds, _EVALUATIONS
    if "two messages" in bounds:
        # Other theorems hardly ever prove less, and certified bounds correct estimates.
        bounds = {"two messages": bounds["two messages"]}
        evaluations = _PART_EVALUATIONS
    return replace(
        upper,
        bounds={name: EstimatedBound(bound) for name, bound in bounds.items()},
        directions=tuple(map(estimated_profile, upper.directions)),
        evaluations=min(evaluations, upper.evaluations),
    )
