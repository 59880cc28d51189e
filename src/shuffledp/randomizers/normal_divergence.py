"""The divergence of two normal distributions that differ in their means."""

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
