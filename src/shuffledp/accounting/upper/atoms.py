"""The target user's privacy loss at one epsilon, as finitely many values."""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.cover import Cover
from shuffledp.types import Floats, Ints

# Numbers of values that are tried where they save so many times as many, and the part of
# the variance that they may add.
_LEAST_SAVING, _ADDED = 1.5, 2e-5
_SIZES = {
    size: np.arange(float(size)) for size in (64, 128, 192, 256, 384, 512, 768, 1_200)
}
_FIRST = np.array([True])


@dataclass(frozen=True, eq=False)
class Atoms:
    """The target user's loss at one epsilon, in units of their largest difference.

    Attributes:
        losses: Its values, shape (atoms,).
        masses: Their probabilities under omega, shape (atoms,).
        telling: The loss's variance as far as it is due to the difference of x and x'.
        num_terms: How many terms a sum over all values has, as its rounding grows with.
    """

    losses: Floats
    masses: Floats
    telling: float
    num_terms: int


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
    return Atoms(losses, masses, telling, losses.size)


def fewer_atoms(loss: Atoms) -> Atoms:
    """Returns the loss on few of its values, for a bound that is no smaller.

    Each value is split onto the chosen ones next to it, with the probabilities that keep
    its mean: (.)_+ is convex. They are as many as add next to nothing to the variance.
    """
    values, masses = _merged(loss)
    steps = values[1:] - values[:-1]
    # Chosen values next to each other add about the same to the variance.
    costs = np.zeros(values.size)
    np.cumsum(np.cbrt(0.5 * (masses[:-1] + masses[1:]) * steps**2), out=costs[1:])
    most_added = _ADDED * float(masses @ (values - masses @ values) ** 2)
    for size, counters in _SIZES.items():
        marks = counters * (costs[-1] / (size - 1))
        marks[-1] = costs[-1]
        chosen = np.minimum(costs.searchsorted(marks), values.size - 1)
        chosen = chosen[np.concatenate([_FIRST, chosen[1:] > chosen[:-1]])]
        if chosen.size < 2 or _LEAST_SAVING * chosen.size > loss.losses.size:
            break
        chosen[0], chosen[-1] = 0, values.size - 1
        nodes = values[chosen]
        # Each value belongs to the cell that ends at it, and the first to the first one.
        widths = chosen[1:] - chosen[:-1]
        widths[0] += 1
        right = np.arange(1, chosen.size).repeat(widths)
        below, above = values - nodes[right - 1], nodes[right] - values
        if float(masses @ (below * above)) <= most_added:
            share = np.clip(below / (below + above), 0.0, 1.0)
            split = _sums(
                np.concatenate([right - 1, right]),
                np.concatenate([masses * (1.0 - share), masses * share]),
            )
            # Upward by what the means may have lost to rounding.
            nodes = nodes + 1e-15 * np.abs(nodes)
            num_terms = 2 * loss.num_terms + nodes.size
            return Atoms(nodes, split, loss.telling, num_terms)
    return loss


def _merged(loss: Atoms) -> tuple[Floats, Floats]:
    """Returns different values, ascending, and the mass of each."""
    order = loss.losses.argsort(kind="stable")
    values, masses = loss.losses[order], loss.masses[order]
    is_new = np.concatenate([_FIRST, values[1:] > values[:-1]])
    if not is_new.all():
        masses = _sums(is_new.cumsum() - 1, masses)
        values = values[is_new]
    return values, masses


def _sums(positions: Ints, numbers: Floats) -> Floats:
    """Returns the sum of the numbers at each position."""
    return np.bincount(positions, weights=numbers).astype(np.float64, copy=False)
