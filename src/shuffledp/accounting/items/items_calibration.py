"""The least blanket, or the largest probability to send, that keeps a central epsilon.

The rounding of devices' Bernoulli draws is part of every bound (`report_bounds`).
Searches start at an estimate; their results were evaluated with the certified bound,
and keep the target.
"""

import math
from collections.abc import Callable

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.calibration.checked_targets import positive_targets
from shuffledp.accounting.counts.draw_rounding import drift
from shuffledp.accounting.counts.estimated_delta import (
    estimated_mean,
    estimated_send_probability,
)
from shuffledp.accounting.counts.poisson_pair import LARGEST_MEAN, SMALLEST_MEAN
from shuffledp.accounting.counts.rate_statement import check_delta
from shuffledp.accounting.counts.report_bounds import ReportBounds
from shuffledp.accounting.counts.report_truncation import CUT_SHARE, smallest_report
from shuffledp.accounting.counts.sending_rates import check_probability
from shuffledp.accounting.epsilon_solver import round_down, round_up
from shuffledp.accounting.items.items_exposure import blanket_mean
from shuffledp.accounting.items.items_parameters import check_sizes
from shuffledp.accounting.items.items_profile import items_profile
from shuffledp.errors import CertificationError

# A search ends when delta is kept and missed by less than this part.
_CLOSE = 1e-3
# The certified bound is not smooth: nodes of its loss distribution jump a little.
_WIDTH = 1e-4
_MOST_STEPS = 60


def smallest_blanket(
    epsilon: float,
    delta: float,
    *,
    num_items: int,
    set_size: int,
    num_honest: int,
    send_probability: float = 1.0,
) -> float:
    """Returns a blanket, nearly as small as any, that keeps (epsilon, delta).

    Args:
        epsilon: Central target, above 0.
        delta: In [1e-30, 1).
        num_items: d.
        set_size: s, the most items that anybody holds.
        num_honest: People who really send their blanket messages, the target user included.
        send_probability: lambda of those who get the target.

    Returns:
        m, blanket messages per person in the mean.

    Raises:
        InvalidInputError: If a parameter is out of range.
        CertificationError: If nothing is found that can be proven.
    """
    check_sizes(num_items, set_size)
    check_delta(delta)
    (target,) = positive_targets([epsilon])
    probability = check_probability(send_probability)
    check_whole(num_honest, "honest people", least=1)
    min_blanket = round_up(SMALLEST_MEAN * 1.001 * num_items / num_honest)

    def delta_of(m: float) -> float:
        mean = blanket_mean(m, num_items, num_honest)
        if mean > LARGEST_MEAN:
            raise CertificationError(
                f"No blanket of up to {LARGEST_MEAN:g} messages per item keeps "
                f"{target:g}."
            )
        size = smallest_report(
            m, set_size, num_honest=num_honest, epsilon=target, delta=delta
        )
        ideal = items_profile(mean, probability, set_size, num_items, delta)
        off = drift(m, size - set_size, num_honest)
        return ReportBounds(ideal, 0.0, off).uncut(target)

    # The rest is set aside for blanket messages that do not fit into reports.
    goal = (1.0 - CUT_SHARE) * delta
    if delta_of(min_blanket) <= goal:
        return min_blanket
    start = estimated_mean(probability, set_size, target, goal) * num_items / num_honest
    return _search(delta_of, goal, max(start, min_blanket), rising=False)


def largest_send_probability(
    epsilon: float,
    delta: float,
    *,
    num_items: int,
    set_size: int,
    num_honest: int,
    blanket: float,
    report_size: int | None = None,
) -> float:
    """Returns a probability to send, nearly as large as any, that keeps (epsilon, delta).

    Args:
        epsilon: Central target, above 0.
        delta: In [1e-30, 1).
        num_items: d.
        set_size: s, the most items that anybody holds.
        num_honest: People who really send their blanket messages, the target user included.
        blanket: m > 0, blanket messages per person in the mean.
        report_size: Messages per person, dummies included; each may take a Bernoulli
            draw. By default as many as this target needs.

    Returns:
        lambda, in (0, 1]; 1 if everything may be sent.

    Raises:
        InvalidInputError: If a parameter is out of range.
        CertificationError: If nothing is found that can be proven.
    """
    check_sizes(num_items, set_size)
    check_delta(delta)
    (target,) = positive_targets([epsilon])
    check_whole(num_honest, "honest people", least=1)
    mean = blanket_mean(blanket, num_items, num_honest)
    if report_size is None:
        report_size = smallest_report(
            blanket, set_size, num_honest=num_honest, epsilon=target, delta=delta
        )
    off = drift(blanket, report_size - set_size, num_honest)

    def delta_of(probability: float) -> float:
        ideal = items_profile(mean, probability, set_size, num_items, delta)
        return ReportBounds(ideal, 0.0, off).uncut(target)

    goal = (1.0 - CUT_SHARE) * delta
    if delta_of(1.0) <= goal:
        return 1.0
    start = estimated_send_probability(mean, set_size, target, goal)
    return _search(delta_of, goal, start, rising=True)


def _search(
    delta_of: Callable[[float], float], goal: float, start: float, *, rising: bool
) -> float:
    """Returns a number of six digits, evaluated, at which delta is just kept.

    Args:
        delta_of: A certified delta.
        goal: The largest delta that is wanted.
        start: Where it may be met.
        rising: Does delta rise with the number? Then it is at most 1.
    """
    rounded = round_down if rising else round_up
    # What was kept and missed nearest to the goal, and the last (log, excess).
    safe = unsafe = last = None
    slope = 2.0 if rising else -2.0
    candidate = rounded(min(start, 1.0) if rising else start)
    for _ in range(_MOST_STEPS):
        log = math.log(candidate)
        excess = math.log(max(delta_of(candidate), 1e-300) / goal)
        if excess <= 0.0:
            safe = candidate if safe is None or (candidate > safe) == rising else safe
        else:
            unsafe = (
                candidate
                if unsafe is None or (candidate < unsafe) == rising
                else unsafe
            )
        if -_CLOSE <= excess <= 0.0:
            break
        if last is not None and last[0] != log and last[1] != excess:
            slope = (excess - last[1]) / (log - last[0])
        last = log, excess
        # Slightly below the goal, so that the number that ends the search keeps it.
        log += min(max(-(excess + 0.4 * _CLOSE) / slope, -3.0), 3.0)
        if safe is not None and unsafe is not None:
            low, high = (
                math.log(min(safe, unsafe)),
                math.log(max(safe, unsafe)),
            )
            if high - low < _WIDTH:
                break
            # Steps that leave the bracket, or hardly enter it, are replaced.
            margin = 1e-3 * (high - low)
            if not low + margin < log < high - margin:
                log = 0.5 * (low + high)
        candidate = rounded(min(math.exp(log), 1.0) if rising else math.exp(log))
    if safe is None:
        raise CertificationError(
            f"Expected targets that some plan keeps, found none at delta {goal:g}: take "
            "more users, larger targets or a larger delta."
        )
    return safe
