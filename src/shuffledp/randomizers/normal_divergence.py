"""The divergence of normal distributions that differ in their means, and its inverse."""

import math

import numpy as np
from scipy.special import log_ndtr

from shuffledp.types import Floats

_SMALLEST = 1e-306


def normal_divergence(mu: Floats, epsilons: Floats) -> Floats:
    """Returns the divergence of two unit normal distributions at distance mu, upward."""
    mu = np.maximum(mu, 1e-300)
    logs = log_ndtr(mu / 2.0 - epsilons / mu)
    other = epsilons + log_ndtr(-mu / 2.0 - epsilons / mu)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        divergence: Floats = np.exp(logs) * (
            -np.expm1(np.minimum(other - logs, 0.0)) + 1e-12
        )
    # It is never 0, however small.
    return np.where(np.isneginf(logs), _SMALLEST, np.maximum(divergence, _SMALLEST))


def sensitivity_per_deviation(epsilons: Floats, delta_local: float) -> Floats:
    """Returns the largest mu that keeps (eps, delta_local), rounded down, by bisection.

    Args:
        epsilons: Local budgets, >= 0, any shape.
        delta_local: In (0, 1).
    """
    low = np.full(epsilons.shape, math.log(1e-105))
    high = np.full(epsilons.shape, math.log(200.0))
    for _ in range(60):
        middle = (low + high) / 2.0
        fits = normal_divergence(np.exp(middle), epsilons) <= delta_local
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    # The end of the bracket that was evaluated, and kept delta_local.
    mu: Floats = np.exp(low)
    return mu
