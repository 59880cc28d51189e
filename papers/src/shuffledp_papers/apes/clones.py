"""Clone probabilities of APES, and their sums in O(n log n).

Under Clip-Laplace on [-A, A] with values in [-C, C], a user with budget eps_i imitates
one with budget eps_j, at all of their values, with probability at least

    p_ij = (eps_i / eps_j) (S_j / S_i) e^{-(1 + a) hi / 2 - (1 - a) lo / 2},
    S = 1 - (e^{-(a - 1) eps / 2} + e^{-(a + 1) eps / 2}) / 2,        a = A / C >= 1,

hi and lo being the larger and the smaller of the two budgets. For a = 1, as in all of the
paper's theorems, this is (eps_i / eps_j) (1 - e^-eps_j) / (1 - e^-eps_i) e^-hi.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Lemma 4 and Theorem 4.
"""

import math

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Ints
from shuffledp_papers.bounds.bound import require


def clone_probability(
    imitator: Floats, target_user: float, *, reach: float = 1.0
) -> Floats:
    """Returns p_ij for users of these budgets and one target user, shape as `imitator`.

    >>> clone_probability(np.array([1.0, 2.0]), 2.0)
    array([0.09256118, 0.13533528])

    Args:
        imitator: eps_i > 0, shape (levels,).
        target_user: The target user's eps_j > 0.
        reach: A / C >= 1; infinite for Laplace noise, where budgets must not differ.
    """
    _check(np.append(imitator, target_user), reach)
    high, low = np.maximum(imitator, target_user), np.minimum(imitator, target_user)
    # h = eps / S: p_ij is h_i / h_j times a function of hi times one of lo.
    ratio = _height(imitator, reach) / _height(np.array([target_user]), reach)
    if math.isinf(reach):
        # Laplace densities of different scales have no bounded ratio.
        return np.where(high > low, 0.0, np.exp(-high))
    result: Floats = ratio * _of_high(high, reach) * _of_low(low, reach)
    return result


def mean_clone_probabilities(
    epsilons: Floats, counts: Ints, *, reach: float = 1.0
) -> Floats:
    """Returns (1/n) sum_j p_ij for each level i, the sum over all users, i included.

    Args:
        epsilons: Distinct budgets > 0, ascending, shape (levels,).
        counts: Number of users of each, shape (levels,).
        reach: A / C >= 1, finite.
    """
    _check(epsilons, reach)
    # Under Laplace noise only users of the same level can be clones.
    if math.isinf(reach):
        shares: Floats = counts / counts.sum() * np.exp(-epsilons)
        return shares
    height = _height(epsilons, reach)
    high, low = _of_high(epsilons, reach), _of_low(epsilons, reach)
    weights = counts / height
    # Sorted by budget, the sum over j is two running sums: users with at most this
    # budget, and users with a larger one. All terms are positive: no cancellation.
    smaller = np.cumsum(weights * low)
    larger = np.cumsum((weights * high)[::-1])[::-1] - 0.0
    # Users of the same budget are in the first sum already.
    larger = np.append(larger[1:], 0.0)
    means: Floats = height * (high * smaller + low * larger) / float(counts.sum())
    return means


def _check(epsilons: Floats, reach: float) -> None:
    if not reach >= 1.0:
        raise InvalidInputError(f"Expected A / C >= 1, got {reach:g}.")
    smallest = float(epsilons.min())
    require(smallest > 0.0, "every budget > 0", f"{smallest:g}")


def _height(epsilons: Floats, reach: float) -> Floats:
    """Returns eps / S."""
    # expm1 keeps all digits where eps is small and S near 0.
    mass = -np.expm1(-(reach - 1.0) * epsilons / 2.0)
    mass = mass - np.expm1(-(reach + 1.0) * epsilons / 2.0)
    height: Floats = 2.0 * epsilons / mass
    return height


def _of_high(epsilons: Floats, reach: float) -> Floats:
    result: Floats = np.exp(-(1.0 + reach) * epsilons / 2.0)
    return result


def _of_low(epsilons: Floats, reach: float) -> Floats:
    result: Floats = np.exp((reach - 1.0) * epsilons / 2.0)
    return result
