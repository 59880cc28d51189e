"""Search for the rate inside of the value range of an omega (`exponential_cover`)."""

import math
from collections.abc import Callable

import numpy as np

from shuffledp.randomizers.exponential_blanket import (
    ExponentialBlanket,
    TargetDensities,
    mean_decay_of,
)
from shuffledp.types import Floats

# Rates that are tried at first, and about the best of them.
_COARSE, _FINE = 25, 9


def spreads_of(
    shape: ExponentialBlanket,
    own: TargetDensities,
    peak: Floats,
    rates: Floats,
    counts: Floats,
) -> Callable[[Floats], Floats]:
    """Returns about the variance of the target user's loss, as a function of kappa.

    Args:
        shape: Of omega, with any kappa.
        own: The target user's densities.
        peak: Logarithm of the peak of everybody's density, shape (levels,).
        rates: Of their noise, shape (levels,).
        counts: How many people there are, shape (levels,).

    Returns:
        A function of an array of kappas.
    """
    beyond = shape.reach - 1.0
    # See `probability_below`: gamma is the norm of omega times a smallest ratio.
    middle = np.exp(peak - rates)
    edge = peak - 2.0 * rates
    if math.isfinite(shape.reach):
        edge = np.minimum(edge, edge + (shape.outside - rates) * beyond)
    edge = np.exp(edge)
    if not math.isfinite(shape.reach):
        edge[rates > shape.outside] = 0.0
    outside, gain = 0.0, 0.0
    if beyond > 0.0:
        outside = -math.expm1(-shape.outside * beyond) / shape.outside
        falls = 2.0 * shape.rate - shape.outside
        gain = math.expm1(-2.0 * shape.rate) ** 2 / falls
        gain *= -math.expm1(-falls * beyond)

    def spreads(kappas: Floats) -> Floats:
        grown = np.exp(kappas)
        norms = 2.0 * (mean_decay_of(kappas) + outside / grown)
        ratios = np.minimum(middle, np.multiply.outer(grown, edge))
        people = np.minimum(norms[:, None] * ratios, 1.0) @ counts
        weights = np.exp(np.multiply.outer(kappas, own.middles))
        totals = weights @ own.squares / own.middles.size + gain * grown
        # One who hardly covers anybody is left out, lest the quotient overflow.
        spread: Floats = 2.0 * own.peak**2 * norms * totals / np.maximum(people, 1e-300)
        return spread

    return spreads


def smallest_spread(
    spreads: Callable[[Floats], Floats], rate: float
) -> tuple[float, float]:
    """Returns about the smallest spread, and its kappa.

    Args:
        spreads: See `spreads_of`.
        rate: The target user's, which no kappa exceeds.
    """
    low, high = 0.0, rate
    for points in (_COARSE, _FINE, _FINE):
        kappas = np.linspace(low, high, points)
        sizes = spreads(kappas)
        at = int(np.argmin(sizes))
        low, high = (
            float(kappas[max(at - 1, 0)]),
            float(kappas[min(at + 1, points - 1)]),
        )
    # Between the last points, so that covers of nearly equal budgets are nearly equal.
    left, middle, right = (
        sizes[max(at - 1, 0)],
        sizes[at],
        sizes[min(at + 1, points - 1)],
    )
    bend = left - 2.0 * middle + right
    if 0 < at < points - 1 and bend > 0.0:
        vertex = kappas[at] + 0.25 * (high - low) * (left - right) / bend
        between = float(spreads(np.array([vertex]))[0])
        if between < middle:
            return between, float(vertex)
    return float(middle), float(kappas[at])
