"""Poisson numbers of blanket messages that are no larger than the true ones.

Of N people each sends a blanket message with probability gamma, or more. Let pi be the
Poisson distribution of mean lambda, given that it is at most K, with

    lambda <= (N - K + 1) gamma / (1 - gamma).

Then P(M = m + 1) / P(M = m) >= pi(m + 1) / pi(m) for m < K: the true number M is the
stochastically larger one.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from shuffledp.types import Floats

# Probabilities nearer to 1 than this are lowered.
_MOST = 1.0 - 1e-9
# Covers the rounding of a mean, and of the logarithm of a weight as a part of its terms.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class PoissonCounts:
    """Truncated Poisson numbers of messages, one for each group of people.

    Attributes:
        means: lambda of each group, 0 where there is none, shape (groups,).
        beyond: Probability that any of the Poisson numbers is truncated, or more.
        at_limit: Largest probability of a number to be K.
    """

    means: Floats
    beyond: float
    at_limit: float


def poisson_counts(
    probabilities: Floats, people: Floats, failure: float
) -> PoissonCounts:
    """Returns the largest Poisson numbers whose limits are reached that rarely.

    Args:
        probabilities: Gamma of each group, or less, shape (groups,).
        people: N of each group, >= 0, shape (groups,).
        failure: Probability with which a number may be K, > 0.
    """
    gamma = np.clip(probabilities, 0.0, _MOST)
    odds = gamma / (1.0 - gamma) * (1.0 - _ROUNDING)
    # The probability of K falls with K, and is small enough at the upper ends.
    low, high = np.zeros(people.size), people.copy()
    for _ in range(64):
        middle = np.floor((low + high) / 2.0)
        rare = _log_weight(middle, (people - middle + 1.0) * odds) <= np.log(failure)
        low, high = np.where(rare, low, middle), np.where(rare, middle, high)
    means = (people - high + 1.0) * odds
    logs = _log_weight(high, means)
    kept = (people >= 1.0) & (means > 0.0) & (logs <= np.log(failure))
    means = np.where(kept, means, 0.0)
    weights = np.where(kept, np.exp(logs), 0.0)
    # Of the weights beyond K each is at most this part of the one before it.
    part = np.minimum(means / (high + 1.0), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = float(np.where(kept, weights * part / (1.0 - part), 0.0).sum())
    if not beyond < 0.5:
        # Nothing is known of numbers that are truncated as often.
        return PoissonCounts(np.zeros(people.size), 0.0, 0.0)
    return PoissonCounts(
        means, beyond, float(weights.max(initial=0.0)) / (1.0 - beyond)
    )


def _log_weight(limits: Floats, means: Floats) -> Floats:
    """Returns the logarithm of Poisson weights above the mean, upward; else infinity."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = limits * np.log(means), means, gammaln(limits + 1.0)
        logs = terms[0] - terms[1] - terms[2]
        logs += _ROUNDING * (np.abs(terms[0]) + terms[1] + np.abs(terms[2]))
    weights: Floats = np.where((means > 0.0) & (limits > means), logs, np.inf)
    return np.where(means > 0.0, weights, -np.inf)
