"""Search for the rate inside of the value range of an omega (`exponential_cover`)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from shuffledp.randomizers.exponential_blanket import (
    ExponentialBlanket,
    TargetDensities,
    mean_decay_of,
)
from shuffledp.types import Floats

# Rates that are tried at first, and about the best of them.
_COARSE, _FINE = 25, 9


def best_decays(
    shapes: Sequence[ExponentialBlanket],
    own: TargetDensities,
    peak: Floats,
    rates: Floats,
    counts: Floats,
) -> list[tuple[float, ExponentialBlanket]]:
    """Returns about the variance of the target user's loss in each shape, and the shape.

    Args:
        shapes: Of omega, with any kappa, which is chosen: all of one rate.
        own: The target user's densities.
        peak: Logarithm of the peak of all people's density, shape (levels,).
        rates: Of their noise, shape (levels,).
        counts: How many people there are, shape (levels,).
    """
    spreads = _spreads_of(shapes, own, peak, rates, counts)
    rows, last = np.arange(len(shapes)), 0
    low, high = np.zeros(rows.size), np.full(rows.size, own.rate)
    for points in (_COARSE, _FINE, _FINE):
        last = points - 1
        kappas = np.linspace(low, high, points, axis=1)
        sizes = spreads(kappas)
        best_index = np.argmin(sizes, axis=1)
        before, after = np.maximum(best_index - 1, 0), np.minimum(best_index + 1, last)
        low, high = kappas[rows, before], kappas[rows, after]
    smallest_sizes, kappa = sizes[rows, best_index], kappas[rows, best_index]
    # Between the last points, so that covers of nearly equal budgets are nearly equal.
    left, right = sizes[rows, before], sizes[rows, after]
    bend = left - 2.0 * smallest_sizes + right
    inside = (best_index > 0) & (best_index < last) & (bend > 0.0)
    move = 0.25 * (high - low) * (left - right) / np.where(inside, bend, 1.0)
    vertex = np.where(inside, kappa + move, kappa)
    between = spreads(vertex[:, None])[:, 0]
    better = between < smallest_sizes
    smallest_sizes, kappa = (
        np.where(better, between, smallest_sizes),
        np.where(better, vertex, kappa),
    )
    return [
        (spread, replace(shape, kappa=chosen_kappa))
        for shape, spread, chosen_kappa in zip(
            shapes, smallest_sizes.tolist(), kappa.tolist(), strict=True
        )
    ]


def _spreads_of(
    shapes: Sequence[ExponentialBlanket],
    own: TargetDensities,
    peak: Floats,
    rates: Floats,
    counts: Floats,
) -> Callable[[Floats], Floats]:
    """Returns a function of kappas of each shape, shape (shapes, points)."""
    beyond = np.array([shape.reach for shape in shapes]) - 1.0
    outside = np.array([shape.outside for shape in shapes])
    ends = np.isfinite(beyond)
    # See `probability_below`: gamma is the norm of omega times a smallest ratio.
    middle = np.exp(peak - rates)
    # To infinity, a density that is steeper falls below omega, and others never do.
    slopes = np.subtract.outer(outside, rates)
    far = np.where(ends[:, None], slopes, 0.0) * np.where(ends, beyond, 0.0)[:, None]
    edge = np.exp(peak - 2.0 * rates + np.minimum(far, 0.0))
    edge[~ends[:, None] & (slopes < 0.0)] = 0.0
    # Integrals of the unnormalized omega, and of the squared difference against it.
    tails = -np.expm1(-outside * beyond) / outside
    falls = 2.0 * own.rate - outside
    gains = math.expm1(-2.0 * own.rate) ** 2 * -np.expm1(-falls * beyond) / falls

    def spreads(kappas: Floats) -> Floats:
        grown = np.exp(kappas)
        norms = 2.0 * (mean_decay_of(kappas) + tails[:, None] / grown)
        ratios = np.minimum(middle, grown[:, :, None] * edge[:, None, :])
        people = np.minimum(norms[:, :, None] * ratios, 1.0) @ counts
        weights = np.exp(np.multiply.outer(kappas, own.middles))
        totals = weights @ own.squares / own.middles.size + gains[:, None] * grown
        # One who hardly covers anybody is left out, lest the quotient overflow.
        spread: Floats = 2.0 * own.peak**2 * norms * totals / np.maximum(people, 1e-300)
        return spread

    return spreads
