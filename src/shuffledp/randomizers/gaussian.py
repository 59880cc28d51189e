"""Gaussian noise that keeps (eps, delta_local) on the device.

The message is the value plus normal noise. With mu = (high - low) / deviation, one message
alone shows, at eps,

    Phi(mu / 2 - eps / mu) - e^eps Phi(-mu / 2 - eps / mu),

which is the local delta of either calibration. The exact one has the smallest deviation
that keeps it at or below delta_local, for every eps; the classical one has

    deviation = sqrt(2 ln(1.25 / delta_local)) (high - low) / eps,

which is larger.

Sources: Balle, Wang (2018), "Improving the Gaussian mechanism for differential privacy:
analytical calibration and optimal denoising"; Dwork, Roth (2014), "The algorithmic
foundations of differential privacy", Theorem A.1, for the classical one.

The cover is derived in normal_cover.py.
"""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import ClassVar, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from shuffledp.arrays import as_number
from shuffledp.cover import Cover, NoiseDensities
from shuffledp.errors import InvalidInputError
from shuffledp.number_range import half_range
from shuffledp.parameter import Parameter
from shuffledp.population import Population
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
from shuffledp.randomizers.mechanism_setting import setting_metadata
from shuffledp.randomizers.noise import AddedNoise
from shuffledp.randomizers.noise_attack import all_edges
from shuffledp.randomizers.noise_tails import probabilities_between
from shuffledp.randomizers.normal_cells import normal_cells, variance_of_cells
from shuffledp.randomizers.normal_cover import normal_cover
from shuffledp.randomizers.normal_densities import normal_densities
from shuffledp.randomizers.normal_divergence import (
    SENSITIVITY_ERROR,
    normal_divergence,
    sensitivity_of_many_levels,
)
from shuffledp.randomizers.normal_sensitivity import (
    Calibration,
    sensitivities,
    sensitivity,
)
from shuffledp.randomizers.sampled_cells import MessageCounts, draw_normal_cells
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, slots=True)
class Gaussian(AddedNoise):
    """Public parameters only.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> device = sdp.Gaussian(0.0, 16.0, delta_local=1e-9)
    >>> device.deviations(np.array([1.0, 4.0])).round(1).tolist()
    [11.0, 3.0]

    Attributes:
        low: Smallest possible value.
        high: Largest possible value.
        delta_local: In [1e-100, 1): with this probability a message may tell more than
            its level says.
        calibration: "exact", the least noise that keeps a level, or "classical", the
            textbook's, for levels that it keeps.
        cells: N, how many cells of the grid the range of values is cut into; a message is
            one of them.
    """

    has_unimodal_covers: ClassVar[bool] = True
    # A run is a difference of two tails, and |y| phi(y) < 1 / 4.
    error_of_runs: ClassVar[float] = 0.5 * SENSITIVITY_ERROR

    low: float = 0.0
    high: float = 1.0
    _: KW_ONLY
    delta_local: float = field(
        default=1e-6,
        metadata=setting_metadata(
            Parameter(
                "delta_local",
                "number",
                "Delta on the device",
                least=1e-100,
                most=0.5,
                default=1e-6,
            )
        ),
    )
    calibration: Calibration = "exact"
    cells: int = STEPS

    def __post_init__(self) -> None:
        half_range(self.low, self.high)
        check_num_cells(self.cells)
        delta = as_number(self.delta_local, "delta_local")
        if not 1e-100 <= delta < 1.0:
            raise InvalidInputError(
                f"Expected 1e-100 <= delta_local < 1, got {delta:g}."
            )
        if self.calibration not in get_args(Calibration):
            raise InvalidInputError(
                "Expected the calibration exact or classical, got "
                f"{self.calibration!r}."
            )

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "gaussian"

    @property
    def unit(self) -> "Gaussian":
        """The same mechanism for values from -1 to 1; the messages are the same."""
        return replace(self, low=-1.0, high=1.0)

    @property
    def unbiased(self) -> bool:
        """True: the mean of a decoded message is the value."""
        return True

    @property
    def cells_beyond(self) -> int:
        """Noise has no bounds, but a message has."""
        return FARTHEST

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        named: dict[str, int | float | str] = {
            "low": float(self.low),
            "high": float(self.high),
            "delta_local": float(self.delta_local),
            "cells": int(self.cells),
        }
        # Certificates from before there were two calibrations name none.
        exact = self.calibration == "exact"
        return named if exact else named | {"calibration": self.calibration}

    def deviations(self, epsilons: Floats) -> Floats:
        """Returns the standard deviation of the noise, on the scale of [-1, 1]."""
        return 2.0 / self._sensitivities(epsilons)

    def local_delta(self, level: float, epsilon: float) -> float:
        """Returns the divergence of the two ends."""
        mu = np.array([self._sensitivity(level)])
        return float(normal_divergence(mu, np.array([epsilon]))[0])

    def cover_of(
        self, target_user: float, population: Population, *, delta: float
    ) -> Cover:
        """The cover of one target user, whose worst pair of values is the two ends."""
        return normal_cover(
            2.0 / self._sensitivity(target_user),
            self.deviations(population.epsilons),
            population.counts,
            delta=delta,
        )

    def noise_densities(
        self, target_user: float, *, delta: float
    ) -> NoiseDensities | None:
        """Returns the densities around one target user's values."""
        deviation = 2.0 / self._sensitivity(target_user)
        return normal_densities(deviation, self.deviations, delta=delta)

    def bins(self, epsilons: Floats, value: float) -> Floats:
        """Probabilities that the message falls into each bin, shape (levels, bins)."""
        return self._between(
            all_edges(self.cells) - value, self._sensitivities(epsilons)
        ).T

    def probabilities_of_runs(
        self, epsilons: Floats, runs: Sequence[tuple[float, Ints]]
    ) -> list[Floats]:
        """Returns probabilities of runs of bins, each of shape (runs, levels)."""
        if self.calibration == "exact":
            mu = sensitivity_of_many_levels(epsilons, self.delta_local)
        else:
            mu = self._sensitivities(epsilons)
        edges = all_edges(self.cells)
        return [
            self._between(edges[starts[1:] - 1] - value, mu) for value, starts in runs
        ]

    def _between(self, away: Floats, mu: Floats) -> Floats:
        """Returns probabilities between edges, given as distances from the value."""
        tails = np.multiply.outer(-0.5 * np.abs(away), mu)
        return probabilities_between(away, ndtr(tails, out=tails))

    def draw_cells(self, points: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        """Draws the cells of normal messages, shape (n,)."""
        # Bisection is done once for each level, not for each person.
        levels, level_indices = np.unique(epsilons, return_inverse=True)
        mu = self._sensitivities(levels)[level_indices]
        cells = normal_cells(points, mu, parts=self.cells, rng=rng)
        return within_bounds(cells, self.cells)

    def draw_population(
        self, points: Ints, level: float, *, rng: np.random.Generator
    ) -> Iterator[MessageCounts]:
        """Draws which cells a population's messages fall into, part by part."""
        mu = self._sensitivity(level)

        def draw(level_people: Ints) -> Ints:
            lengths = np.full(level_people.size, mu)
            return normal_cells(level_people, lengths, parts=self.cells, rng=rng)

        yield from draw_normal_cells(points, mu / self.cells, draw, rng=rng)

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
        lengths = self._sensitivities(epsilons) / self.cells
        # Exact: the variance of the cells' middles, plus that of moving to a grid point.
        with np.errstate(over="ignore"):
            variance = variance_of_cells(lengths)[:, None] + rounding_variances(
                grid_positions
            )
            variance *= np.float64(half / (self.cells / 2.0)) ** 2
        # Noise and rounding are unbiased: the mean is the value itself.
        return np.broadcast_to(values, variance.shape), variance

    def bits_per_person(self, epsilons: Floats) -> float:
        """Returns how many bits hold all messages but one in 10^9 at the smallest level."""
        smallest_level = max(float(epsilons.min()), SMALLEST_LEVEL)
        mu = self._sensitivity(smallest_level)
        # On either side half of one in 10^9.
        return bits_for(-float(ndtri(0.5e-9)) * self.cells / mu, self.cells)

    def _sensitivities(self, epsilons: Floats) -> Floats:
        """Returns mu of each level: all that runs and all that is proven rests on it."""
        return sensitivities(epsilons, self.delta_local, self.calibration)

    def _sensitivity(self, level: float) -> float:
        return sensitivity(level, self.delta_local, self.calibration)
