"""Conversion of mu-Gaussian differential privacy to (epsilon, delta).

Two unit normal distributions at distance mu have, at every epsilon, the divergence

    delta = Phi(mu / 2 - epsilon / mu) - e^epsilon Phi(-mu / 2 - epsilon / mu).

Source: Dong, Roth, Su (2022), "Gaussian differential privacy", Corollary 2.13.
"""

import math
from functools import partial

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr, ndtri

from shuffledp.types import Floats
from shuffledp_papers.bounds.invert import epsilon_at

_ROOT = math.sqrt(2.0)


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Returns the exact delta of mu-GDP, with a relative error of about 1e-14 / mu.

    >>> gaussian_delta(1.0, 1.0)
    0.12693...
    """
    if mu <= 0.0:
        return 0.0
    near, far = epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0
    # epsilon < mu^2 / 2: the first term is above 1/2, so that the difference loses a
    # factor of about 1 / mu in precision only.
    if near < 0.0:
        above = float(ndtr(-near))
        return above - math.exp(epsilon + float(log_ndtr(-far)))
    # e^epsilon phi(far) = phi(near): only the two Mills ratios are subtracted.
    ratios = float(erfcx(near / _ROOT) - erfcx(far / _ROOT))
    return 0.5 * math.exp(-0.5 * near**2) * ratios


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Returns the epsilon at which mu-GDP means (epsilon, delta)."""
    return epsilon_at(partial(gaussian_delta, mu), delta)


def gaussian_trade_off(mu: float, alpha: float) -> float:
    """Returns G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu): the least type-II error."""
    return float(ndtr(-ndtri(alpha) - mu))


def largest_distance(epsilons: Floats, delta: float) -> Floats:
    """Returns the largest mu whose profile at each epsilon is at most delta, bisected.

    Args:
        epsilons: >= 0, shape (levels,).
        delta: In (0, 1).
    """
    # Bisection in log(mu): mu spans fourteen orders of magnitude.
    low = np.full(epsilons.shape, math.log(1e-12))
    high = np.full(epsilons.shape, math.log(200.0))
    for _ in range(60):
        middle = 0.5 * (low + high)
        mu = np.exp(middle)
        near, far = epsilons / mu - mu / 2.0, epsilons / mu + mu / 2.0
        # a - e^epsilon b, factored as a (1 - e^(epsilon + ln b - ln a)) against overflow.
        logs = log_ndtr(-near)
        fits = np.exp(logs) * -np.expm1(epsilons + log_ndtr(-far) - logs) <= delta
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    # The lower end keeps delta, which the middle may not.
    largest: Floats = np.exp(low)
    return largest
