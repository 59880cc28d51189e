"""The target user's privacy loss at one epsilon, as finitely many values."""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.cover import Cover
from shuffledp.types import Floats


@dataclass(frozen=True, eq=False)
class Atoms:
    """The target user's loss at one epsilon, in units of their largest difference.

    Attributes:
        losses: Its values, shape (atoms,).
        masses: Their probabilities under omega, shape (atoms,).
        telling: The loss's variance as far as it is due to the difference of x and x'.
    """

    losses: Floats
    masses: Floats
    telling: float


def atoms(cover: Cover, unit: float, epsilon: float) -> Atoms:
    """Returns the loss, split onto the ends of each cell where it varies within one."""
    growth = math.expm1(epsilon)
    with np.errstate(over="ignore", invalid="ignore"):
        return _atoms(cover, unit, growth)


def _atoms(cover: Cover, unit: float, growth: float) -> Atoms:
    differences, bases = cover.differences / unit, cover.bases / unit
    losses = differences - growth * bases
    # Upward by what the two products and the sum may have lost.
    losses = losses + 4e-16 * (np.abs(differences) + growth * bases)
    masses = cover.masses
    telling = float(masses @ differences**2)
    if cover.cells is not None:
        low, high = cover.cells.low / unit, cover.cells.high / unit
        scale = growth + 1.0
        left, right = low[0] - scale * high[1], high[0] - scale * low[1]
        if cover.cells.gaps is not None:
            min_gap, max_gap = cover.cells.gaps / unit
            left = np.maximum(left, min_gap - growth * high[1])
            right = np.minimum(right, max_gap - growth * low[1])
        left, right = np.minimum(left, losses), np.maximum(right, losses)
        # Both ends in place of a loss between them, with the probabilities that keep
        # its mean: an upper bound, since (.)_+ is convex.
        share = np.clip((losses - left) / np.maximum(right - left, 1e-300), 0.0, 1.0)
        losses = np.concatenate([left, right])
        masses = np.concatenate([masses * (1.0 - share), masses * share])
    return Atoms(losses, masses, telling)
