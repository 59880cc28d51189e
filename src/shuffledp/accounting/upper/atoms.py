"""The target user's privacy loss at one epsilon, as finitely many values."""

import math
from dataclasses import dataclass, replace

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


def bounded_below(loss: Atoms, num_others: float) -> Atoms:
    """Returns the loss with values that others never outweigh moved up to one of these.

    A sum that has such a value is negative still, with noise for smoothing, too, so that
    the bound stays what it is. At large epsilons such values are larger by orders than all
    others, and the variance would be theirs alone.

    Args:
        loss: The target user's.
        num_others: How many other messages are added up with it, at most.
    """
    largest = float(loss.losses.max())
    least = -(num_others + 1.0) * max(largest, math.sqrt(loss.telling))
    if largest <= 0.0 or not loss.losses.min() < least:
        return loss
    return replace(loss, losses=np.maximum(loss.losses, least))


def raised_to(loss: Atoms, least: float) -> Atoms:
    """Returns the loss with all smaller values moved up to one, as one value.

    The bound only rises: by how many sums become positive.

    Args:
        loss: The target user's.
        least: The value.
    """
    is_left = loss.losses > least
    moved = math.fsum(loss.masses[~is_left].tolist())
    return replace(
        loss,
        losses=np.append(loss.losses[is_left], least),
        masses=np.append(loss.masses[is_left], moved),
    )


def bounded_above(loss: Atoms, most_taken: float) -> tuple[Atoms, float]:
    """Returns the loss with its largest values moved down to one, and by how much its mean.

    Args:
        loss: The target user's.
        most_taken: From its mean, at most.
    """
    order = loss.losses.argsort(kind="stable")
    values, masses = loss.losses[order], loss.masses[order]
    above = masses[::-1].cumsum()[::-1]
    # By how much the mean falls if all that is above a value is moved to it.
    taken = np.zeros(values.size)
    taken[:-1] = (above[1:] * np.diff(values))[::-1].cumsum()[::-1]
    least = int(np.argmax(taken <= most_taken))
    bounded = replace(loss, losses=np.minimum(loss.losses, values[least]))
    # Upward by what two sums over all values may have lost.
    return bounded, float(taken[least]) * (1.0 + 1e-15 * (values.size + 10))
