"""Truncation of blanket messages by the report size, and its probability.

Every report has `report_size` messages and reserves s for items. A Poisson draw
above cap = report_size - s is cut to cap. `report_bounds` adds its privacy cost.
"""

import math

from shuffledp.accounting.counts.draw_rounding import never_drawn
from shuffledp.errors import CertificationError

# Part of delta that pays for cut reports where their size is chosen.
CUT_SHARE = 1e-3


def smallest_report(
    blanket: float, set_size: int, *, num_honest: int, epsilon: float, delta: float
) -> int:
    """Returns the smallest size of reports that costs less than delta / 1000.

    Args:
        blanket: m.
        set_size: s.
        num_honest: People who really send their blanket messages.
        epsilon: The largest at which delta is to hold.
        delta: In (0, 1).

    Raises:
        CertificationError: If none does, as no probability below 1e-300 is told from 0.
    """
    allowed_cut = CUT_SHARE * delta / (1.0 + math.exp(epsilon))
    if allowed_cut <= _never_drawn(blanket):
        raise CertificationError(
            f"No size of reports is proven to do for epsilon {epsilon:g} at delta "
            f"{delta:g}: ask for a smaller epsilon."
        )
    low, high = -1, 1
    while cut_probability(blanket, high, num_honest) >= allowed_cut:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        small = cut_probability(blanket, middle, num_honest) < allowed_cut
        low, high = (low, middle) if small else (middle, high)
    return set_size + high


def cut_probability(blanket: float, cap: int, num_honest: int) -> float:
    """Returns a bound of the probability that anybody's Poisson(m) is above `cap`.

    P(N > c) <= P(N = c + 1) / (1 - m / (c + 2)), a geometric series, for c + 2 > m.
    """
    if cap + 2 <= blanket:
        return 1.0
    log = (cap + 1) * math.log(blanket) - blanket - math.lgamma(cap + 2)
    # The terms cancel: their rounding is of the size of the largest.
    log += 1e-14 * (cap + 2) * (math.log(cap + 2) + abs(math.log(blanket)) + 1.0)
    tail = math.exp(min(log, 0.0)) / (1.0 - blanket / (cap + 2))
    return min(num_honest * tail * (1.0 + 1e-12) + _never_drawn(blanket), 1.0)


def _never_drawn(blanket: float) -> float:
    return 1e-300 + never_drawn(blanket)
