"""What counts prove about a chance, exactly: the bounds of Clopper and Pearson.

Of n independent messages, each in a set with chance p, k are in it. The lower bound is the
p at which k hits or more come up with chance `alpha`; below it they come up more rarely:

    P(Bin(n, p) >= k) = alpha,    p = the alpha-quantile of Beta(k, n - k + 1).

So the bound exceeds the true chance with probability `alpha` at most, whatever that chance
is and however few messages there are. The upper bound is the same of those that missed.

What is derived of two of them, for values x and x', a set S and a promise (eps, delta):

    R(x)(S) <= e^eps R(x')(S) + delta

holds for every S if the promise does. With p a lower bound of R(x)(S) and q an upper bound
of R(x')(S), the least eps and the least delta that can be promised are log((p - delta) / q)
and p - e^eps q, unless one of the two bounds failed.

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
    """Returns lower bounds of chances, each wrong with probability `alpha` at most.

    >>> round(float(probability_lower_bound(10, 10, 0.05)), 4)  # 0.05 ** (1 / 10)
    0.7411

    Args:
        hits: How many messages were in the set, in [0, size], any shape.
        size: How many there were, >= 1, of a shape that goes with it.
        alpha: In (0, 1).
    """
    k, n = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (hits, size)))
    # At no hits there is no such quantile, and 0 is right.
    found = betaincinv(np.maximum(k, 1e-9), n - k + 1.0, alpha)
    bounds: Floats = np.where(k > 0.0, found * (1.0 - _ROUNDING), 0.0)
    return bounds


def probability_upper_bound(hits: ArrayLike, size: ArrayLike, alpha: float) -> Floats:
    """Returns upper bounds of chances, each wrong with probability `alpha` at most.

    >>> round(float(probability_upper_bound(0, 10, 0.05)), 4)  # 1 - 0.05 ** (1 / 10)
    0.2589

    Args:
        hits: How many messages were in the set, in [0, size], any shape.
        size: How many there were, >= 1, of a shape that goes with it.
        alpha: In (0, 1).
    """
    k, n = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (hits, size)))
    # From above: 1 - alpha would round a small alpha.
    found = betainccinv(k + 1.0, np.maximum(n - k, 1e-9), alpha)
    bounds: Floats = np.where(k < n, np.minimum(found * (1.0 + _ROUNDING), 1.0), 1.0)
    return bounds


def epsilon_lower_bound(here: ArrayLike, there: ArrayLike, delta: float) -> Floats:
    """Returns the least epsilons that allow these chances at `delta`, >= 0.

    >>> epsilon_lower_bound([0.5, 0.1], [0.25, 0.2], 0.0).round(4)
    array([0.6931, 0.    ])

    Args:
        here: Lower bounds of R(x)(S), in [0, 1], any shape.
        there: Upper bounds of R(x')(S), in (0, 1], the same shape.
        delta: In [0, 1).
    """
    above = np.maximum(np.asarray(here, np.float64) - delta, 0.0)
    with np.errstate(divide="ignore"):
        logs = np.log(above) - np.log(np.asarray(there, np.float64))
    least: Floats = np.maximum(logs, 0.0)
    return least


def delta_lower_bound(here: ArrayLike, there: ArrayLike, epsilon: float) -> Floats:
    """Returns the least deltas that allow these chances at `epsilon`, >= 0.

    Args:
        here: Lower bounds of R(x)(S), in [0, 1], any shape.
        there: Upper bounds of R(x')(S), in (0, 1], the same shape.
        epsilon: In nats, >= 0.
    """
    # e^700 is the last that fits a double; no chance is so small that it would matter.
    growth = np.exp(min(epsilon, 700.0))
    least: Floats = np.maximum(
        np.asarray(here, np.float64) - growth * np.asarray(there, np.float64), 0.0
    )
    return least
