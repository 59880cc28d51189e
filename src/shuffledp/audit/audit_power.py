"""Number of samples with which an audit detects a broken promise.

A test without a result is evidence only if it has power. The power depends on the events of
the black box, which are not known beforehand. Two cases are computed: binary response,
which needs the fewest samples, and an event of probability 1/100 under x, and e^e times
less under x', where e is the true budget. The numbers are proven: each of the two counts is
within its 95% quantile, both at once in more than 90% of all audits, and even the worse end
of each breaks the promise.

Source: Kairouz, Oh, Viswanath (2014), for binary response.
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

# A tenth, half as much again, and twice the level.
EXCESSES = (0.1, 0.5, 1.0)
# The probability of an event that few messages show, beside the most telling one.
RARE = 0.01
# Probability that one of the two counts is beyond its quantile.
_EACH = 0.05
# No audit draws more samples.
_MOST = 10**13


@dataclass(frozen=True)
class AuditPower:
    """How many samples show a budget that is larger than promised.

    Attributes:
        level: The promise.
        excess: The relative excess of the true budget over the promise.
        at_best: Samples per value and level for binary response; None if 10^13 are not
            enough.
        rare: The same for an event of probability 1/100 under x.
    """

    level: float
    excess: float
    at_best: int | None
    rare: int | None


def powers(
    level: float, *, delta: float, alpha: float, most_learned: int
) -> list[AuditPower]:
    """Computes samples that show budgets 10%, 50%, 100% above a level in 90% of audits.

    Args:
        level: The promised budget, > 0.
        delta: The delta promised with it.
        alpha: The error probability of each bound.
        most_learned: The largest number of samples that events are learned from, which are
            not counted; never more than half of all.
    """
    results = []
    for excess in EXCESSES:
        true = level * (1.0 + excess)
        # Binary response, R(x)(S) = e^e / (1 + e^e): from its answer, the messages of
        # every mechanism with this budget can be computed.
        other_probability = 1.0 / (1.0 + math.exp(min(true, 700.0)))
        pairs = (
            (1.0 - other_probability, other_probability),
            (RARE, RARE * math.exp(-true)),
        )
        needed_samples = [
            samples_needed(*pair, epsilon=level, delta=delta, alpha=alpha)
            for pair in pairs
        ]
        # As many messages are learned from as counted, up to a limit.
        at_best, rare_event = (
            None if number is None else number + min(number, most_learned)
            for number in needed_samples
        )
        results.append(AuditPower(level, excess, at_best, rare_event))
    return results


def most_visible(size: int, *, delta: float, alpha: float) -> float:
    """Returns the largest bound that `size` counted messages per value can prove.

    It is reached if all messages about x are in the event, and none about x'.
    """
    lower = probability_lower_bound(size, size, alpha)
    upper = probability_upper_bound(0, size, alpha)
    return float(epsilon_lower_bound(lower, upper, delta))


def samples_needed(
    probability: float,
    other_probability: float,
    *,
    epsilon: float,
    delta: float,
    alpha: float,
) -> int | None:
    """Returns the messages per value that show a broken promise in 90% of all audits.

    Args:
        probability: R(x)(S), in (0, 1].
        other_probability: R(x')(S), in [0, 1).
        epsilon: The promise.
        delta: The delta promised with it.
        alpha: The error probability of each bound.

    Returns:
        A number that is enough, within 1% of the least; None if there is none.
    """
    # Such an event keeps the promise, and shows nothing with any number of samples.
    if probability <= math.exp(min(epsilon, 700.0)) * other_probability + delta:
        return None
    low, high = 1.0, 2.0
    while not _enough(high, probability, other_probability, epsilon, delta, alpha):
        low, high = high, 2.0 * high
        if high > _MOST:
            return None
    while high / low > 1.01 and high - low > 1.0:
        # The geometric mean, as the precision is relative.
        middle = math.sqrt(low * high)
        if _enough(middle, probability, other_probability, epsilon, delta, alpha):
            high = middle
        else:
            low = middle
    return math.ceil(high)


def _enough(
    size: float,
    probability: float,
    other_probability: float,
    epsilon: float,
    delta: float,
    alpha: float,
) -> bool:
    n = math.ceil(size)
    # Each count is on the better side of its bound with probability 95%.
    few_hits = n - _quantile(n, 1.0 - probability)
    many_hits = _quantile(n, other_probability)
    low, high = (
        probability_lower_bound(few_hits, n, alpha),
        probability_upper_bound(many_hits, n, alpha),
    )
    return float(epsilon_lower_bound(low, high, delta)) > epsilon


def _quantile(size: int, probability: float) -> int:
    """Returns the least k that Bin(size, probability) exceeds with at most 5%."""
    # Invariant: `low` is exceeded with more than 5%, `high` is not.
    low, high = -1, size
    while high - low > 1:
        middle = (low + high) // 2
        if _exceeds(size, probability, middle) <= _EACH:
            high = middle
        else:
            low = middle
    return high


def _exceeds(size: int, probability: float, count: int) -> float:
    return 0.0 if count >= size else float(bdtrc(count, size, np.float64(probability)))
