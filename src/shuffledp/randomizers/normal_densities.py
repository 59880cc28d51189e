"""Densities of normal messages, for a blanket in steps.

Values are scaled to [-1, 1]; s is the target user's deviation. With two values v, v' the
densities at y and -y add up to 2 phi(y) (E G(v') - G(v)), E = e^epsilon,

    G(v) = e^{-v^2 / (2 s^2)} cosh(y v / s^2),

of which the ends have (E - 1) G(1): other values show up to (E - 1) (max G - G(1)) +
max G - min G more. In v from 0, G rises and then falls, or does one of the two, so that
its least value is G(0) = 1 or G(1); its largest one is at most cosh(y / s^2), and
e^{(y^2 / s^2 - 1)_+ / (2 s^2)}, as log cosh t <= t^2 / 2.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from shuffledp.cover import NoiseDensities
from shuffledp.randomizers.normal_blanket import normal_masses, uncovered_beyond
from shuffledp.randomizers.normal_shape import reach_of_noise
from shuffledp.types import Floats

_CELLS = 400
# Cells are narrower near 0, where people of larger budgets send most.
_POWER = 1.3
# Part of delta that may stay uncovered.
_TAIL = 0.06
_ROUNDING = 4e-12


def normal_densities(
    deviation: float, deviations_of: Callable[[Floats], Floats], *, delta: float
) -> NoiseDensities | None:
    """Returns the densities for one target user, None where nothing can be told.

    Args:
        deviation: Of the target user's noise.
        deviations_of: Returns the deviations of the noise at levels, shape (levels,).
        delta: About the size of the divergence that is asked for, in (0, 1).
    """
    reach = reach_of_noise(deviation, _TAIL * delta)
    if not 1.0 < reach < math.inf:
        return None
    outside = 1.0 + (reach - 1.0) * np.linspace(0.0, 1.0, _CELLS) ** _POWER
    edges = np.append(0.0, outside)

    def least(epsilons: Floats) -> Floats:
        deviations = deviations_of(epsilons)[:, np.newaxis]
        # Of the farther end, at the outer edge.
        farthest = -0.5 * ((edges[1:] + 1.0) / deviations) ** 2
        densities: Floats = np.exp(farthest) / (math.sqrt(2.0 * math.pi) * deviations)
        return densities

    peak = 1.0 / (math.sqrt(2.0 * math.pi) * deviation)
    return NoiseDensities(
        edges=edges,
        near=peak * np.exp(-0.5 * ((edges - 1.0) / deviation) ** 2),
        ratio=np.exp(-2.0 * edges / deviation**2),
        masses=np.stack(
            [normal_masses((edges - end) / deviation) for end in (1.0, -1.0)]
        ),
        least=least,
        uncovered=uncovered_beyond(reach, deviation),
        imbalance=_imbalance(edges, deviation, peak),
        peak=peak,
        rounding=_ROUNDING,
    )


def _imbalance(edges: Floats, deviation: float, peak: float) -> Floats:
    """Returns by how much other values may show more than the ends, (2, cells + 1)."""
    inner, outer = edges[:-1] / deviation, edges[1:] / deviation
    density = 2.0 * peak * np.exp(-0.5 * inner**2)
    most = np.maximum(outer**2 - 1.0, 0.0) / (2.0 * deviation**2)
    most = np.minimum(most, _log_cosh(outer / deviation))
    # log G(1) at the inner edge, where it is least.
    of_ends = _log_cosh(inner / deviation) - 0.5 / deviation**2
    # Rounding must not make the largest G smaller than others.
    rises = np.maximum(np.expm1(most - of_ends), 0.0)
    spans = np.maximum(np.expm1(most - np.minimum(of_ends, 0.0)), 0.0)
    # In units of G(1) and of the least G, which are at most the largest.
    cells = density * np.exp(most) * (np.stack([rises, spans]) + 1e-15)
    # Beyond: no more than twice the density of the nearer end.
    tail = 2.0 * ndtr((1.0 - edges[-1]) / deviation)
    return np.hstack([cells, np.full((2, 1), tail)]) * (1.0 + _ROUNDING)


def _log_cosh(numbers: Floats) -> Floats:
    """Returns log cosh, also where cosh is too large."""
    logs: Floats = np.logaddexp(numbers, -numbers) - math.log(2.0)
    return logs
