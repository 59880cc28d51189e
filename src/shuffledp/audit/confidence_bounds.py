"""Exact confidence bounds of Clopper and Pearson, and the epsilon and delta they prove.

Of n independent messages, each in a set with probability p, k are in it. The lower bound is
the p at which k hits or more have probability `alpha`; they have less at every smaller p.
So the bound exceeds the true probability with probability `alpha` at most, for every p and
n. The upper bound is the complement of the lower bound of the misses.

For values x and x', a set S and a promise (eps, delta), two of them prove more:

    R(x)(S) <= e^eps R(x')(S) + delta

holds for every S if the promise does. A lower bound p of R(x)(S) and an upper bound q of
R(x')(S) give a least eps, or a least delta, unless one of the two bounds failed.

Source: Clopper, Pearson (1934), "The use of confidence or fiducial limits illustrated in
the case of the binomial".
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv, betaincinv

from shuffledp.types import Floats

# Quantiles are moved outward by more than they are rounded: coverage is not touched by it.
_ROUNDING = 1e-9


def probability_lower_bound(hits: ArrayLike, size: ArrayLike, alpha: float) -> Floats:
    """Returns lower bounds, each wrong with probability `alpha` at most.

    >>> round(float(probability_lower_bound(10, 10, 0.05)), 4)  # 0.05 ** (1 / 10)
    0.7411

    Args:
        hits: How many messages were in the set, in [0, size], any shape.
        size: How many there were, >= 1, of a shape that goes with it.
        alpha: In (0, 1).
    """
    k, n = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (hits, size)))
    # P(Bin(n, p) >= k) = alpha at p = the alpha-quantile of Beta(k, n - k + 1).
    # Without hits there is no such quantile, and 0 is the bound.
    quantiles = betaincinv(np.maximum(k, 1e-9), n - k + 1.0, alpha)
    bounds: Floats = np.where(k > 0.0, quantiles * (1.0 - _ROUNDING), 0.0)
    return bounds


def probability_upper_bound(hits: ArrayLike, size: ArrayLike, alpha: float) -> Floats:
    """Returns upper bounds, each wrong with probability `alpha` at most.

    >>> round(float(probability_upper_bound(0, 10, 0.05)), 4)  # 1 - 0.05 ** (1 / 10)
    0.2589

    Args:
        hits: How many messages were in the set, in [0, size], any shape.
        size: How many there were, >= 1, of a shape that goes with it.
        alpha: In (0, 1).
    """
    k, n = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (hits, size)))
    # The complement's inverse: 1 - alpha would round a small alpha away.
    quantiles = betainccinv(k + 1.0, np.maximum(n - k, 1e-9), alpha)
    bounds: Floats = np.where(
        k < n, np.minimum(quantiles * (1.0 + _ROUNDING), 1.0), 1.0
    )
    return bounds


def epsilon_lower_bound(lower: ArrayLike, upper: ArrayLike, delta: float) -> Floats:
    """Returns the least epsilons that allow these probabilities at `delta`, >= 0.

    >>> epsilon_lower_bound([0.5, 0.1], [0.25, 0.2], 0.0).round(4)
    array([0.6931, 0.    ])

    Args:
        lower: Lower bounds of R(x)(S), in [0, 1], any shape.
        upper: Upper bounds of R(x')(S), in (0, 1], the same shape.
        delta: In [0, 1).
    """
    # The least epsilon with p <= e^eps q + delta is log((p - delta) / q).
    above = np.maximum(np.asarray(lower, np.float64) - delta, 0.0)
    # log 0 is -inf where `delta` covers the whole lower bound; the maximum makes it 0.
    with np.errstate(divide="ignore"):
        logs = np.log(above) - np.log(np.asarray(upper, np.float64))
    minimum: Floats = np.maximum(logs, 0.0)
    return minimum


def delta_lower_bound(lower: ArrayLike, upper: ArrayLike, epsilon: float) -> Floats:
    """Returns the least deltas that allow these probabilities at `epsilon`, >= 0.

    Args:
        lower: Lower bounds of R(x)(S), in [0, 1], any shape.
        upper: Upper bounds of R(x')(S), in (0, 1], the same shape.
        epsilon: In nats, >= 0.
    """
    # exp overflows past 709; no probability is small enough for the cut to matter.
    growth = np.exp(min(epsilon, 700.0))
    # The least delta with p <= e^eps q + delta.
    minimum: Floats = np.maximum(
        np.asarray(lower, np.float64) - growth * np.asarray(upper, np.float64), 0.0
    )
    return minimum
