"""Laplace noise: the message is the value plus noise of scale (high - low) / eps.

Changing the value within [low, high] changes the density of a message by a factor of
e^eps at most. Messages spread over the whole line: a user with a small budget gives
little cover, and may send a message far from all others. Mechanisms with finitely many
messages have neither problem.

Devices send the cell of a public grid that the message falls into, drawn without any
rounding (grid.py): the local budget of the message is exactly the stated budget.

Source: Dwork, McSherry, Nissim, Smith (2006), "Calibrating noise to sensitivity".
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from shuffledp.cover import Cover, NoiseDensities
from shuffledp.number_range import half_range
from shuffledp.population import Population
from shuffledp.randomizers.exponential_cover import exponential_cover
from shuffledp.randomizers.exponential_densities import exponential_densities
from shuffledp.randomizers.grid import (
    FARTHEST,
    SMALLEST_LEVEL,
    STEPS,
    bits_for,
    cell_beside,
    check_num_cells,
    geometric_numbers,
    positions,
    rounding_variances,
    signs,
    within_bounds,
)
from shuffledp.randomizers.noise import AddedNoise, pure_local_delta
from shuffledp.randomizers.noise_attack import all_edges
from shuffledp.randomizers.noise_tails import probabilities_between
from shuffledp.randomizers.sampled_cells import (
    MessageCounts,
    draw_cell_counts,
    draw_geometric_numbers,
)
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints

_SMALLEST = 1e-12


@dataclass(frozen=True, slots=True)
class Laplace(AddedNoise):
    """Public parameters only.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> device = sdp.Laplace(0.0, 16.0)
    >>> rng = np.random.default_rng(1)
    >>> cells = device.randomize(np.array([2.0, 14.0]), np.array([4.0, 4.0]), rng=rng)
    >>> device.decode(cells).round(2).tolist()
    [-1.81, 13.06]

    Attributes:
        low: Smallest possible value.
        high: Largest possible value.
        cells: N, how many cells of the grid the range of values is cut into; a message is
            one of them.
    """

    has_unimodal_covers: ClassVar[bool] = True

    low: float = 0.0
    high: float = 1.0
    _: KW_ONLY
    cells: int = STEPS

    def __post_init__(self) -> None:
        half_range(self.low, self.high)
        check_num_cells(self.cells)

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "laplace"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {
            "low": float(self.low),
            "high": float(self.high),
            "cells": int(self.cells),
        }

    @property
    def unit(self) -> "Laplace":
        """The same mechanism for values from -1 to 1; the messages are the same."""
        return Laplace(-1.0, 1.0, cells=self.cells)

    @property
    def unbiased(self) -> bool:
        """True: the mean of a decoded message is the value."""
        return True

    @property
    def cells_beyond(self) -> int:
        """Noise has no bounds, but a message has."""
        return FARTHEST

    @property
    def delta_local(self) -> float:
        """0: pure local privacy."""
        return 0.0

    def local_delta(self, level: float, epsilon: float) -> float:
        """Returns 1 - e^{(epsilon - level) / 2}, the divergence of -1 against 1."""
        # Beyond the level, where the divergence is 0, the exponential may overflow.
        return pure_local_delta(
            level, epsilon, -math.expm1(min(epsilon - level, 0.0) / 2.0)
        )

    def cover_of(
        self, target_user: float, population: Population, *, delta: float
    ) -> Cover:
        """The cover of one target user, whose worst pair of values is -1 and 1."""
        return exponential_cover(
            max(target_user, _SMALLEST),
            population,
            clipped=False,
            delta=delta,
            steeper=True,
        )

    def noise_densities(
        self, target_user: float, *, delta: float
    ) -> NoiseDensities | None:
        """Returns the densities around one target user's values."""
        return exponential_densities(max(target_user, _SMALLEST), delta=delta)

    def bins(self, epsilons: Floats, value: float) -> Floats:
        """Probabilities that the message falls into each bin, shape (levels, bins)."""
        return self._between(all_edges(self.cells) - value, epsilons).T

    def probabilities_of_runs(
        self, epsilons: Floats, runs: Sequence[tuple[float, Ints]]
    ) -> list[Floats]:
        """Returns probabilities of runs of bins, each of shape (runs, levels)."""
        edges = all_edges(self.cells)
        return [
            self._between(edges[starts[1:] - 1] - value, epsilons)
            for value, starts in runs
        ]

    def _between(self, away: Floats, epsilons: Floats) -> Floats:
        """Returns probabilities between edges, given as distances from the value."""
        tails = np.multiply.outer(-0.5 * np.abs(away), epsilons)
        tails = 0.5 * np.exp(tails, out=tails)
        return probabilities_between(away, tails)

    def draw_cells(self, points: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        """Draws cells at geometrically distributed distances, shape (n,)."""
        goes_right = signs(points.size, rng=rng)
        distance = geometric_numbers(epsilons, parts=self.cells, rng=rng)
        return within_bounds(cell_beside(points, goes_right, distance), self.cells)

    def draw_population(
        self, points: Ints, level: float, *, rng: np.random.Generator
    ) -> Iterator[MessageCounts]:
        """Draws which cells a population's messages fall into, part by part."""
        size = int(self.cells)
        exponent, cells = level / size, np.arange(size)
        stays = np.full(size, -math.expm1(-exponent))
        right = rng.binomial(points, 0.5)
        # To the left of a point is to the right of its mirror image.
        left = (points - right)[::-1]
        for starts, ahead in ((right, cells), (left, cells[::-1])):
            stayed, beyond = draw_cell_counts(starts[:-1], stays, rng=rng)
            yield ahead, stayed
            # Those who start at the last point leave the range at once.
            beyond += int(starts[-1])
            # The excess of a geometric number over a bound is geometric again.
            for distance, often in draw_geometric_numbers(beyond, exponent, rng=rng):
                outward = size + distance
                yield (outward if ahead is cells else size - 1 - outward), often

    def moments(self, epsilons: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Returns mean and variance of a decoded message.

        Args:
            epsilons: Local budgets, shape (levels,).
            values: Numbers in [low, high], shape (values,).

        Returns:
            Both of shape (levels, values).
        """
        half = half_range(self.low, self.high)
        grid_positions = positions(values, self.low, self.high, self.cells)
        with np.errstate(divide="ignore", over="ignore"):
            # Exact for the cells' middles: a geometric number of cells and half a cell; in
            # small cells it tends to the noise's own variance, 2 (range / eps)^2.
            noise = 0.5 / np.sinh(epsilons / (2.0 * self.cells)) ** 2 + 0.25
            variance = noise[:, None] + rounding_variances(grid_positions)
            variance *= np.float64(half / (self.cells / 2.0)) ** 2
        # Noise and rounding are unbiased: the mean is the value itself.
        return np.broadcast_to(values, variance.shape), variance

    def bits_per_person(self, epsilons: Floats) -> float:
        """Returns how many bits hold all messages but one in 10^9 at the smallest level."""
        smallest_level = max(float(epsilons.min()), SMALLEST_LEVEL)
        return bits_for(math.log(1e9) * self.cells / smallest_level, self.cells)
