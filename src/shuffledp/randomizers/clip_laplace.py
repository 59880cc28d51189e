"""Clip-Laplace: Laplace noise around v in [-C, C], conditioned on the message in [-C, C].

The density is proportional to e^{-eps |y - v| / (2 C)} on [-C, C]. Between the two ends
the normalizers are equal, so that the ratio of densities reaches e^eps there and nowhere
exceeds it.

Devices send the cell of a public grid that the message falls into, drawn without any
rounding (grid.py): the local budget of the message is exactly the stated budget.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Definition 4 and Theorem 1
(for one coordinate; for several with a common L1 sensitivity the theorem fails).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammainc

from shuffledp.arrays import as_number
from shuffledp.cover import Cover
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.cell_powers import cell_powers, middle_beyond_mean
from shuffledp.randomizers.clipped_noise import ClippedNoise
from shuffledp.randomizers.clipped_probabilities import noise_probabilities
from shuffledp.randomizers.exponential_cover import exponential_cover
from shuffledp.randomizers.grid import (
    STEPS,
    cell_beside,
    check_num_cells,
    geometric_digits,
    positions,
    signs,
)
from shuffledp.randomizers.noise import pure_local_delta
from shuffledp.randomizers.noise_attack import inner_edges
from shuffledp.randomizers.sampled_cells import MessageCounts, draw_cell_counts
from shuffledp.randomness import Rng, stream_of
from shuffledp.types import Floats, Ints

# Level 0 is certified as this one, which only tells more: rates divide masses.
_SMALLEST = 1e-12


@dataclass(frozen=True, slots=True)
class ClipLaplace(ClippedNoise):
    """Public parameters only.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> device = sdp.ClipLaplace(1.0)
    >>> rng = np.random.default_rng(1)
    >>> cells = device.randomize(np.array([0.5, -0.5]), np.array([1.0, 4.0]), rng=rng)
    >>> device.decode(cells).round(3).tolist()
    [0.024, -0.618]

    Attributes:
        clip: C > 0; values and messages lie in [-C, C].
        cells: N, how many cells of the grid the range of values is cut into; a message is
            one of them.
    """

    has_unimodal_covers: ClassVar[bool] = True

    clip: float = 1.0
    _: KW_ONLY
    cells: int = STEPS

    def __post_init__(self) -> None:
        check_num_cells(self.cells)
        clip = as_number(self.clip, "clip")
        if not (math.isfinite(clip) and clip > 0.0):
            raise InvalidInputError(f"Expected a finite clip > 0, got {clip:g}.")

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "clip-laplace"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {"clip": float(self.clip), "cells": int(self.cells)}

    @property
    def unit(self) -> "ClipLaplace":
        """The same mechanism for values from -1 to 1; the messages are the same."""
        return ClipLaplace(cells=self.cells)

    @property
    def unbiased(self) -> bool:
        """False: messages about values near an end are drawn toward the middle."""
        return False

    def local_delta(self, level: float, epsilon: float) -> float:
        """Returns the divergence of -C against C."""
        if level <= 0.0:
            return 0.0
        # The densities cross at t with e^{-2 b t} = e^epsilon, b = level / 2. Of many
        # rounds, epsilon may be far beyond the level, where exponentials overflow.
        remaining_share = -math.expm1(min(epsilon - level, 0.0) / 2.0)
        both = remaining_share * (remaining_share / -math.expm1(-level))
        return pure_local_delta(level, epsilon, both)

    def cover_of(
        self, target_user: float, population: Population, *, delta: float
    ) -> Cover:
        """The cover of one target user, whose worst pair of values is -C and C."""
        return exponential_cover(
            max(target_user, _SMALLEST), population, clipped=True, delta=delta
        )

    def bins(self, epsilons: Floats, value: float) -> Floats:
        """Probabilities that the message falls into each bin, shape (levels, bins)."""
        edges = inner_edges(self.cells)
        return self._between(edges[:-1], edges[1:], epsilons, value).T

    def probabilities_of_runs(
        self, epsilons: Floats, runs: Sequence[tuple[float, Ints]]
    ) -> list[Floats]:
        """Returns probabilities of runs of bins, each of shape (runs, levels)."""
        edges = inner_edges(self.cells)
        return [
            self._between(
                edges[starts], edges[np.append(starts[1:], -1)], epsilons, value
            )
            for value, starts in runs
        ]

    @staticmethod
    def _between(left: Floats, right: Floats, epsilons: Floats, value: float) -> Floats:
        """Returns probabilities of intervals, shape (intervals, levels)."""
        rates = np.maximum(epsilons / 2.0, _SMALLEST)
        return noise_probabilities(
            rates, np.array([value]), left[:, None], right[:, None]
        )

    def draw_cells(self, points: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        """Draws cells of two-sided noise until one is within the range, shape (n,)."""
        cells, size = np.empty(points.size, dtype=np.int64), int(self.cells)
        undecided = np.arange(points.size)
        while undecided.size:
            stream = stream_of(rng, undecided)
            goes_right = signs(undecided.size, rng=stream)
            # No cell of the range is farther away than its digits say; at least every
            # fourth try ends within the range.
            distance = geometric_digits(
                epsilons[undecided], self._num_digits, parts=size, rng=stream
            )
            cells[undecided] = tried_cells = cell_beside(
                points[undecided], goes_right, distance
            )
            undecided = undecided[(tried_cells < 0) | (tried_cells >= size)]
        return cells

    @property
    def _num_digits(self) -> int:
        """Binary digits of a cell within the range."""
        return (int(self.cells) - 1).bit_length()

    def draw_population(
        self, points: Ints, level: float, *, rng: np.random.Generator
    ) -> Iterator[MessageCounts]:
        """Draws which cells a population's messages fall into, part by part."""
        # Proportional to the probability that noise ends within that many cells.
        rate, size = max(level / self.cells, 1e-300), int(self.cells)
        within = -np.expm1(-rate * np.arange(size + 1))
        right = rng.binomial(points, within[::-1] / (within + within[::-1]))
        stays = within[1] / within[:0:-1]
        cells, left = np.arange(size), (points - right)[::-1]
        for starts, ahead in ((right, cells), (left, cells[::-1])):
            # No walk starts beyond the last cell, where all remaining users stay.
            yield ahead, draw_cell_counts(starts[:-1], stays, rng=rng)[0]

    def moments(self, epsilons: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Returns mean and variance of a decoded message.

        They are exactly those of the cells' middles.

        Args:
            epsilons: Local budgets, shape (levels,).
            values: Numbers in [-C, C], shape (values,).

        Returns:
            Both of shape (levels, values).
        """
        clip, rates = float(self.clip), epsilons[:, None] / 2.0
        shares = values / clip
        grid_positions = positions(values, -clip, clip, self.cells)
        below = np.minimum(np.floor(grid_positions), self.cells - 1.0)
        mean, square = np.zeros((2, epsilons.size, values.size))
        for grid_point, weight in (
            (below, below + 1.0 - grid_positions),
            (below + 1.0, grid_positions - below),
        ):
            point = 2.0 * grid_point / self.cells - 1.0
            average, spread = self._moments_at(rates, point[None, :])
            mean += weight * average
            # Around the value: of two large squares little might be left.
            square += weight * (spread + (average - shares) ** 2)
        # Infinite where the square of the range is beyond doubles.
        with np.errstate(over="ignore"):
            scale = np.float64(clip) ** 2
        return clip * mean, scale * np.maximum(square - (mean - shares) ** 2, 0.0)

    def _moments_at(self, rates: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Returns mean and variance of the cell's middle around points of the grid.

        The mean is that of the density, eq. (1) of the source, plus the grid's share.

        Args:
            rates: b = eps / 2, shape (levels, 1).
            points: In [-1, 1], shape (1, points).
        """
        steep, width = np.maximum(rates, _SMALLEST), 2.0 / self.cells
        left, right = (
            cell_powers(steep, np.zeros(1), 1.0 + side * points, width)
            for side in (1.0, -1.0)
        )
        mass = left[0] + right[0]
        shift = (right[1] - left[1]) / mass
        variance = (left[2] + right[2]) / mass - shift**2
        # Eq. (1) as 2 v (1 - (1 + b) e^-b sinh(b v) / (b v)) / mass, for b = eps / 2.
        inner = gammainc(2, steep) - (1.0 + steep) * _sinh_excess(steep, points)
        mean = 2.0 * points * inner
        # Cells' middles are farther away than noise is, and more of it is on one side.
        outward = width * middle_beyond_mean(steep * width)
        mean = mean - 2.0 * outward * np.exp(-steep) * np.sinh(steep * points)
        return mean / (steep * mass) * (rates / steep), variance

    def quantile(
        self, probabilities: Floats, epsilons: Floats, values: Floats
    ) -> Floats:
        """Returns the messages below which lies a given probability, of the density.

        Args:
            probabilities: In [0, 1], shape (n,).
            epsilons: Local budgets, shape (n,).
            values: Numbers in [-C, C], shape (n,).
        """
        share, rate = values / self.clip, np.maximum(epsilons / 2.0, 1e-300)
        left, right = rate * (1.0 + share), rate * (1.0 - share)
        below, above = -np.expm1(-left), -np.expm1(-right)
        under, over = (
            probabilities * (below + above),
            (1.0 - probabilities) * (below + above),
        )
        on_left = under <= below
        # What lies between message and value, 1 - e^{-rate distance}, and its complement.
        between = np.where(on_left, below - under, above - over)
        complement = np.where(on_left, np.exp(-left) + under, np.exp(-right) + over)
        with np.errstate(divide="ignore"):
            distance = np.where(
                between > 0.5, -np.log(complement), -np.log1p(-np.minimum(between, 0.5))
            )
        message = share + np.where(on_left, -distance, distance) / rate
        bounded: Floats = np.clip(message, -1.0, 1.0) * self.clip
        return bounded

    def bits_per_person(self, epsilons: Floats) -> float:
        """The binary digits of a cell's number, at every level."""
        del epsilons
        return float(self._num_digits)


def _sinh_excess(rates: Floats, share: Floats) -> Floats:
    """Returns e^-b (sinh(b v) / (b v) - 1), to a relative 1e-14."""
    x = np.abs(rates * share)
    # Seven terms of the series up to x = 1; beyond, differences keep their digits.
    square = np.minimum(x, 1.0) ** 2
    series = np.zeros(x.shape)
    for k in range(7, 0, -1):
        series = (series + 1.0) * square / (2 * k * (2 * k + 1))
    wide = np.maximum(x, 1.0)
    steep = -np.expm1(-2.0 * wide) * np.exp(wide - rates) / (2.0 * wide)
    excess: Floats = np.where(x <= 1.0, np.exp(-rates) * series, steep - np.exp(-rates))
    return excess
