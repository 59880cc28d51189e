"""A quick, unproven value of the composed profile, from which certified searches start.

The moments of the likelihood ratio factor, E[a(X)^z] E[a(Y)^{1 - z}], so that the integral
of `composition` takes a hundred nodes and no loss distribution. Wide Poisson
distributions are sampled at some hundred counts. Nothing that is certified rests on
these numbers.
"""

import math

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from shuffledp.accounting.counts.poisson_pair import (
    LARGEST_MEAN,
    SMALLEST_MEAN,
    PoissonPair,
    poisson_window,
)
from shuffledp.types import Floats

# Estimates decide where a search begins, not what it returns: coarse sums are enough.
_NODES = 400
_RANGE = 13.0
_LEAST = 1e-12
# In the place of 0, as logarithms are taken.
_TINY = 1e-300
# Its square is finite.
_LARGEST_RATIO = 1e100
# Logarithms of the means between which is searched: larger windows fit nowhere.
_LOW, _HIGH = math.log(SMALLEST_MEAN) - 1.0, math.log(LARGEST_MEAN) + 1.0


def estimated_delta(
    mean: float, send_probability: float, times: int, epsilon: float
) -> float:
    """Returns about the divergence at `epsilon` > 0 of `times` replaced items.

    Args:
        mean: mu > 0, blanket messages per item.
        send_probability: lambda, in [0, 1].
        times: How many items.
        epsilon: Above 0.
    """
    if send_probability <= 0.0:
        return 0.0
    logs, weights = _sampled_losses(mean, send_probability)
    silent_mass = 0.0
    if logs[0] == -math.inf:
        # Count 0 of an item that is always sent, in the world where it is sent.
        silent_mass = -math.expm1(
            times * math.log1p(-min(float(weights[0]), 1.0 - 1e-16))
        )
        logs, weights = logs[1:], weights[1:]
    log_weights = np.log(weights)

    def cumulant(t: float) -> float:
        total = 0.0
        for power in (t, 1.0 - t):
            terms = log_weights + power * logs
            top = float(terms.max())
            total += top + math.log(float(np.exp(terms - top).sum()))
        return times * total + epsilon * (1.0 - t)

    minimum = minimize_scalar(
        # The saddle of the integrand on the real axis, at z = 1 + e^v.
        lambda v: cumulant(1.0 + math.exp(v)) - math.log1p(math.exp(v)) - v,
        bounds=(-12.0, 9.0),
        method="bounded",
        options={"xatol": 1e-2},
    )
    theta = 1.0 + math.exp(float(minimum.x))
    level, variance = cumulant(theta), 0.0
    tilted = []
    for power in (theta, 1.0 - theta):
        masses = np.exp(log_weights + power * logs - (log_weights + power * logs).max())
        masses /= masses.sum()
        mean_log = float((masses * logs).sum())
        variance += times * float((masses * (logs - mean_log) ** 2).sum())
        tilted.append(masses)
    curvature = variance + 1.0 / theta**2 + 1.0 / (theta - 1.0) ** 2
    # Fine for the peak at the saddle, and for the pole at 1 beside it.
    step = min(0.35 / math.sqrt(curvature), 0.3 * (theta - 1.0))
    reach = min(9.0 / math.sqrt(variance + 1e-300), 3e3 / math.sqrt(curvature))
    heights = np.arange(0.0, reach + step, step)[:4000]
    turns = np.exp(1j * np.outer(heights, logs))
    moments = (turns * tilted[0]).sum(axis=1) * (turns.conj() * tilted[1]).sum(axis=1)
    z = theta + 1j * heights
    terms = moments**times * np.exp(-1j * epsilon * heights) / (z * (z - 1.0))
    terms[0] *= 0.5
    integral = math.exp(min(level, 700.0)) * step / math.pi * float(terms.real.sum())
    return min(max(silent_mass + max(integral, 0.0), _TINY), 1.0)


def estimated_send_probability(
    mean: float, times: int, epsilon: float, delta: float, guess: float = 1.0
) -> float:
    """Returns about the largest send_chance that keeps (epsilon, delta)."""

    def excess(log_probability: float) -> float:
        probability = math.exp(log_probability)
        return math.log(estimated_delta(mean, probability, times, epsilon) / delta)

    high = min(math.log(guess), 0.0)
    if excess(high) <= 0.0:
        if high == 0.0 or excess(0.0) <= 0.0:
            return 1.0
        low, high = high, 0.0
    else:
        low = high - 0.25
        while excess(low) > 0.0:
            if low < math.log(_LEAST):
                return _LEAST
            low, high = low - 2.0 * (high - low), low
    return math.exp(brentq(excess, low, high, xtol=1e-6, rtol=1e-14))


def estimated_mean(
    send_probability: float, times: int, epsilon: float, delta: float
) -> float:
    """Returns about the smallest mu that keeps (epsilon, delta).

    If that mu exceeds the accountant's largest, so does the result.
    """

    def excess(log_mean: float) -> float:
        mean = math.exp(log_mean)
        return math.log(estimated_delta(mean, send_probability, times, epsilon) / delta)

    # A Gaussian mechanism of about that variance, or, at least, no silence.
    log = math.log(1.0 / delta)
    ratio = min(send_probability / epsilon, _LARGEST_RATIO)
    guess = math.log(2.0 * times * ratio**2 * log + log / 10.0)
    low = high = min(max(guess, _LOW), _HIGH)
    while excess(high) > 0.0:
        if high >= _HIGH:
            return math.exp(_HIGH)
        low, high = high, high + 1.0
    while excess(low) <= 0.0:
        if low <= _LOW:
            return math.exp(_LOW)
        low, high = low - 1.0, low
    return math.exp(brentq(excess, low, high, xtol=1e-6, rtol=1e-14))


def _sampled_losses(mean: float, send_probability: float) -> tuple[Floats, Floats]:
    """Returns log a at some counts, ascending, and their weights."""
    window = poisson_window(mean)
    deviation = math.sqrt(mean)
    # Beyond these counts there is nothing that a delta of 1e-30 would see.
    low = max(math.floor(mean - _RANGE * deviation) - window.first, 0)
    high = math.ceil(mean + _RANGE * deviation + 60.0) - window.first
    stride = max((min(high, window.masses.size) - low) // _NODES, 1)
    sampled = slice(low, high, stride)
    with np.errstate(divide="ignore"):
        logs = np.log(PoissonPair(mean, send_probability).ratios()[sampled])
    weights = np.maximum(window.masses[sampled], _TINY)
    return logs, weights / weights.sum()
