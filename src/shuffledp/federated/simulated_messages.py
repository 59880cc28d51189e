"""Fast simulation of the messages of the library's own devices.

The distribution is that of the device's `randomize`, except for the rounding that
`simulated_cells` bounds. Devices of any other class are run themselves.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.federated.framework import Device
from shuffledp.federated.simulated_cells import clip_laplace_cells, laplace_cells
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomizers.sampled_clip_laplace import SampledClipLaplace
from shuffledp.randomizers.sparsified_clip_laplace import SparsifiedClipLaplace
from shuffledp.randomizers.tally import batches
from shuffledp.types import Floats

_Messages: TypeAlias = NDArray[Any]


def simulated_messages(
    device: Device,
    updates: NDArray[np.float32],
    levels: Floats,
    *,
    rng: np.random.Generator,
) -> _Messages | None:
    """Draws messages of all coordinates, shape (k, d); None if the device must be run.

    Args:
        device: The simulated device; values beyond its range are clipped to it.
        updates: Finite, shape (k, d).
        levels: Local budgets of a message in nats, shape (k,).
        rng: The only source of randomness.
    """
    # Exactly these classes: a subclass may draw from another distribution.
    draw = _SIMULATED.get(type(device))
    if draw is None or device.low != -device.high:
        return None
    return draw(device, updates, levels, rng)


def _clip_laplace(
    device: Device,
    updates: NDArray[np.float32],
    levels: Floats,
    rng: np.random.Generator,
) -> _Messages:
    return clip_laplace_cells(updates, levels, clip=float(device.high), rng=rng)


def _laplace(
    device: Device,
    updates: NDArray[np.float32],
    levels: Floats,
    rng: np.random.Generator,
) -> _Messages:
    return laplace_cells(updates, levels, clip=float(device.high), rng=rng)


def _sparsified(
    device: SparsifiedClipLaplace,
    updates: NDArray[np.float32],
    levels: Floats,
    rng: np.random.Generator,
) -> _Messages:
    clip = float(device.high)
    cells = clip_laplace_cells(updates, levels, clip=clip, rng=rng)
    zeros = np.zeros_like(updates)
    # Dummies are drawn for all coordinates, used or not: a fresh perturbed 0 each.
    dummies = clip_laplace_cells(zeros, levels, clip=clip, rng=rng)
    np.copyto(cells, dummies, where=~device.keeps(cells))
    return cells


def _sampled(
    device: SampledClipLaplace,
    updates: NDArray[np.float32],
    levels: Floats,
    rng: np.random.Generator,
) -> _Messages:
    """Draws cells; the share is rounded to a multiple of 2^-53."""
    values = np.zeros_like(updates)  # Unsampled coordinates are perturbed zeros.
    for people in batches(*updates.shape[:1], width=updates.shape[1]):
        part = updates[people]
        sampled = rng.random(part.size).reshape(part.shape) < device.share
        np.copyto(values[people], part, where=sampled)
    return clip_laplace_cells(values, levels, clip=float(device.high), rng=rng)


def _one_bit(
    device: Device,
    updates: NDArray[np.float32],
    levels: Floats,
    rng: np.random.Generator,
) -> _Messages:
    """Draws bits; probabilities are rounded to multiples of 2^-53."""
    clip = float(device.high)
    bits = np.empty(updates.shape, dtype=np.uint8)
    # P(1) = 1/2 + v / (2 C) tanh(eps / 2), linear between the probabilities at -C and C.
    slopes = np.tanh(levels / 2.0) / (2.0 * clip)
    for people in batches(*updates.shape[:1], width=updates.shape[1]):
        probabilities = np.clip(updates[people].astype(np.float64), -clip, clip)
        probabilities *= slopes[people, None]
        probabilities += 0.5
        np.less(
            rng.random(probabilities.shape),
            probabilities,
            out=bits[people].view(np.bool_),
        )
    return bits


_SIMULATED: dict[type, Callable[..., _Messages]] = {
    ClipLaplace: _clip_laplace,
    Laplace: _laplace,
    OneBit: _one_bit,
    SampledClipLaplace: _sampled,
    SparsifiedClipLaplace: _sparsified,
}
