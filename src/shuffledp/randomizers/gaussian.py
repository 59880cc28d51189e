"""Gaussian noise, calibrated exactly to (eps, delta_local) on the device.

The message is the value plus normal noise of the smallest standard deviation for which

    Phi(mu / 2 - eps / mu) - e^eps Phi(-mu / 2 - eps / mu) <= delta_local,

mu = (high - low) / deviation: exact for every eps, unlike the classical formula, which
holds for eps <= 1 only. Source: Balle, Wang (2018), "Improving the Gaussian mechanism for
differential privacy: analytical calibration and optimal denoising".

The cover is derived in normal_cover.py.
"""

import functools
import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from shuffledp.arrays import as_number
from shuffledp.cover import Cover
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.checks import value_range
from shuffledp.randomizers.drawn_cells import Sent, normal_crowd
from shuffledp.randomizers.grid import (
    FARTHEST,
    SMALLEST_LEVEL,
    STEPS,
    bits_for,
    check_num_cells,
    positions,
    rounding_variances,
    within_bounds,
)
from shuffledp.randomizers.noise import AddedNoise
from shuffledp.randomizers.noise_attack import all_edges
from shuffledp.randomizers.normal_cells import normal_cells, variance_of_cells
from shuffledp.randomizers.normal_cover import normal_cover
from shuffledp.randomizers.normal_divergence import normal_divergence
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints


def sensitivity_per_deviation(epsilons: Floats, delta_local: float) -> Floats:
    """Returns the largest mu that keeps (eps, delta_local), rounded down, by bisection.

    Args:
        epsilons: Local budgets, >= 0, any shape.
        delta_local: In (0, 1).
    """
    low = np.full(epsilons.shape, math.log(1e-105))
    high = np.full(epsilons.shape, math.log(200.0))
    for _ in range(60):
        middle = (low + high) / 2.0
        fits = normal_divergence(np.exp(middle), epsilons) <= delta_local
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    mu: Floats = np.exp(low)
    return mu


@dataclass(frozen=True, slots=True)
class Gaussian(AddedNoise):
    """Public parameters only.

    Attributes:
        low: Smallest possible value.
        high: Largest possible value.
        delta_local: In [1e-100, 1): with this probability a message may tell more than
            its level says.
        cells: N, how many cells of the grid the range of values is cut into; a message is
            one of them.
    """

    low: float = 0.0
    high: float = 1.0
    _: KW_ONLY
    delta_local: float = 1e-6
    cells: int = STEPS

    def __post_init__(self) -> None:
        value_range(self.low, self.high)
        check_num_cells(self.cells)
        delta = as_number(self.delta_local, "delta_local")
        if not 1e-100 <= delta < 1.0:
            raise InvalidInputError(
                f"Expected 1e-100 <= delta_local < 1, got {delta:g}."
            )

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "gaussian"

    @property
    def unit(self) -> "Gaussian":
        """The same mechanism for values from -1 to 1; the messages are the same."""
        return Gaussian(-1.0, 1.0, delta_local=self.delta_local, cells=self.cells)

    @property
    def unbiased(self) -> bool:
        """Yes: the mean of a decoded message is the value."""
        return True

    @property
    def cells_beyond(self) -> int:
        """Noise has no bounds, but a message has."""
        return FARTHEST

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {
            "low": float(self.low),
            "high": float(self.high),
            "delta_local": float(self.delta_local),
            "cells": int(self.cells),
        }

    def deviations(self, epsilons: Floats) -> Floats:
        """Returns the standard deviation of the noise, on the scale of [-1, 1]."""
        return 2.0 / sensitivity_per_deviation(epsilons, self.delta_local)

    def local_delta(self, level: float, epsilon: float) -> float:
        """Returns the divergence of the two ends."""
        mu = np.array([_sensitivity(level, self.delta_local)])
        return float(normal_divergence(mu, np.array([epsilon]))[0])

    def cover_of(self, victim: float, crowd: Population, *, delta: float) -> Cover:
        """The cover of one victim, whose worst pair of values is the two ends."""
        return normal_cover(
            2.0 / _sensitivity(victim, self.delta_local),
            self.deviations(crowd.epsilons),
            crowd.counts,
            delta=delta,
        )

    def bins(self, epsilons: Floats, value: float) -> Floats:
        """Chances that the message falls into each bin, shape (levels, bins)."""
        deviations = self.deviations(epsilons)[:, None]
        away = (all_edges(self.cells) - value) / deviations
        # Differences of the nearer tail, so that far bins keep their digits.
        below, above = ndtr(np.minimum(away, 0.0)), ndtr(np.minimum(-away, 0.0))
        inside = np.diff(below, axis=1) - np.diff(above, axis=1)
        chances: Floats = np.hstack([below[:, :1], inside, above[:, -1:]])
        return chances

    def draw_cells(self, points: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        """Draws the cells of normal messages, shape (n,)."""
        levels, places = np.unique(epsilons, return_inverse=True)
        mu = sensitivity_per_deviation(levels, self.delta_local)[places]
        found = normal_cells(points, mu, parts=self.cells, rng=rng)
        return within_bounds(found, self.cells)

    def draw_crowd(
        self, points: Ints, level: float, *, rng: np.random.Generator
    ) -> Iterator[Sent]:
        """Draws which cells a crowd's messages fall into, part by part."""
        mu = _sensitivity(level, self.delta_local)

        def draw(alone: Ints) -> Ints:
            lengths = np.full(alone.size, mu)
            return normal_cells(alone, lengths, parts=self.cells, rng=rng)

        yield from normal_crowd(points, mu / self.cells, draw, rng=rng)

    def moments(self, epsilons: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Returns mean and variance of a decoded message.

        The mean is the value itself. The variance is exactly that of the cells' middles,
        and the way to a grid point.

        Args:
            epsilons: Local budgets, shape (levels,).
            values: Numbers in [low, high], shape (values,).

        Returns:
            Both of shape (levels, values).
        """
        half = value_range(self.low, self.high)
        places = positions(values, self.low, self.high, self.cells)
        lengths = sensitivity_per_deviation(epsilons, self.delta_local) / self.cells
        with np.errstate(over="ignore"):
            variance = variance_of_cells(lengths)[:, None] + rounding_variances(places)
            variance *= (half / (self.cells / 2.0)) ** 2
        return np.broadcast_to(values, variance.shape), variance

    def bits_per_person(self, epsilons: Floats) -> float:
        """Returns how many bits hold all messages but one in 10^9 at the smallest level."""
        smallest = max(float(epsilons.min()), SMALLEST_LEVEL)
        mu = _sensitivity(smallest, self.delta_local)
        return bits_for(-float(ndtri(0.5e-9)) * self.cells / mu, self.cells)


@functools.lru_cache(maxsize=1024)
def _sensitivity(level: float, delta_local: float) -> float:
    return float(sensitivity_per_deviation(np.array([level]), delta_local)[0])
