"""Vectors in which few coordinates speak of their values, and dummies hide which.

A dummy is a perturbed 0, drawn anew. Three rules for which messages are kept:

* `ThresholdVectors`: those far enough from the middle, a public distance. Coordinates
  stay independent, so this is what we certify.
* `TopVectors`: the b largest of a person's d messages, as S-APES is published. Which are
  kept depends on all coordinates, and no central guarantee is proven for it. The padding
  is read as a perturbed 0, and the messages before as perturbed values: what the source
  prints does not depend on data at all.
* `RandomVectors`: b coordinates drawn at random.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Algorithm 2.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.federated.calibration import response, value_behind
from shuffledp.federated.clip_laplace_vectors import ClipLaplaceVectors, off_middle
from shuffledp.federated.round import check_updates
from shuffledp.randomizers.grid import STEPS
from shuffledp.randomizers.sparsified_clip_laplace import SparsifiedClipLaplace
from shuffledp.randomizers.tally import batches
from shuffledp.randomness import Rng, check_rng
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, slots=True)
class ThresholdVectors:
    """Keeps messages as `SparsifiedClipLaplace` does; public parameters only.

    Attributes:
        clip: C, in [1e-30, 1e30]; coordinates are clipped to [-C, C].
        share: The outer part of the range whose messages are kept, in (0, 1).
        message_type: A cell, 0, ..., 4095.
    """

    name: ClassVar[str] = "sparsified-clip-laplace"
    message_type: ClassVar[np.dtype[Any]] = np.dtype(np.uint16)

    clip: float
    share: float

    def __post_init__(self) -> None:
        ClipLaplaceVectors(self.clip)
        _check_share(self.share)
        SparsifiedClipLaplace(self.clip, share=self.share)

    def randomize(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.uint16]:
        """Draws a Clip-Laplace cell per coordinate, and dummies for those near the middle.

        Arguments, result and errors are those of `ClipLaplaceVectors.randomize`.
        """
        noise = ClipLaplaceVectors(self.clip)
        cells = noise.randomize(updates, levels, rng=rng)
        dummies = noise.randomize(np.zeros_like(updates), levels, rng=rng)
        kept = SparsifiedClipLaplace(self.clip, share=self.share).keeps(cells)
        np.copyto(cells, dummies, where=~kept)
        return cells

    def estimate(self, totals: Floats, levels: Floats) -> Floats:
        """Returns the value that, held by everybody, gives the average, shape (d,).

        Args:
            totals: The sum of each coordinate's cells, shape (d,).
            levels: Everybody's level, in any order, shape (n,).
        """
        rule = SparsifiedClipLaplace(self.clip, share=self.share)
        # One for all levels: with several, the response would have one for each.
        (threshold,) = rule.thresholds(np.zeros(1)).tolist()
        responses = response(levels, threshold=threshold)
        return self.clip * value_behind(off_middle(totals, levels), responses)


@dataclass(frozen=True, slots=True)
class TopVectors:
    """Keeps each person's b largest messages; public parameters only.

    Attributes:
        clip: C, in [1e-30, 1e30]; coordinates are clipped to [-C, C].
        share: b / d, in (0, 1].
        message_type: A cell, 0, ..., 4095.
    """

    name: ClassVar[str] = "top-clip-laplace"
    message_type: ClassVar[np.dtype[Any]] = np.dtype(np.uint16)

    clip: float
    share: float

    def __post_init__(self) -> None:
        ClipLaplaceVectors(self.clip)
        _check_share(self.share)

    def randomize(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.uint16]:
        """Draws a Clip-Laplace cell per coordinate, and dummies for all but the b largest.

        Arguments, result and errors are those of `ClipLaplaceVectors.randomize`.
        """
        noise = ClipLaplaceVectors(self.clip)
        cells = noise.randomize(updates, levels, rng=rng)
        for people in batches(*cells.shape[:1], width=cells.shape[1]):
            part = cells[people]
            # Cells are coarse: where in it a message lies decides among equals.
            places = part + rng.random(part.size).reshape(part.shape)
            others = _all_but_largest(np.abs(places - STEPS / 2), self.share)
            zeros = np.zeros(others.shape, dtype=np.float32)
            if zeros.size:
                dummies = noise.randomize(zeros, levels[people], rng=rng)
                np.put_along_axis(part, others, dummies, axis=1)
        return cells

    def estimate(self, totals: Floats, levels: Floats) -> Floats:
        """Returns the mean update by eq. (1) of the source, as published, shape (d,).

        That is the response of messages without a selection. What is kept here depends on
        a person's other coordinates, so no response of one coordinate is exact.

        Args:
            totals: The sum of each coordinate's cells, shape (d,).
            levels: Everybody's level, in any order, shape (n,).
        """
        return ClipLaplaceVectors(self.clip).estimate(totals, levels)


@dataclass(frozen=True, slots=True)
class RandomVectors:
    """Keeps b coordinates of each person, drawn at random; public parameters only.

    Attributes:
        clip: C, in [1e-30, 1e30]; coordinates are clipped to [-C, C].
        share: b / d, in (0, 1].
        message_type: A cell, 0, ..., 4095.
    """

    name: ClassVar[str] = "random-clip-laplace"
    message_type: ClassVar[np.dtype[Any]] = np.dtype(np.uint16)

    clip: float
    share: float

    def __post_init__(self) -> None:
        ClipLaplaceVectors(self.clip)
        _check_share(self.share)

    def randomize(
        self, updates: NDArray[np.float32], levels: Floats, *, rng: Rng
    ) -> NDArray[np.uint16]:
        """Draws a Clip-Laplace cell per coordinate, from 0 for all but b of them.

        Arguments, result and errors are those of `ClipLaplaceVectors.randomize`.
        """
        check_rng(rng)
        check_updates(updates, levels)
        kept = updates.copy()
        for people in batches(*kept.shape[:1], width=kept.shape[1]):
            part = kept[people]
            keys = rng.random(part.size).reshape(part.shape)
            np.put_along_axis(part, _all_but_largest(keys, self.share), 0.0, axis=1)
        return ClipLaplaceVectors(self.clip).randomize(kept, levels, rng=rng)

    def estimate(self, totals: Floats, levels: Floats) -> Floats:
        """Returns the value that, held by everybody, gives the average, shape (d,).

        Args:
            totals: The sum of each coordinate's cells, shape (d,).
            levels: Everybody's level, in any order, shape (n,).
        """
        kept = _num_kept(totals.size, self.share) / totals.size
        averages = off_middle(totals, levels) / kept
        return self.clip * value_behind(averages, response(levels))


def _check_share(share: float) -> None:
    number = as_number(share, "share")
    if not 0.0 < number <= 1.0:
        raise InvalidInputError(
            "Expected a share in (0, 1], and below 1 where a threshold decides, got "
            f"{number:g}."
        )


def _num_kept(num_coordinates: int, share: float) -> int:
    return max(round(share * num_coordinates), 1)


def _all_but_largest(keys: Floats, share: float) -> Ints:
    """Returns the places of all but the b largest keys of each row, shape (k, d - b)."""
    others = keys.shape[1] - _num_kept(keys.shape[1], share)
    return np.argpartition(keys, max(others - 1, 0), axis=1)[:, :others]
