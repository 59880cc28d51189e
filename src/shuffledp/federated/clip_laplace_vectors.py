"""Vectors of Clip-Laplace messages, one per coordinate: what APES sends.

With `SystemRandom`, cells are drawn exactly, as `ClipLaplace.randomize` does: so a device
does it. With a NumPy generator, which is for simulations anyway, they come from
`simulated_cells`, which is much faster.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Algorithm 1.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.federated.calibration import response, value_behind
from shuffledp.federated.round import check_updates
from shuffledp.federated.simulated_cells import clip_laplace_cells
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.grid import STEPS
from shuffledp.randomness import Rng, SystemRandom, check_rng
from shuffledp.types import Floats

# Single precision ends at 3e38, and loses digits below 1e-38.
SMALLEST, LARGEST = 1e-30, 1e30


@dataclass(frozen=True, slots=True)
class ClipLaplaceVectors:
    """Public parameters only.

    Attributes:
        clip: C, in [1e-30, 1e30]; coordinates are clipped to [-C, C].
        message_type: A cell, 0, ..., 4095.
    """

    name: ClassVar[str] = "clip-laplace"
    message_type: ClassVar[np.dtype[Any]] = np.dtype(np.uint16)

    clip: float

    def __post_init__(self) -> None:
        check_clip(self.clip)

    def randomize(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.uint16]:
        """Draws the cell of every clipped coordinate's Clip-Laplace message.

        Args:
            updates: Finite, shape (k, d).
            levels: Local budgets per coordinate in nats, shape (k,).
            rng: `SystemRandom()` on real devices.

        Returns:
            Shape (k, d).

        Raises:
            InvalidInputError: If shapes differ, or a number is not finite or not a budget.
        """
        check_rng(rng)
        check_updates(updates, levels)
        clip = float(self.clip)
        if not isinstance(rng, SystemRandom):
            return clip_laplace_cells(updates, levels, clip=clip, rng=rng)
        values = np.clip(updates.astype(np.float64), -clip, clip).ravel()
        budgets = np.repeat(levels, updates.shape[1])
        cells = ClipLaplace(clip).randomize(values, budgets, rng=rng)
        return cells.astype(np.uint16).reshape(updates.shape)

    def estimate(self, totals: Floats, levels: Floats) -> Floats:
        """Returns the mean update by eq. (1) of the source, exactly for cells, shape (d,).

        Args:
            totals: The sum of each coordinate's cells, shape (d,).
            levels: Everybody's level, in any order, shape (n,).
        """
        return self.clip * value_behind(off_middle(totals, levels), response(levels))


def off_middle(totals: Floats, levels: Floats) -> Floats:
    """Returns how far from the middle of the grid the average message is, in cells."""
    return totals / levels.size + 0.5 - STEPS / 2


def check_clip(clip: float) -> None:
    """Raises InvalidInputError unless single precision can clip to this."""
    number = as_number(clip, "clip")
    # Written this way round, it refuses NaN too.
    if not SMALLEST <= number <= LARGEST:
        raise InvalidInputError(
            f"Expected a clip from {SMALLEST:g} to {LARGEST:g}, got {number:g}."
        )
