"""The certified delta of one target user at an epsilon.

What a bound drops, and which cover it takes, depends on about how large delta is: an attack
tells, or a guess that is corrected.
"""

from collections.abc import Callable

from shuffledp.accounting.epsilon_solver import round_up
from shuffledp.accounting.rounds.composed_profile import composed_profile
from shuffledp.accounting.upper_profile import Profile, UpperProfile

# Order of magnitude of delta where no attack gives one.
_USUAL_DELTA = 1e-12
# Where a composed delta is less, what is dropped for the usual one decides.
_TINY_DELTA = 1e-20
# Near the smallest normal number, 2e-308: digits are lost below.
_SMALLEST = 1e-290
# If certificate and attack differ by more than this factor, other covers are tried.
_WEAK = 100.0


def certified_delta(
    upper_at: Callable[[float], UpperProfile],
    epsilon: float,
    attacked: float,
    *,
    times: int,
    shuffles: int,
) -> tuple[float, UpperProfile]:
    """Returns the certified delta at epsilon, rounded up, and the profile behind it.

    Args:
        upper_at: Returns the profile of one shuffle that is accurate down to a delta.
        epsilon: At least 0.
        attacked: The delta that an attack proves, or 0.
        times: Number of collections.
        shuffles: Number of shuffles in these.
    """
    search = _DeltaSearch(upper_at, epsilon, times, shuffles)
    # The attack gives the order of magnitude of delta, and so what may be dropped.
    about = attacked if attacked > 0.0 else _USUAL_DELTA
    certified = search.near(about) if attacked > 0.0 else search.unattacked()
    # The attack is weak, or so fine a cover costs more than it gains: start from a
    # coarse one, and refine as long as each refinement halves the bound.
    other = 1e-6
    while certified[0] > _WEAK * about:
        candidate = search.near(other)
        pays = candidate[0] < 0.5 * certified[0]
        certified = min(certified, candidate, key=lambda pair: pair[0])
        if not pays:
            break
        other = 0.1 * certified[0]
    return certified


class _DeltaSearch:
    """Certified deltas at one epsilon, each accurate near a delta that is assumed."""

    def __init__(
        self,
        upper_at: Callable[[float], UpperProfile],
        epsilon: float,
        times: int,
        shuffles: int,
    ) -> None:
        self._upper_at, self._epsilon = upper_at, epsilon
        self._times, self._shuffles = times, shuffles

    def near(self, about: float) -> tuple[float, UpperProfile]:
        """Returns the certified delta if it is near `about`."""
        upper = self._upper_at(min(max(about, _SMALLEST), 1e-6))
        profile: Profile = upper.falling_delta
        if self._shuffles > 1:
            profile = composed_profile(
                upper, self._times, about, at_epsilon=self._epsilon
            )
        return min(round_up(profile(self._epsilon)), 1.0), upper

    def unattacked(self) -> tuple[float, UpperProfile]:
        """Returns the certified delta where no attack gives one."""
        # A composed loss, if it is normal, shows so little.
        is_tiny = self._shuffles > 1 and (
            self._upper_at(_USUAL_DELTA).about(_TINY_DELTA, self._shuffles)
            < self._epsilon
        )
        orders = _USUAL_DELTA, _SMALLEST
        assumed, other = orders[::-1] if is_tiny else orders
        certified = delta, _ = self.near(assumed)
        if (delta < _TINY_DELTA) if is_tiny else (delta >= _USUAL_DELTA):
            return certified
        # Not of the assumed magnitude: drop less or more, and bound again.
        return min(certified, self.near(other), key=lambda pair: pair[0])
