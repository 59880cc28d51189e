"""What known devices would send, drawn fast: for simulations only.

The law is that of the device's own `randomize`, but for the rounding that
`simulated_cells` bounds. Devices of any other class are run as they are.
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

_Drawn: TypeAlias = NDArray[Any]


def simulated_messages(
    device: Device,
    updates: NDArray[np.float32],
    levels: Floats,
    *,
    rng: np.random.Generator,
) -> _Drawn | None:
    """Draws messages of all coordinates, shape (k, d); None if it must be the device.

    Args:
        device: What is simulated; values beyond its range are clipped to it.
        updates: Finite, shape (k, d).
        levels: Local budgets of a message in nats, shape (k,).
        rng: The only source of randomness.
    """
    # Exactly these classes: one that inherits from them may draw something else.
    draw = _SIMULATED.get(type(device))
    if draw is None or device.low != -device.high:
        return None
    return draw(device, updates, levels, rng)


def _clip_laplace(
    device: Device,
    updates: NDArray[np.float32],
    levels: Floats,
    rng: np.random.Generator,
) -> _Drawn:
    return clip_laplace_cells(updates, levels, clip=float(device.high), rng=rng)


def _laplace(
    device: Device,
    updates: NDArray[np.float32],
    levels: Floats,
    rng: np.random.Generator,
) -> _Drawn:
    return laplace_cells(updates, levels, clip=float(device.high), rng=rng)


def _sparsified(
    device: SparsifiedClipLaplace,
    updates: NDArray[np.float32],
    levels: Floats,
    rng: np.random.Generator,
) -> _Drawn:
    clip = float(device.high)
    cells = clip_laplace_cells(updates, levels, clip=clip, rng=rng)
    zeros = np.zeros_like(updates)
    dummies = clip_laplace_cells(zeros, levels, clip=clip, rng=rng)
    np.copyto(cells, dummies, where=~device.keeps(cells))
    return cells


def _sampled(
    device: SampledClipLaplace,
    updates: NDArray[np.float32],
    levels: Floats,
    rng: np.random.Generator,
) -> _Drawn:
    """Draws cells; the share is rounded to a multiple of 2^-53."""
    spoken = np.zeros_like(updates)
    for people in batches(*updates.shape[:1], width=updates.shape[1]):
        part = updates[people]
        speaks = rng.random(part.size).reshape(part.shape) < device.share
        np.copyto(spoken[people], part, where=speaks)
    return clip_laplace_cells(spoken, levels, clip=float(device.high), rng=rng)


def _one_bit(
    device: Device,
    updates: NDArray[np.float32],
    levels: Floats,
    rng: np.random.Generator,
) -> _Drawn:
    """Draws bits; chances are rounded to multiples of 2^-53."""
    clip = float(device.high)
    bits = np.empty(updates.shape, dtype=np.uint8)
    # P(1) = 1/2 + v / (2 C) tanh(eps / 2), from the chances at the two ends.
    slopes = np.tanh(levels / 2.0) / (2.0 * clip)
    for people in batches(*updates.shape[:1], width=updates.shape[1]):
        chances = np.clip(updates[people].astype(np.float64), -clip, clip)
        chances *= slopes[people, None]
        chances += 0.5
        np.less(rng.random(chances.shape), chances, out=bits[people].view(np.bool_))
    return bits


_SIMULATED: dict[type, Callable[..., _Drawn]] = {
    ClipLaplace: _clip_laplace,
    Laplace: _laplace,
    OneBit: _one_bit,
    SampledClipLaplace: _sampled,
    SparsifiedClipLaplace: _sparsified,
}
