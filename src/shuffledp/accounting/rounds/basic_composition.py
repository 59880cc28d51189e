"""Basic composition of several shuffles, for budgets with a delta and for tiny deltas.

If each is (e, d)-differentially private, then k of them are (k e, k d)-differentially
private (Dwork and Roth 2014, Theorem 3.16).
"""

import math
from fractions import Fraction

from shuffledp.accounting.sums.rounding import rounded_up
from shuffledp.accounting.upper_profile import Profile


def basic_composition(profile: Profile, shuffles: int) -> Profile:
    """Returns the profile of several shuffles, by basic composition.

    Args:
        profile: The certified profile of one shuffle.
        shuffles: Number of shuffles.
    """

    def delta(epsilon: float) -> float:
        # Rounded downward: the profile falls with epsilon.
        each = math.nextafter(epsilon / shuffles, 0.0)
        return min(rounded_up(shuffles * Fraction(profile(each))), 1.0)

    return delta
