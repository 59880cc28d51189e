"""Sparsified frameworks: few coordinates send their values, and dummies hide which.

A dummy is a freshly perturbed 0. Three rules select the messages that stay:

* `ThresholdVectors`: those at least a public distance from the middle. Coordinates stay
  independent, and the framework is certified.
* `TopVectors`: the b largest of a person's d messages, as S-APES is published. The
  selection depends on all coordinates, and no central guarantee is proven for it.
* `RandomVectors`: those of randomly sampled coordinates, by independent Bernoulli draws.
  Coordinates stay independent, and the framework is certified.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Algorithm 2.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.federated.clip_laplace_vectors import (
    ClipLaplaceVectors,
    check_clip,
    offset_from_middle,
)
from shuffledp.federated.coordinate_messages import draw_messages
from shuffledp.federated.response_inversion import invert_response, mean_response
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.grid import STEPS
from shuffledp.randomizers.sampled_clip_laplace import SampledClipLaplace
from shuffledp.randomizers.sparsified_clip_laplace import SparsifiedClipLaplace
from shuffledp.randomizers.tally import batches
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, slots=True)
class ThresholdVectors:
    """Keeps messages as `SparsifiedClipLaplace` does; public parameters only.

    Attributes:
        clip: C, in [1e-30, 1e30]; coordinates are clipped to [-C, C].
        share: The outer part of the range whose messages are kept, in (0, 1).
        messages: Cells of the grid.
    """

    name: ClassVar[str] = SparsifiedClipLaplace().mechanism
    messages: ClassVar[range] = range(STEPS)

    clip: float
    share: float

    def __post_init__(self) -> None:
        check_clip(self.clip)
        _check_share(self.share)
        # Raises for a share of 1, with which the threshold would keep every message.
        _ = self.device

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters."""
        return {"clip": float(self.clip), "share": float(self.share)}

    @property
    def device(self) -> SparsifiedClipLaplace:
        """The randomizer of every coordinate, which selects by this message alone."""
        return SparsifiedClipLaplace(float(self.clip), share=float(self.share))

    def encode(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.float32]:
        """Returns the updates unchanged: all coordinates are randomized."""
        return updates

    def estimate(self, totals: Floats, people: Population) -> Floats:
        """Returns the value that, held by all users, gives the average, shape (d,).

        Args:
            totals: The sum of each coordinate's cells, shape (d,).
            people: The population that sent them.
        """
        # The threshold is the same at all levels, and so one response suffices.
        (threshold,) = self.device.thresholds(np.zeros(1)).tolist()
        responses = mean_response(people, threshold=threshold)
        return self.clip * invert_response(
            offset_from_middle(totals, people), responses
        )


@dataclass(frozen=True, slots=True)
class TopVectors:
    """Keeps each person's b largest messages; public parameters only.

    Attributes:
        clip: C, in [1e-30, 1e30]; coordinates are clipped to [-C, C].
        share: b / d, in (0, 1].
        messages: Cells of the grid.
        coupling: Why coordinates are not independent.
    """

    name: ClassVar[str] = "top-clip-laplace"
    messages: ClassVar[range] = range(STEPS)
    coupling: ClassVar[str] = (
        "which of a person's messages are their largest depends on all their values"
    )

    clip: float
    share: float

    def __post_init__(self) -> None:
        check_clip(self.clip)
        _check_share(self.share)

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters."""
        return {"clip": float(self.clip), "share": float(self.share)}

    @property
    def device(self) -> ClipLaplace:
        """The randomizer of every coordinate, before the selection."""
        return ClipLaplace(float(self.clip))

    def encode(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.float32]:
        """Returns the updates unchanged: all coordinates are randomized."""
        return updates

    def couple(
        self, messages: NDArray[Any], levels: Floats, *, rng: Rng
    ) -> NDArray[Any]:
        """Replaces all messages except the b largest of each person by dummies."""
        noise = ClipLaplaceVectors(self.clip)
        for people in batches(*messages.shape[:1], width=messages.shape[1]):
            part = messages[people]
            # Cells are coarse: a uniform point of the cell breaks ties.
            points = part + rng.random(part.size).reshape(part.shape)
            others = _all_but_largest(np.abs(points - STEPS / 2), self.share)
            # The source's padding is read as a perturbed 0, and messages before it as
            # perturbed values: its formula as printed does not depend on data at all.
            zeros = np.zeros(others.shape, dtype=np.float32)
            if zeros.size:
                dummies = draw_messages(
                    noise, noise.device, zeros, levels[people], rng=rng
                )
                np.put_along_axis(part, others, dummies, axis=1)
        return messages

    def estimate(self, totals: Floats, people: Population) -> Floats:
        """Estimates the mean update by eq. (1) of the source, as published, shape (d,).

        Args:
            totals: The sum of each coordinate's cells, shape (d,).
            people: The population that sent them.
        """
        # The response of messages without a selection: the selection depends on a
        # person's other coordinates, so that no response of one coordinate is exact.
        return ClipLaplaceVectors(self.clip).estimate(totals, people)


@dataclass(frozen=True, slots=True)
class RandomVectors:
    """Sends dummies for unsampled coordinates; public parameters only.

    Attributes:
        clip: C, in [1e-30, 1e30]; coordinates are clipped to [-C, C].
        share: The sampling probability of each coordinate, b / d, in (0, 1].
        messages: Cells of the grid.
    """

    name: ClassVar[str] = "random-clip-laplace"
    messages: ClassVar[range] = range(STEPS)

    clip: float
    share: float

    def __post_init__(self) -> None:
        check_clip(self.clip)
        _check_share(self.share)

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters."""
        return {"clip": float(self.clip), "share": float(self.share)}

    @property
    def device(self) -> SampledClipLaplace:
        """The randomizer of every coordinate, which samples its value or sends a dummy."""
        return SampledClipLaplace(float(self.clip), share=float(self.share))

    def encode(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.float32]:
        """Returns the updates unchanged: all coordinates are randomized."""
        return updates

    def estimate(self, totals: Floats, people: Population) -> Floats:
        """Returns the value that, held by all users, gives the average, shape (d,).

        Args:
            totals: The sum of each coordinate's cells, shape (d,).
            people: The population that sent them.
        """
        # Dummies average 0: dividing by the share restores the mean of the values.
        averages = offset_from_middle(totals, people) / self.share
        return self.clip * invert_response(averages, mean_response(people))


def _check_share(share: float) -> None:
    share_value = as_number(share, "share")
    if not 0.0 < share_value <= 1.0:
        raise InvalidInputError(
            "Expected a share in (0, 1], and below 1 where a threshold decides, got "
            f"{share_value:g}."
        )


def _all_but_largest(keys: Floats, share: float) -> Ints:
    """Returns the columns of all except the b largest keys per row, shape (k, d - b)."""
    others = keys.shape[1] - max(round(share * keys.shape[1]), 1)
    # With no others, column 0 is a valid pivot, and the slice is empty.
    return np.argpartition(keys, max(others - 1, 0), axis=1)[:, :others]
