"""About the profile of a target user, composed where searches begin.

Two messages are bounded by searches for the worst data, one per epsilon of a composition.
Estimates take a few data in their place; nothing about them is proven.

Chords between few epsilons would make composed tails larger by orders. So estimates are
interpolated between the epsilons that were asked for, and composed once more at as many as
bounds are.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from shuffledp.accounting.rounds.composed_profile import composed_profile
from shuffledp.accounting.statement import RestsOn
from shuffledp.accounting.upper.blanket import UpperBound
from shuffledp.accounting.upper_profile import Profile, UpperProfile
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

# At how many epsilons a composition may evaluate an estimate: of parts of reports, which
# budgets are matched to, and of others, which only begin searches.
_PART_EVALUATIONS, _EVALUATIONS = 60, 32
# Fewer points are not interpolated.
_FEWEST_POINTS = 3


@dataclass(frozen=True, eq=False)
class EstimatedBound:
    """About a bound at any epsilon; nothing is proven.

    Attributes:
        bound: The bound that is estimated.
        known: Estimates by epsilon, as they were asked for.
    """

    bound: UpperBound
    known: dict[float, float] = field(default_factory=dict)

    def delta(self, epsilon: float) -> float:
        """Returns about the bound at `epsilon` >= 0.

        Raises:
            CertificationError: If nothing is known.
        """
        size = self.bound.estimate(epsilon)
        if math.isnan(size):
            raise CertificationError(f"Nothing is estimated at epsilon {epsilon:g}.")
        self.known[epsilon] = min(size, 1.0)
        return self.known[epsilon]

    def estimate(self, epsilon: float) -> float:
        """Returns 0: no other theorem is quicker, and each is evaluated."""
        return 0.0

    def slack(self, epsilon: float) -> float:
        """Returns 0: there is no margin in an estimate."""
        return 0.0

    def interpolated(self) -> UpperBound:
        """Returns the same bound between the epsilons that were asked for."""
        epsilons = np.array(sorted(self.known))
        sizes = np.array([self.known[epsilon] for epsilon in epsilons.tolist()])
        sizes = np.minimum.accumulate(sizes)
        is_positive = sizes > 0.0
        if np.count_nonzero(is_positive) < _FEWEST_POINTS:
            return EstimatedBound(self.bound)
        # Imported where it is used: it takes twenty milliseconds.
        from scipy.interpolate import PchipInterpolator

        logs = PchipInterpolator(epsilons[is_positive], np.log(sizes[is_positive]))
        return EstimatedBound(_Interpolated(logs, float(epsilons[is_positive][-1])))


@dataclass(frozen=True, eq=False)
class _Interpolated:
    """A bound whose logarithm is interpolated up to an epsilon, and flat beyond."""

    logs: Callable[[float], Floats]
    last: float

    def delta(self, epsilon: float) -> float:
        return self.estimate(epsilon)

    def estimate(self, epsilon: float) -> float:
        return math.exp(float(self.logs(min(epsilon, self.last))))

    def slack(self, epsilon: float) -> float:
        return 0.0


def composed_estimate(upper: UpperProfile, times: int, delta: float) -> Profile:
    """Returns about the profile after `times` collections, from few estimates.

    Args:
        upper: The certified profile of one shuffle.
        times: Number of collections.
        delta: About the divergence that is asked for.

    Raises:
        CertificationError: If nothing is estimated.
    """
    about = _estimated_profile(upper)
    # Chooses epsilons and evaluates there, which the bounds of `about` remember.
    composed_profile(about, times, delta)
    return composed_profile(_interpolated_profile(about, upper), times, delta)


def _estimated_profile(upper: UpperProfile) -> UpperProfile:
    """Returns about a profile, to be evaluated at few epsilons."""
    bounds, evaluations = upper.bounds, _EVALUATIONS
    if "two messages" in bounds:
        # Other theorems hardly ever prove less, and certified bounds correct estimates.
        bounds = {"two messages": bounds["two messages"]}
        evaluations = _PART_EVALUATIONS
    return replace(
        upper,
        bounds={name: EstimatedBound(bound) for name, bound in bounds.items()},
        directions=tuple(map(_estimated_profile, upper.directions)),
        evaluations=min(evaluations, upper.evaluations),
    )


def _interpolated_profile(about: UpperProfile, upper: UpperProfile) -> UpperProfile:
    """Returns an estimated profile between the epsilons at which it was evaluated."""
    bounds: dict[RestsOn, UpperBound] = {
        name: bound.interpolated()
        for name, bound in about.bounds.items()
        if isinstance(bound, EstimatedBound)
    }
    pairs = zip(about.directions, upper.directions, strict=True)
    return replace(
        about,
        bounds=bounds,
        directions=tuple(_interpolated_profile(*pair) for pair in pairs),
        evaluations=upper.evaluations,
    )
