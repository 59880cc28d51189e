"""The largest probabilities to send an answer that keep central targets."""

import math
from collections.abc import Callable, Sequence

from shuffledp.accounting.epsilon_solver import round_down
from shuffledp.statistics.counts.secant_steps import CLOSE, line_root, log_excess

# A probability to send is known to this; between two with a delta farther below the goal
# than the logarithm _FAR, no line leads to it.
_RATE_STEP, _FAR = 2.0**-14, -6.0


def largest_rates(
    delta_of: Callable[[float, float], float], targets: Sequence[float], delta: float
) -> list[float]:
    """Returns about the largest probability to send, of each target.

    Args:
        delta_of: Certified delta of a probability and a target.
        targets: Central epsilons, ascending.
        delta: Of the targets.
    """
    rates: list[float] = []
    for target in targets:
        # What keeps a small target keeps every larger one.
        all_sent = bool(rates) and rates[-1] == 1.0
        rates.append(1.0 if all_sent else _largest_rate(delta_of, target, delta))
    return rates


def _largest_rate(
    delta_of: Callable[[float, float], float], target: float, delta: float
) -> float:
    def excess(rate: float) -> float:
        return log_excess(delta_of(rate, target), delta)

    above = excess(1.0)
    if above <= 0.0:
        return 1.0
    low, high = (0.0, -math.inf), (1.0, above)
    while high[0] - low[0] > _RATE_STEP and not -CLOSE <= low[1] <= 0.0:
        middle = 0.5 * (low[0] + high[0])
        # Far from the answer, delta is what errors of the evaluation add to it.
        if low[1] > _FAR:
            middle = line_root(low, high)
        middle_end = middle, excess(middle)
        low, high = (middle_end, high) if middle_end[1] <= 0.0 else (low, middle_end)
    return round_down(low[0])
