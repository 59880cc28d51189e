"""Noise around a number in [-1, 1]: densities, probabilities, and divergences.

`rate` is that of two-sided exponential noise, `deviation` that of normal noise.
"""

import math
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
from scipy import stats

from shuffledp.types import Floats


def laplace_chances(rate: float, value: float, edges: Floats) -> Floats:
    noise = stats.laplace(value, 1.0 / rate)
    middle = (edges[:-1] + edges[1:]) / 2.0
    below, above = np.diff(noise.cdf(edges)), -np.diff(noise.sf(edges))
    return np.where(middle < value, below, above)


def clipped_chances(rate: float, value: float, edges: Floats) -> Floats:
    """Returns the probabilities of cells between edges from -1 to 1."""
    chances = laplace_chances(rate, value, edges)
    result: Floats = chances / chances.sum()
    return result


def normal_chances(deviation: float, value: float, edges: Floats) -> Floats:
    noise = stats.norm(value, deviation)
    middle = (edges[:-1] + edges[1:]) / 2.0
    below, above = np.diff(noise.cdf(edges)), -np.diff(noise.sf(edges))
    return np.where(middle < value, below, above)


def laplace_density(rate: float, value: float, y: Floats) -> Floats:
    return rate / 2.0 * np.exp(-rate * np.abs(y - value))


def clipped_density(rate: float, value: float, y: Floats) -> Floats:
    sides = math.expm1(-rate * (1.0 + value)) + math.expm1(-rate * (1.0 - value))
    return np.exp(-rate * np.abs(y - value)) * (rate / -sides)


def normal_density(deviation: float, value: float, y: Floats) -> Floats:
    density: Floats = stats.norm(value, deviation).pdf(y)
    return density


def exact_laplace_chance(rate: Any, value: Any, left: float, right: float) -> Any:
    """Returns P(left < message < right) in mpmath; `value` is not strictly in between."""
    rate, value = mp.mpf(rate), mp.mpf(value)
    near, far = sorted([abs(left - value), abs(right - value)])
    return (mp.exp(-rate * near) - mp.exp(-rate * far)) / 2


def exact_normal_profile(mu: Any, epsilon: float) -> Any:
    """Returns the divergence of two unit normal distributions at distance mu, in mpmath."""
    mu, epsilon = mp.mpf(mu), mp.mpf(epsilon)
    first, second = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    return mp.ncdf(first) - mp.exp(epsilon) * mp.ncdf(second)


def mean_positive_part(losses: Floats, masses: Floats, messages: int) -> float:
    """Returns E[(L_1 + ... + L_n)_+] / n, for independent losses and n = 1, 2, 3 or 6."""
    # With six, sums of two and of three are first grouped, and each loss is split between
    # two values so that its mean stays.
    sums, weights = losses, masses
    if messages == 3:
        sums, weights = plus(losses, masses, losses, masses)
    if messages == 6:
        losses, masses = grouped(*plus(losses, masses, losses, masses), 800)
        losses, masses = grouped(*plus(sums, weights, losses, masses), 1500)
        sums, weights = losses, masses
    if messages == 1:
        return float(masses @ np.maximum(losses, 0.0))
    order = np.argsort(sums)
    sums, weights = sums[order], weights[order]
    beyond = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    total = np.append(np.cumsum((weights * sums)[::-1])[::-1], 0.0)
    start = np.searchsorted(sums, -losses)
    return float(masses @ (total[start] + losses * beyond[start])) / messages


def plus(
    losses: Floats, masses: Floats, others: Floats, weights: Floats
) -> tuple[Floats, Floats]:
    return np.add.outer(losses, others).ravel(), np.outer(masses, weights).ravel()


def grouped(losses: Floats, masses: Floats, size: int) -> tuple[Floats, Floats]:
    order = np.argsort(losses)
    losses, masses = losses[order], masses[order]
    # Quantiles of the mass and of its contribution to the positive part.
    size_of = masses * (1e-3 * masses.sum() + np.abs(losses))
    share = np.cumsum(size_of) / size_of.sum()
    quantiles = np.searchsorted(share[:-1], np.linspace(0.0, 1.0, size)[1:-1])
    knots = np.unique(np.concatenate([losses[[0, -1]], losses[quantiles]]))
    if knots.size < 2:
        return knots, np.array([float(masses.sum())])
    index = np.clip(np.searchsorted(knots, losses) - 1, 0, knots.size - 2)
    gaps = knots[index + 1] - knots[index]
    part = (losses - knots[index]) / np.maximum(gaps, 1e-300)
    spread: Floats = np.zeros(knots.size)
    spread += np.bincount(index, masses * (1.0 - part), knots.size)
    spread += np.bincount(index + 1, masses * part, knots.size)
    return knots, spread


def blanket_functional(
    first: Floats, second: Floats, omega: Floats, epsilon: float, messages: int
) -> float:
    """Returns the divergence of P(x) from P(x') among messages - 1 blanket messages."""
    losses = (first - math.exp(epsilon) * second) / omega
    return mean_positive_part(losses, omega, messages)


def excess(first: Floats, second: Floats, epsilon: float) -> float:
    """Returns the divergence of two measures, such as the parts outside the blanket."""
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


def exact_geometric(exponent: float, digits: int, number: int) -> Any:
    """Returns P(d = number) from the probabilities of its binary digits, in mpmath."""
    result = mp.mpf(1)
    for digit in range(digits):
        p = 1 / (1 + mp.exp(mp.mpf(exponent) * 2**digit))
        result *= p if number >> digit & 1 else 1 - p
    return result


def exact_normal_chance(mu: float, point: int, cell: int, steps: int) -> Any:
    """Returns P(cell) of normal noise around a grid point, with mu / steps per cell."""
    length = mp.mpf(mu) / steps
    left, right = (length * (edge - point) for edge in (cell, cell + 1))
    if left < 0:
        left, right = -right, -left
    # In the tails the difference loses as many digits as a tail has zeros.
    with mp.workdps(200):
        return (mp.erfc(left / mp.sqrt(2)) - mp.erfc(right / mp.sqrt(2))) / 2


def chi_square(observed: Floats, expected: Floats) -> float:
    """Returns the p-value of Pearson's test."""
    # Neighboring cells are merged into bins of about 20 expected observations, or more.
    bins = np.floor(np.cumsum(expected) / 20.0).astype(np.int64)
    seen, due = np.bincount(bins, observed), np.bincount(bins, expected)
    possible = due > 0.0
    errors = (seen[possible] - due[possible]) ** 2
    statistic = float((errors / due[possible]).sum())
    return float(stats.chi2.sf(statistic, possible.sum() - 1))
