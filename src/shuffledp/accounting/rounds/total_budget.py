"""What the pure budgets of many reports allow together, whatever others send."""

import functools
import math
from fractions import Fraction

from shuffledp.accounting.epsilon_solver import smallest_certified_epsilon
from shuffledp.accounting.sums.rounding import rounded_up


def divergence_of_budget(budget: float, epsilon: float) -> float:
    """Returns the largest divergence that a pure budget allows, rounded upward.

    >>> divergence_of_budget(1.0, 1.0)
    0.0
    """
    if epsilon >= budget:
        return 0.0
    # At most that of binary randomized response (Kairouz, Oh, Viswanath 2015),
    # (e^E - e^epsilon) / (e^E + 1), here divided by e^E, which might overflow.
    largest_delta = -math.expm1(epsilon - budget) / (1.0 + math.exp(-budget))
    return min(largest_delta * (1.0 + 1e-12), 1.0)


def epsilon_of_budget(budget: float, delta: float) -> float:
    """Returns an epsilon of six digits, or the budget, at which a pure budget keeps delta.

    >>> epsilon_of_budget(1.0, 1e-3), epsilon_of_budget(1e-3, 1e-2)
    (0.998632, 0.0)

    Args:
        budget: In nats, at least 0; infinite if nothing is promised.
        delta: In (0, 1).
    """
    if math.isinf(budget):
        return math.inf
    return smallest_certified_epsilon(
        functools.partial(divergence_of_budget, budget),
        delta,
        ceiling=budget,
        guess=budget,
    )


def total_budget(times: int, epsilon_local: float) -> float:
    """Returns the budget of `times` reports, rounded upward.

    >>> total_budget(10, 0.5)
    5.0
    """
    return rounded_up(times * Fraction(epsilon_local))
