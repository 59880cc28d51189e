"""The loss of a target user among noisy numbers, whatever the two values.

Sizes of messages fall into cells, and in each the others' blankets together have one
density. The loss of the ends, -1 and 1, is known in each cell up to bounds; where other
values may show more, losses are lowered on one side and raised on the other, by the same
mass: what results is above the loss of any two values in increasing convex order
(docs/theory/covers.md, "A blanket in steps").
"""

import math

import numpy as np

from shuffledp.accounting.upper.atoms import Atoms
from shuffledp.cover import NoiseDensities
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

# Beyond this epsilon exponentials are too large to say anything.
_MOST_EPSILON = 40.0


def noise_loss(
    noise: NoiseDensities, density: Floats, epsilon: float, *, split: bool = True
) -> tuple[Atoms, float]:
    """Returns the loss at one epsilon, and its unit.

    Args:
        noise: The target user's densities.
        density: Of all blanket messages together in each cell, falling, shape (cells,).
        epsilon: >= 0.
        split: Whether each loss is split onto the bounds of its cell; else it is its mean.

    Raises:
        CertificationError: If nothing is known at this epsilon.
    """
    if epsilon > _MOST_EPSILON:
        raise CertificationError(f"Nothing is known at epsilon {epsilon:g}.")
    widths = np.diff(noise.edges)
    # Of the ends: on the side of the nearer end, and on the other side.
    shown, hidden = _bounds(noise, widths, epsilon)
    if noise.imbalance is not None:
        shown, hidden = _for_any_values(noise, density, epsilon, shown, hidden)
    total = 2.0 * float(density @ widths)
    low, mean, high = np.hstack([shown, hidden]) * (total / np.tile(density, 2))
    masses = np.tile(density * widths / total, 2)
    unit = float(max(np.abs(low).max(), np.abs(high).max()))
    if not 0.0 < unit < math.inf:
        raise CertificationError(f"Nothing is known at epsilon {epsilon:g}.")
    low, mean, high = low / unit, mean / unit, high / unit
    differences = (
        (noise.masses[0] - noise.masses[1]) / widths * (total / unit / density)
    )
    telling = 2.0 * float(masses[: widths.size] @ differences**2)
    if not split:
        return Atoms(mean, masses, telling, mean.size), unit
    # Both bounds with the probabilities that keep the mean: (.)_+ is convex.
    share = np.clip((mean - low) / np.maximum(high - low, 1e-300), 0.0, 1.0)
    losses = np.concatenate([low, high])
    masses = np.concatenate([masses * (1.0 - share), masses * share])
    return Atoms(losses, masses, telling, losses.size), unit


def _bounds(
    noise: NoiseDensities, widths: Floats, epsilon: float
) -> tuple[Floats, Floats]:
    """Returns least, mean and largest loss of the ends in each cell, (3, cells) each.

    First where the nearer end is x, then where it is x'; per unit of length.
    """
    growth = math.exp(epsilon)
    largest = np.maximum(noise.near[:-1], noise.near[1:])
    least = np.minimum(noise.near[:-1], noise.near[1:])
    inner, outer = noise.ratio[:-1], noise.ratio[1:]
    near, far = noise.masses / widths
    slack = noise.rounding * (largest + growth * largest)
    # The ratio falls outward: factors rise.
    first, last = 1.0 - growth * inner, 1.0 - growth * outer
    shown = np.stack(
        [
            np.minimum(least * first, largest * first) - slack,
            near - growth * far + slack,
            np.maximum(least * last, largest * last) + slack,
        ]
    )
    hidden = np.stack(
        [
            -largest * (growth - outer) - slack,
            far - growth * near + slack,
            -least * (growth - inner) + slack,
        ]
    )
    for ends in (shown, hidden):
        ends[1] = np.clip(ends[1], ends[0], ends[2])
    return shown, hidden


def _for_any_values(
    noise: NoiseDensities,
    density: Floats,
    epsilon: float,
    shown: Floats,
    hidden: Floats,
) -> tuple[Floats, Floats]:
    """Returns the losses, lowered where other values may hide more, and raised elsewhere.

    What is subtracted from the losses of cells is added to others, where they are
    largest.

    Raises:
        CertificationError: If there is nowhere to add it.
    """
    assert noise.imbalance is not None
    growth, widths = math.exp(epsilon), np.diff(noise.edges)
    least_loss, largest_loss = shown[0].copy(), shown[2].copy()
    lowered = (growth - 1.0) * noise.imbalance[0] + noise.imbalance[1]
    lowered, beyond = lowered[:-1], float(lowered[-1])
    # Sizes below 1: no value's messages are denser than at the value.
    lowered[0] = 0.0
    most_hidden = growth * noise.peak - noise.near[1] * noise.ratio[1]
    most_hidden += noise.rounding * (growth + 1.0) * noise.peak
    # Where the ends show even more than that, other values hide nothing.
    balanced = least_loss < lowered
    balanced[0] = True
    moved = float(lowered[balanced] @ widths[balanced]) + beyond
    moved += 2.0 * most_hidden * float(widths[0])
    moved -= (growth - 1.0) * float(noise.masses[:, 0].sum())
    moved += noise.rounding * growth * noise.peak * float(widths[0])
    moved *= 1.0 + 1e-9
    shown, hidden = shown - np.where(balanced, lowered, 0.0), hidden.copy()
    shown[:, 0] = hidden[:, 0] = -most_hidden
    threshold = max(float((largest_loss / density)[balanced].max(initial=0.0)), 0.0)
    raised = ~balanced & (least_loss / density >= threshold) & (least_loss > 0.0)
    weight = float(least_loss[raised] @ widths[raised])
    if weight <= 0.0:
        raise CertificationError(f"Nothing is known at epsilon {epsilon:g}.")
    shown[:, raised] += moved / weight * least_loss[raised]
    return shown, hidden
