"""Densities of messages with two-sided exponential noise, for a blanket in steps.

Values are scaled to [-1, 1]; b = eps / 2 is the target user's rate. The ends are the worst
pair of values if blankets have one density on [-1, 1] (docs/theory/covers.md, "A steeper
omega outside"): there no blanket is taken to be more than at its edge.
"""

import math

import numpy as np

from shuffledp.cover import NoiseDensities
from shuffledp.types import Floats

_INNER_CELLS, _OUTER_CELLS = 16, 400
# Cells are narrower near 1, where people of larger budgets send most.
_POWER = 1.3
# Part of delta that may stay uncovered.
_TAIL = 0.06
_ROUNDING = 1e-13


def exponential_densities(epsilon: float, *, delta: float) -> NoiseDensities | None:
    """Returns the densities for one target user, None where nothing can be told.

    Args:
        epsilon: The target user's local budget, > 0.
        delta: About the size of the divergence that is asked for, in (0, 1).
    """
    rate = epsilon / 2.0
    contrast = -math.expm1(-2.0 * rate)
    # Beyond, the ends show a part of delta.
    farther = math.log(0.5 * contrast) - math.log(_TAIL * delta)
    if not farther > 1e-3 or not rate < 300.0 or not math.isfinite(farther / rate):
        return None
    inside = np.linspace(0.0, 1.0, _INNER_CELLS + 1)
    outside = farther / rate * np.linspace(0.0, 1.0, _OUTER_CELLS) ** _POWER
    edges = np.concatenate([inside[:-1], 1.0 + outside])
    left, right = edges[:-1], edges[1:]
    # Sizes from the value, of edges and of cells.
    away = np.abs(edges - 1.0)
    shares = -np.expm1(-rate * (right - left))
    near = 0.5 * np.exp(-rate * np.minimum(away[:-1], away[1:])) * shares
    far = 0.5 * np.exp(-rate * (1.0 + left)) * shares
    outer = np.maximum(right, 1.0)

    def least(epsilons: Floats) -> Floats:
        rates = epsilons[:, np.newaxis] / 2.0
        densities: Floats = rates / 2.0 * np.exp(-rates * (1.0 + outer))
        return densities

    beyond = 0.5 * math.exp(-farther)
    rounding = _ROUNDING + 6e-16 * rate * float(edges[-1])
    return NoiseDensities(
        edges=edges,
        near=0.5 * rate * np.exp(-rate * away),
        ratio=np.exp(-2.0 * rate * np.minimum(edges, 1.0)),
        masses=np.stack([near, far]),
        least=least,
        uncovered=np.array([[beyond], [beyond * math.exp(-2.0 * rate)]]),
        imbalance=None,
        peak=0.5 * rate,
        rounding=rounding,
    )
