"""Test that published counts are large enough to hold the noise that devices draw.

A count is the messages of answers and those of noise: it is no smaller than its noise
alone. With Poisson noise of mean mu_b in bucket b, whatever people answered,

    P(count_b <= x) <= P(Poisson(mu_b) <= x),

so that d times the smallest of these probabilities is a p-value, by the union bound. If
devices, or the party that counts, leave noise out, it is small where an answer is rare.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import poisson

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats

_LARGEST = 2**62


def noise_p_value(counts: NDArray[np.int64], means: Floats) -> float:
    """Returns the p-value of counts of messages, at most 1.

    >>> noise_p_value(np.array([500, 90]), np.array([100.0, 100.0])) > 0.1
    True
    >>> noise_p_value(np.array([500, 3]), np.array([100.0, 100.0])) < 1e-30
    True

    Args:
        counts: Messages of each bucket, shape (d,).
        means: Mean noise of honest people in each bucket, at least 0, shape (d,).

    Raises:
        InvalidInputError: If shapes differ, or a mean is negative or not finite.
    """
    if counts.ndim != 1 or counts.shape != means.shape or not counts.size:
        raise InvalidInputError("Expected a mean for each of the counts.")
    if not np.all((means >= 0.0) & np.isfinite(means)):
        raise InvalidInputError("Expected means of noise from 0.")
    # Published counts may be whole numbers of any size.
    published = np.minimum(counts, _LARGEST).astype(np.float64)
    smallest_tail = float(np.min(poisson.cdf(published, means)))
    return min(counts.size * smallest_tail, 1.0)
