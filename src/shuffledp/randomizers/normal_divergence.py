"""The divergence of normal distributions that differ in their means, and its inverse."""

import math

import numpy as np
from scipy.special import log_ndtr

from shuffledp.types import Floats

_SMALLEST = 1e-306
# Levels at which others start, steps of Newton's method from there, and how much of the
# divergence may be left then; mu is off by no more than four times that part of itself,
# as the divergence grows about as fast as mu, or faster.
_NODES, _STEPS, _LEFT = 257, 4, 1e-11
SENSITIVITY_ERROR = 4.0 * _LEFT


def normal_divergence(mu: Floats, epsilons: Floats) -> Floats:
    """Returns the divergence of two unit normal distributions at distance mu, upward."""
    mu = np.maximum(mu, 1e-300)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        logs = log_ndtr(mu / 2.0 - epsilons / mu)
        other = epsilons + log_ndtr(-mu / 2.0 - epsilons / mu)
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


def sensitivity_of_many_levels(epsilons: Floats, delta_local: float) -> Floats:
    """Returns `sensitivity_per_deviation` up to a part SENSITIVITY_ERROR, quickly.

    Args:
        epsilons: Local budgets, >= 0, ascending, shape (levels,).
        delta_local: In (0, 1).
    """
    if epsilons.size <= _NODES:
        return sensitivity_per_deviation(epsilons, delta_local)
    nodes = np.unique(np.linspace(0, epsilons.size - 1, _NODES).astype(np.int64))
    at_nodes = sensitivity_per_deviation(epsilons[nodes], delta_local)
    mu = np.interp(epsilons, epsilons[nodes], at_nodes)
    for steps_left in reversed(range(_STEPS + 1)):
        divergence = normal_divergence(mu, epsilons)
        off = ~(np.abs(divergence / delta_local - 1.0) < _LEFT)
        if not off.any():
            return mu
        if not steps_left:
            break
        # The divergence rises with mu, at the normal density of mu / 2 - epsilon / mu.
        slope = np.exp(-0.5 * (mu / 2.0 - epsilons / mu) ** 2) / math.sqrt(2 * math.pi)
        # Steps in the logarithm of the divergence, which bends less.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            mu -= divergence / slope * np.log(divergence / delta_local)
    # What has not converged is found by bisection.
    mu[off] = sensitivity_per_deviation(epsilons[off], delta_local)
    return mu
