"""The framework of APES: one Clip-Laplace message per coordinate of an update.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Algorithm 1.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.federated.response_inversion import invert_response, mean_response
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.grid import STEPS
from shuffledp.randomness import Rng
from shuffledp.types import Floats

# Single precision ends at 3e38, and loses digits below 1e-38.
SMALLEST, LARGEST = 1e-30, 1e30


@dataclass(frozen=True, slots=True)
class ClipLaplaceVectors:
    """Clip-Laplace messages of whole updates; holds public parameters only.

    Attributes:
        clip: C, in [1e-30, 1e30]; coordinates are clipped to [-C, C].
        messages: Cells of the grid.
    """

    name: ClassVar[str] = ClipLaplace().mechanism
    messages: ClassVar[range] = range(STEPS)

    clip: float

    def __post_init__(self) -> None:
        check_clip(self.clip)

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters."""
        return {"clip": float(self.clip)}

    @property
    def device(self) -> ClipLaplace:
        """The randomizer of every coordinate."""
        return ClipLaplace(float(self.clip))

    def encode(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.float32]:
        """Returns the updates unchanged: all coordinates are randomized."""
        return updates

    def estimate(self, totals: Floats, people: Population) -> Floats:
        """Estimates the mean update by eq. (1) of the source, shape (d,).

        Args:
            totals: The sum of each coordinate's cells, shape (d,).
            people: The population that sent them.
        """
        # Exact for messages in cells: see `response_inversion`.
        return self.clip * invert_response(
            offset_from_middle(totals, people), mean_response(people)
        )


def offset_from_middle(totals: Floats, people: Population) -> Floats:
    """Returns the distance of the average message from the middle of the grid, in cells."""
    # A message is the middle of its cell, half a cell above the cell's number.
    return totals / people.num_users + 0.5 - STEPS / 2


def check_clip(clip: float) -> None:
    """Raises InvalidInputError unless single precision can clip to [-clip, clip]."""
    clip_value = as_number(clip, "clip")
    # Written this way round, it refuses NaN too.
    if not SMALLEST <= clip_value <= LARGEST:
        raise InvalidInputError(
            f"Expected a clip from {SMALLEST:g} to {LARGEST:g}, got {clip_value:g}."
        )
