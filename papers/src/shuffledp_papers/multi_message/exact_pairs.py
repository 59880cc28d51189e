"""Proven bounds of the divergence of the messages that published protocols reveal.

*Independent buckets.* With the distribution of a bucket's noise, on the whole numbers, the
pair of a bucket with and without one message more is `shuffledp`'s `BucketPair`, whose
moved message is an exact sum.

*Noise messages that fall into buckets at random.* Let every noise message fall into either
of the two buckets that change with equal probability, and T be the number of those that
fall into one of them. Given T = t, and all other messages, an adversary sees

    (A + 1, t - A)  against  (A, t - A + 1),      A ~ Binomial(t, 1/2).

The outcome (a, t + 1 - a) has the ratio a / (t + 1 - a), which grows with a. With S_t for
the upper tail of A and c = floor((t + 1) E / (1 + E)) + 1, E = e^epsilon, the divergence is

    E over T of (S_T(c - 1) - E S_T(c)),

and the other direction is its mirror image. T has the same distribution in both worlds, and
so have all other messages: this is the whole divergence.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import betainc

from shuffledp.accounting.counts.bucket_pair import BucketChange, BucketPair
from shuffledp.accounting.counts.counts_profile import CountsProfile
from shuffledp.accounting.counts.rate_statement import LEAST_DELTA
from shuffledp.accounting.counts.report_bounds import ReportBounds
from shuffledp.accounting.sums.binomial import (
    binomial_weight,
    deviation,
    relative_error,
)
from shuffledp.types import Floats

# Probability beyond each end of a window of binomial counts.
_OUTSIDE = 1e-60


def shifted_pair(masses: Floats, *, missing: float, drift: float) -> BucketPair:
    """Returns the pair of a bucket with and without one message more.

    Args:
        masses: Of consecutive numbers of noise messages, shape (counts,).
        missing: Bound of the mass that they leave out.
        drift: They are right up to a factor of e^{+-drift}, apart from that.
    """
    return BucketPair.of(
        np.append(0.0, masses),
        np.append(masses, 0.0),
        missing=2.0 * missing,
        drift=drift,
    )


def binomial_masses(trials: int, probability: float) -> tuple[int, Floats, float]:
    """Returns the window of a binomial number where it is not negligible.

    Returns:
        The first count, the masses, shape (counts,), and a bound of the mass left out.
    """
    mean = trials * probability
    reach = float(deviation(mean * (1.0 - probability), _OUTSIDE)) + 1.0
    first, last = max(math.floor(mean - reach), 0), min(math.ceil(mean + reach), trials)
    counts = np.arange(first, last + 1, dtype=np.float64)
    return first, binomial_weight(counts, float(trials), probability), 2.0 * _OUTSIDE


def moved_delta(pair: BucketPair, epsilon: float) -> float:
    """Returns a proven bound of delta of a message that moves to another bucket."""
    change = (BucketChange(pair, moved=True, times=1),)
    profile = CountsProfile(change, change, LEAST_DELTA)
    bounds = ReportBounds(profile, min(2.0 * profile.missing, 1.0), profile.drift)
    return bounds.upper(epsilon)


def split_delta(draws: Sequence[tuple[int, float]], epsilon: float) -> float:
    """Returns a proven bound of delta if noise falls into either bucket equally often.

    Args:
        draws: Numbers of noise messages, and the probability of each that it falls into
            one of the two buckets.
        epsilon: >= 0.
    """
    first, weights, outside, doubt = 0, np.ones(1), 0.0, 0.0
    for trials, probability in draws:
        if trials and probability > 0.0:
            start, masses, missing = binomial_masses(trials, probability)
            first, weights = first + start, np.convolve(weights, masses)
            outside += missing
            # A sum of positive terms is right to as many roundings as it has terms.
            doubt += float(relative_error(np.array(float(trials))))
            doubt += weights.size * 2.3e-16
    total = first + np.arange(weights.size, dtype=np.float64)
    growth = math.exp(min(epsilon, 700.0))
    # An outcome at the threshold gains nothing: whether it is counted does not matter.
    minimum = np.floor((total + 1.0) / (1.0 + 1.0 / growth)) + 1.0
    gains, losses = _tail(minimum - 1.0, total), growth * _tail(minimum, total)
    value = float(weights @ np.maximum(gains - losses, 0.0))
    slack = doubt + 4.0 * relative_error(total) + 1e-13
    return min(value + float((weights * slack) @ (gains + losses)) + outside, 1.0)


def _tail(minimum: Floats, trials: Floats) -> Floats:
    """Returns P(Binomial(trials, 1/2) >= least)."""
    inside = (minimum >= 1.0) & (minimum <= trials)
    successes = np.where(inside, minimum, 1.0)
    failures = np.where(inside, trials - minimum + 1.0, 1.0)
    tails = betainc(successes, failures, 0.5)
    result: Floats = np.where(inside, tails, np.where(minimum < 1.0, 1.0, 0.0))
    return result
