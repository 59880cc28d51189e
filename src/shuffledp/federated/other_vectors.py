"""Vectors of other messages: one bit or a Laplace cell per coordinate, or no noise at all.

As in `clip_laplace_vectors`, `SystemRandom` gives exact messages, and a NumPy generator
those of a fast simulation.

Sources: Ding, Kulkarni, Yekhanin (2017) for one bit; Dwork, McSherry, Nissim, Smith (2006)
for Laplace noise, which are the baselines of Liu, Zhao, Xiong, Liu, Chen (2023).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.federated.clip_laplace_vectors import check_clip, off_middle
from shuffledp.federated.round import check_updates
from shuffledp.federated.simulated_cells import FARTHEST_CELL, laplace_cells
from shuffledp.randomizers.grid import STEPS
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomizers.tally import batches
from shuffledp.randomness import Rng, SystemRandom, check_rng
from shuffledp.types import Floats

# Where Laplace noise ends for lack of bits, a chance of e^-26 is left at this level.
_SMALLEST_LAPLACE_LEVEL = 1e-4


@dataclass(frozen=True, slots=True)
class OneBitVectors:
    """Public parameters only.

    Attributes:
        clip: C, in [1e-30, 1e30]; coordinates are clipped to [-C, C].
        message_type: A bit in a byte.
    """

    name: ClassVar[str] = "one-bit"
    message_type: ClassVar[np.dtype[Any]] = np.dtype(np.uint8)

    clip: float

    def __post_init__(self) -> None:
        check_clip(self.clip)

    def randomize(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.uint8]:
        """Draws a bit per clipped coordinate, which is 1 the more often the larger it is.

        Arguments and errors are those of `ClipLaplaceVectors.randomize`. In a simulation
        chances are rounded to multiples of 2^-53.

        Returns:
            Shape (k, d).
        """
        check_rng(rng)
        check_updates(updates, levels)
        clip = float(self.clip)
        if isinstance(rng, SystemRandom):
            values = np.clip(updates.astype(np.float64), -clip, clip).ravel()
            budgets = np.repeat(levels, updates.shape[1])
            sent = OneBit(-clip, clip).randomize(values, budgets, rng=rng)
            return sent.astype(np.uint8).reshape(updates.shape)
        bits = np.empty(updates.shape, dtype=np.uint8)
        # P(1) = 1/2 + v / (2 C) tanh(eps / 2), from the chances at the two ends.
        slopes = np.tanh(levels / 2.0) / (2.0 * clip)
        for people in batches(*updates.shape[:1], width=updates.shape[1]):
            chances = np.clip(updates[people].astype(np.float64), -clip, clip)
            chances *= slopes[people, None]
            chances += 0.5
            np.less(rng.random(chances.shape), chances, out=bits[people].view(np.bool_))
        return bits

    def estimate(self, totals: Floats, levels: Floats) -> Floats:
        """Returns the mean update without bias, wherever it lies, shape (d,).

        Args:
            totals: How many sent a 1 for each coordinate, shape (d,).
            levels: Everybody's level, in any order, shape (n,).
        """
        slope = float(np.tanh(levels / 2.0).mean())
        # Below this, rounding is as large as the signal.
        if not slope > 1e-9:
            raise InvalidInputError(
                "Expected privacy budgets well above 0: bits at level 0 are nothing but "
                "fair coins and cannot be analyzed on their own."
            )
        return self.clip * (2.0 * totals / levels.size - 1.0) / slope


@dataclass(frozen=True, slots=True)
class LaplaceVectors:
    """Public parameters only.

    Attributes:
        clip: C, in [1e-30, 1e30]; coordinates are clipped to [-C, C]; noise has scale
            2 C / eps.
        message_type: A cell; 0, ..., 4095 are those of the clip range.
    """

    name: ClassVar[str] = "laplace"
    message_type: ClassVar[np.dtype[Any]] = np.dtype(np.int32)

    clip: float

    def __post_init__(self) -> None:
        check_clip(self.clip)

    def randomize(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.int32]:
        """Draws the cell of every clipped coordinate's Laplace message.

        Arguments and errors are those of `ClipLaplaceVectors.randomize`; levels are at
        least 1e-4.

        Returns:
            At most 2^30 off 0, shape (k, d).
        """
        check_rng(rng)
        check_updates(updates, levels)
        if not levels.min() >= _SMALLEST_LAPLACE_LEVEL:
            raise InvalidInputError(
                f"Expected levels of at least {_SMALLEST_LAPLACE_LEVEL:g} with Laplace "
                f"noise, got {levels.min():g}."
            )
        clip = float(self.clip)
        if not isinstance(rng, SystemRandom):
            return laplace_cells(updates, levels, clip=clip, rng=rng)
        values = np.clip(updates.astype(np.float64), -clip, clip).ravel()
        budgets = np.repeat(levels, updates.shape[1])
        cells = Laplace(-clip, clip).randomize(values, budgets, rng=rng)
        bounded = np.clip(cells, -FARTHEST_CELL, FARTHEST_CELL)
        return bounded.astype(np.int32).reshape(updates.shape)

    def estimate(self, totals: Floats, levels: Floats) -> Floats:
        """Returns the average message, whose mean is the mean update, shape (d,).

        Args:
            totals: The sum of each coordinate's cells, shape (d,).
            levels: Everybody's level, in any order, shape (n,).
        """
        return self.clip * off_middle(totals, levels) / (STEPS / 2)


@dataclass(frozen=True, slots=True)
class PlainVectors:
    """No noise and no clipping: what privacy is paid for with is compared with this."""

    @property
    def name(self) -> str:
        """The name of what is no randomizer."""
        return "none"

    @property
    def message_type(self) -> np.dtype[Any]:
        """A coordinate itself."""
        return np.dtype(np.float32)

    def randomize(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.float32]:
        """Returns the updates, shape (k, d)."""
        check_rng(rng)
        check_updates(updates, levels)
        return updates

    def estimate(self, totals: Floats, levels: Floats) -> Floats:
        """Returns the average, shape (d,)."""
        return totals / levels.size
