"""Clone probabilities as type-I errors, for Laplace and Gaussian noise.

Values lie in [0, 1]. The target user, of budget eps, holds 0 or 1; user i, of budget eps_i,
holds 0, the paper's worst case. User i's report z is mistaken for the target user's 0 if

    f_i(z) <= f(z) and f(z - 1) < f(z)                                (U_0)

and for their 1 with f(z) and f(z - 1) exchanged (U_1), f_i and f being the densities of the
two noises. The clone probability p_i is the smaller probability of a message in U_0 and in
U_1, less the messages in user i's tails of mass delta / 2; w is the probability that the
target user's message is mistaken for their other value. p_i is not a weight of a mixture:
f_i >= p_i (f(z) + f(z - 1)) fails in the tails.

Source: Liu, Liu, Xiong, Gu, Chen (2024), "Enhanced Privacy Bound for Shuffle Model with
Personalized Privacy", Section 3.2.
"""

import math

import numpy as np
from scipy.special import ndtr, ndtri

from shuffledp.types import Floats


def laplace_clone_probabilities(
    epsilons: Floats, target_user: float, *, strict: bool = False
) -> Floats:
    """Returns p_i under Laplace noise of scale 1 / eps_i, shape (levels,).

    >>> laplace_clone_probabilities(np.array([2.0]), 2.0)
    array([0.18393...])

    Args:
        epsilons: Budgets eps_i > 0, shape (levels,).
        target_user: Budget eps > 0.
        strict: Whether messages that are equally likely are left out.
    """
    # Equal budgets have slope 0; 2 eps stands in for them, and is replaced at the end.
    same = epsilons == target_user
    budgets = np.where(same, 2.0 * target_user, epsilons)
    # ln(eps_i / eps) and eps_i - eps have the same sign.
    slope = budgets - target_user
    log_ratio = np.log1p(slope / target_user)
    edge = log_ratio / slope
    wide = budgets < target_user
    # f_i(z) <= f(z) where |z| >= edge if eps_i > eps, else where |z| <= edge.
    outer = _laplace_between(budgets, -np.inf, np.minimum(0.5, -edge))
    outer += _laplace_between(budgets, edge, 0.5)
    inner = _laplace_between(budgets, -edge, np.minimum(edge, 0.5))
    for_zero = np.where(wide, inner, outer)
    # f_i(z) <= f(z - 1), for 1/2 < z <= 1 and for z > 1.
    start = np.maximum(0.5, (log_ratio + target_user) / (budgets + target_user))
    for_one = _laplace_between(budgets, start, 1.0)
    turn = np.maximum(1.0, (log_ratio - target_user) / slope)
    beyond = np.where(
        wide,
        _laplace_between(budgets, 1.0, turn),
        _laplace_between(budgets, turn, np.inf),
    )
    clone_probabilities = np.minimum(for_zero, for_one + beyond)
    # Printed with "<" in place of "<=": p_i vanishes where budgets are equal.
    equal = 0.0 if strict else laplace_target_error(target_user)
    result: Floats = np.where(same, equal, clone_probabilities)
    return result


def laplace_target_error(target_user: float) -> float:
    """Returns w: the probability that noise of scale 1 / eps exceeds 1/2."""
    return 0.5 * math.exp(-target_user / 2.0)


def gaussian_clone_probabilities(
    deviations: Floats, target_user: float, *, tail: float = 0.0, strict: bool = False
) -> Floats:
    """Returns p_i under Gaussian noise, shape (levels,).

    Args:
        deviations: Standard deviations of the others' noise, shape (levels,).
        target_user: Standard deviation of the target user's noise.
        tail: Probability of either tail that counts as failure, delta_i / 2.
        strict: Whether messages that are equally likely are left out.
    """
    # Equal deviations would divide by 0; 2 sigma stands in, and is replaced at the end.
    same = deviations == target_user
    sigma = np.where(same, 2.0 * target_user, deviations)
    reach = -sigma * float(ndtri(tail)) if tail > 0.0 else np.full(sigma.shape, np.inf)

    def between(low: Floats | float, high: Floats | float) -> Floats:
        low, high = np.maximum(low, -reach), np.minimum(high, reach)
        return _normal_between(low / sigma, high / sigma)

    # With v = (target user / sigma)^2 - 1 and l = 2 target user^2 ln(target user /
    # sigma): f_i(z) <= f(z) where v z^2 >= l, and f_i(z) <= f(z - 1) where v z^2 + 2 z
    # >= 1 + l.
    excess = (target_user / sigma - 1.0) * (target_user / sigma + 1.0)
    level = target_user**2 * np.log1p(excess)
    edge = np.sqrt(level / excess)
    wide = excess < 0.0
    outer = between(-np.inf, np.minimum(0.5, -edge)) + between(edge, 0.5)
    inner = between(-edge, np.minimum(edge, 0.5))
    for_zero = np.where(wide, inner, outer)
    root = np.sqrt(np.maximum(1.0 + excess * (1.0 + level), 0.0))
    near = np.maximum((1.0 + level) / (1.0 + root), 0.5)
    # Wider noise has the smaller density only up to the second root.
    far = np.where(wide, (1.0 + root) / np.where(wide, -excess, 1.0), np.inf)
    clone_probabilities = np.minimum(for_zero, between(near, far))
    equal = 0.0 if strict else gaussian_target_error(target_user, tail=tail)
    result: Floats = np.where(same, equal, clone_probabilities)
    return result


def gaussian_target_error(deviation: float, *, tail: float = 0.0) -> float:
    """Returns w: the probability of noise above 1/2, outside its tail."""
    return max(float(ndtr(-0.5 / deviation)) - tail, 0.0)


def _laplace_between(
    rates: Floats, low: Floats | float, high: Floats | float
) -> Floats:
    """Returns P(low < Z < high) for densities rate / 2 e^{-rate |z|}; 0 if empty."""
    low, high = np.broadcast_arrays(low, high)
    # Split at 0, so that a difference is taken in the nearer tail.
    left_low, left_high = np.minimum(low, 0.0), np.minimum(high, 0.0)
    right_low, right_high = np.maximum(low, 0.0), np.maximum(high, 0.0)
    left = _between(rates, -left_high, -left_low)
    right = _between(rates, right_low, right_high)
    return np.where(high > low, left + right, 0.0)


def _between(rates: Floats, near: Floats, far: Floats) -> Floats:
    """Returns (e^{-rate near} - e^{-rate far}) / 2 for 0 <= near <= far."""
    far = np.maximum(far, near)
    with np.errstate(invalid="ignore"):
        width = np.where(np.isinf(far), np.inf, far - near)
    decay = np.where(np.isinf(near), 0.0, np.exp(-rates * near))
    half: Floats = 0.5 * decay * -np.expm1(-rates * width)
    return half


def _normal_between(low: Floats, high: Floats) -> Floats:
    """Returns P(low < Z < high), a difference of the nearer tail; 0 if empty."""
    above = ndtr(-low) - ndtr(-high)
    below = ndtr(high) - ndtr(low)
    mass: Floats = np.where(high > low, np.where(low > 0.0, above, below), 0.0)
    return mass
