"""Baseline frameworks: one bit or a Laplace cell per coordinate.

Sources: Ding, Kulkarni, Yekhanin (2017) for one bit; Dwork, McSherry, Nissim, Smith (2006)
for Laplace noise, which are the baselines of Liu, Zhao, Xiong, Liu, Chen (2023).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.federated.clip_laplace_vectors import check_clip, offset_from_middle
from shuffledp.federated.simulated_cells import FARTHEST_CELL
from shuffledp.population import Population
from shuffledp.randomizers.grid import STEPS
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomness import Rng
from shuffledp.types import Floats

# At this level, Laplace noise leaves the range of messages with probability e^-26.
_SMALLEST_LAPLACE_LEVEL = 1e-4


@dataclass(frozen=True, slots=True)
class OneBitVectors:
    """One bit per coordinate; holds public parameters only.

    Attributes:
        clip: C, in [1e-30, 1e30]; coordinates are clipped to [-C, C].
        messages: A bit.
    """

    name: ClassVar[str] = OneBit().mechanism
    messages: ClassVar[range] = range(2)

    clip: float

    def __post_init__(self) -> None:
        check_clip(self.clip)

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters."""
        return {"clip": float(self.clip)}

    @property
    def device(self) -> OneBit:
        """The randomizer of every coordinate: P(1) grows with its value."""
        return OneBit(-float(self.clip), float(self.clip))

    def encode(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.float32]:
        """Returns the updates unchanged: all coordinates are randomized."""
        return updates

    def estimate(self, totals: Floats, people: Population) -> Floats:
        """Returns an unbiased estimate of the mean update, shape (d,).

        Args:
            totals: Number of ones for each coordinate, shape (d,).
            people: The population that sent them.
        """
        # E[bit] = 1/2 + v / (2 C) tanh(eps / 2), so the slope is averaged over users.
        slopes = np.tanh(people.epsilons / 2.0)
        slope = float(slopes @ people.counts) / people.num_users
        # Below this, rounding is as large as the signal.
        if not slope > 1e-9:
            raise InvalidInputError(
                "Expected privacy budgets well above 0: bits at level 0 are nothing but "
                "fair draws and cannot be analyzed on their own."
            )
        return self.clip * (2.0 * totals / people.num_users - 1.0) / slope


@dataclass(frozen=True, slots=True)
class LaplaceVectors:
    """Laplace noise on every coordinate; holds public parameters only.

    Attributes:
        clip: C, in [1e-30, 1e30]; coordinates are clipped to [-C, C]; noise has scale
            2 C / eps.
        messages: Cells; 0, ..., 4095 are those of the clip range.
    """

    name: ClassVar[str] = Laplace().mechanism
    messages: ClassVar[range] = range(-FARTHEST_CELL, FARTHEST_CELL + 1)

    clip: float

    def __post_init__(self) -> None:
        check_clip(self.clip)

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters."""
        return {"clip": float(self.clip)}

    @property
    def device(self) -> Laplace:
        """The randomizer of every coordinate."""
        return Laplace(-float(self.clip), float(self.clip))

    def encode(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.float32]:
        """Returns the updates unchanged: all coordinates are randomized.

        Raises:
            InvalidInputError: If noise of these levels does not fit into messages.
        """
        if not levels.min() >= _SMALLEST_LAPLACE_LEVEL:
            raise InvalidInputError(
                f"Expected levels of at least {_SMALLEST_LAPLACE_LEVEL:g} with Laplace "
                f"noise, got {levels.min():g}."
            )
        return updates

    def estimate(self, totals: Floats, people: Population) -> Floats:
        """Returns the average message, an unbiased estimate of the mean, shape (d,).

        Args:
            totals: The sum of each coordinate's cells, shape (d,).
            people: The population that sent them.
        """
        return self.clip * offset_from_middle(totals, people) / (STEPS / 2)
