"""Inversion of bounds: epsilon as a function of delta, and the reverse."""

import math
from collections.abc import Callable

from scipy.optimize import brentq

from shuffledp.errors import CertificationError
from shuffledp_papers.outside_preconditions import OutsidePreconditions

# Near the smallest normal double, 2.2e-308.
_SMALLEST_LOG_DELTA = math.log(1e-307)
_WIDTH = 1e-13
_STEPS = 200
# In place of a delta of 0, whose logarithm is infinite.
_TINY = 1e-320


def epsilon_at(
    delta_of: Callable[[float], float], delta: float, *, ceiling: float = math.inf
) -> float:
    """Returns the smallest epsilon with delta_of(epsilon) <= delta.

    Args:
        delta_of: Never increasing.
        delta: The target.
        ceiling: Where the search ends; by default it goes on until 1000.

    Raises:
        OutsidePreconditions: If no epsilon up to the ceiling has at most this delta.
    """
    # Where the target is kept at epsilon = 0, there is no sign change to bracket.
    if checked(delta_of(0.0)) <= delta:
        return 0.0
    end = min(ceiling, 1000.0)
    low, high = 0.0, min(1e-3, end)
    while checked(delta_of(high)) > delta:
        if high >= end:
            raise OutsidePreconditions(
                f"Expected a delta that the bound reaches up to epsilon = {end:g}, "
                f"got {delta:g}."
            )
        low, high = high, min(2.0 * high, end)
    return _at_root(delta_of, delta, low, high)


def _at_root(
    delta_of: Callable[[float], float], delta: float, low: float, high: float
) -> float:
    """Returns an epsilon just above the root, at which the bound was evaluated."""

    def excess(epsilon: float) -> float:
        return math.log(max(checked(delta_of(epsilon)), _TINY)) - math.log(delta)

    # In logarithms, as delta spans hundreds of orders of magnitude.
    root = brentq(excess, low, high, xtol=1e-300, rtol=_WIDTH)
    # The root may lie just below: steps upward until the bound itself is at most delta.
    epsilon, step = float(root), _WIDTH
    while epsilon < high and delta_of(epsilon) > delta:
        epsilon, step = min(root * (1.0 + step), high), 4.0 * step
    return epsilon


def delta_at(epsilon_of: Callable[[float], float], epsilon: float) -> float:
    """Returns the smallest delta with epsilon_of(delta) <= epsilon.

    Args:
        epsilon_of: Never increasing; may raise OutsidePreconditions, which counts as
            stating nothing.
        epsilon: The target.

    Returns:
        At least 1e-307.

    Raises:
        OutsidePreconditions: If the formula states no delta below 1 for this epsilon.
    """

    def states(log_delta: float) -> bool:
        try:
            return checked(epsilon_of(math.exp(log_delta))) <= epsilon
        except OutsidePreconditions:
            return False

    # Conditions may exclude large deltas as well as small ones: look for any that works.
    low = _SMALLEST_LOG_DELTA
    high = next((log for log in _log_deltas() if states(log)), None)
    if high is None:
        raise OutsidePreconditions(
            f"Expected an epsilon that the bound states for some delta, got {epsilon:g}."
        )
    if states(low):
        return math.exp(low)
    # Only `high` is known to be stated, so that it is the end that is returned.
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        if high - low <= _WIDTH or not low < middle < high:
            break
        if states(middle):
            high = middle
        else:
            low = middle
    return math.exp(high)


def _log_deltas() -> list[float]:
    """Returns logarithms of deltas to try, from 1 downward."""
    # Fine down to e^-20, as conditions on delta are on that scale; then unit steps.
    fine = [-1e-9, -1e-3] + [-0.05 * step for step in range(1, 400)]
    return fine + [-20.0 - step for step in range(int(-_SMALLEST_LOG_DELTA) - 20)]


def checked(value: float) -> float:
    """Returns the number; raises CertificationError if a formula gave NaN."""
    if math.isnan(value):
        raise CertificationError("A formula has no value here in double precision.")
    return value
