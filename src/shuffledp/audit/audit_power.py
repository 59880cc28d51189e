"""What an audit can see, said before it starts.

A test that finds nothing says something only if it would have found something. Whether it
would depends on how telling a black box's events are, which nobody knows beforehand. But no
mechanism with a budget of e is more telling than binary response,

    R(x)(S) = e^e / (1 + e^e),    R(x')(S) = 1 / (1 + e^e):

the messages of every other one can be computed from that answer (Kairouz, Oh, Viswanath
2014). So it needs the fewest samples. Beside it stands an event that x shows once in a
hundred times, and x' e^e times less often. "Enough" is proven: the two counts are each
within 95% of what can come, both at once in more than 90% of all audits, and even the
worse end of each breaks the promise.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc

from shuffledp.audit.confidence_bounds import (
    epsilon_lower_bound,
    probability_lower_bound,
    probability_upper_bound,
)

EXCESSES = (0.1, 0.5, 1.0)
RARE = 0.01
# Of each of the two counts.
_EACH = 0.05
# More are drawn by nobody.
_MOST = 10**13


@dataclass(frozen=True)
class AuditPower:
    """How many samples show a budget that is larger than promised.

    Attributes:
        level: The promise.
        excess: By what share the true budget is larger.
        at_best: Samples per value and level, if it is as telling as binary response; None
            if no number that anybody draws is enough.
        rare: The same, if x shows the event once in a hundred times.
    """

    level: float
    excess: float
    at_best: int | None
    rare: int | None


def powers(
    level: float, *, delta: float, alpha: float, most_learned: int
) -> list[AuditPower]:
    """Returns what shows budgets 10%, 50% and 100% above a level with 90% chance.

    Args:
        level: The promised budget, > 0.
        delta: What is promised with it.
        alpha: The probability that each bound may be wrong with.
        most_learned: How many samples are learned from, and not counted, at most; fewer
            if that would be more than half of them.
    """
    found = []
    for excess in EXCESSES:
        true = level * (1.0 + excess)
        there = 1.0 / (1.0 + math.exp(min(true, 700.0)))
        pairs = ((1.0 - there, there), (RARE, RARE * math.exp(-true)))
        needed = [
            samples_needed(*pair, epsilon=level, delta=delta, alpha=alpha)
            for pair in pairs
        ]
        at_best, rare = (
            None if number is None else number + min(number, most_learned)
            for number in needed
        )
        found.append(AuditPower(level, excess, at_best, rare))
    return found


def most_visible(size: int, *, delta: float, alpha: float) -> float:
    """Returns the largest bound that so many counted messages about each value can prove.

    It is reached if all messages about x are in the event, and none about x'.
    """
    here = probability_lower_bound(size, size, alpha)
    there = probability_upper_bound(0, size, alpha)
    return float(epsilon_lower_bound(here, there, delta))


def samples_needed(
    here: float, there: float, *, epsilon: float, delta: float, alpha: float
) -> int | None:
    """Returns how many messages about each value break a promise in 90% of all audits.

    Args:
        here: R(x)(S), in (0, 1].
        there: R(x')(S), in [0, 1).
        epsilon: The promise.
        delta: What is promised with it.
        alpha: The probability that each bound may be wrong with.

    Returns:
        A number that is enough, within 1% of the least; None if there is none.
    """
    if here <= math.exp(min(epsilon, 700.0)) * there + delta:
        return None
    low, high = 1.0, 2.0
    while not _enough(high, here, there, epsilon, delta, alpha):
        low, high = high, 2.0 * high
        if high > _MOST:
            return None
    while high / low > 1.01 and high - low > 1.0:
        middle = math.sqrt(low * high)
        if _enough(middle, here, there, epsilon, delta, alpha):
            high = middle
        else:
            low = middle
    return math.ceil(high)


def _enough(
    size: float, here: float, there: float, epsilon: float, delta: float, alpha: float
) -> bool:
    n = math.ceil(size)
    # At least so many hits, and at most so many, but for one time in twenty each.
    few = n - _quantile(n, 1.0 - here)
    many = _quantile(n, there)
    low, high = (
        probability_lower_bound(few, n, alpha),
        probability_upper_bound(many, n, alpha),
    )
    return float(epsilon_lower_bound(low, high, delta)) > epsilon


def _quantile(size: int, chance: float) -> int:
    """Returns the least k that Bin(size, chance) exceeds with 5% probability at most."""
    low, high = -1, size
    while high - low > 1:
        middle = (low + high) // 2
        if _exceeds(size, chance, middle) <= _EACH:
            high = middle
        else:
            low = middle
    return high


def _exceeds(size: int, chance: float, count: int) -> float:
    return 0.0 if count >= size else float(bdtrc(count, size, np.float64(chance)))
