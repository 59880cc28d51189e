"""Clip-Laplace: Laplace noise around v in [-C, C], conditioned on the message in [-C, C].

The density is proportional to e^{-eps |y - v| / (2 C)} on [-C, C]. Between the two ends
the normalizers are equal, so that the ratio of densities reaches e^eps there and nowhere
exceeds it.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Definition 4 and Theorem 1
(for one coordinate; for several with a common L1 sensitivity the theorem fails).
"""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.arrays import as_number
from shuffledp.cover import Cover
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.exponential_cover import exponential_cover
from shuffledp.randomizers.noise import AddedNoise, pure_local_delta
from shuffledp.types import Floats

_EDGES = np.linspace(-1.0, 1.0, 41)
_SMALLEST = 1e-12


@dataclass(frozen=True, slots=True)
class ClipLaplace(AddedNoise):
    """Public parameters only.

    Attributes:
        clip: C > 0; values and messages lie in [-C, C].
    """

    clip: float = 1.0

    def __post_init__(self) -> None:
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
        return {"clip": float(self.clip)}

    @property
    def delta_local(self) -> float:
        """0: pure local privacy."""
        return 0.0

    def local_delta(self, level: float, epsilon: float) -> float:
        """Returns the divergence of -C against C."""
        if level <= 0.0:
            return 0.0
        # The densities cross at t with e^{-2 b t} = e^epsilon, b = level / 2.
        left = -math.expm1((epsilon - level) / 2.0)
        both = left * (left / -math.expm1(-level))
        return pure_local_delta(level, epsilon, both)

    def cover_of(self, victim: float, crowd: Population, *, delta: float) -> Cover:
        """The cover of one victim, whose worst pair of values is -C and C."""
        return exponential_cover(
            max(victim, _SMALLEST), crowd, clipped=True, delta=delta
        )

    def bins(self, epsilons: Floats, value: float) -> Floats:
        """Chances that the message falls into each bin, shape (levels, bins)."""
        rates = np.maximum(epsilons[:, None] / 2.0, _SMALLEST)
        away = _EDGES - value
        # Proportional to the integral of the density from the value on.
        area = np.sign(away) * -np.expm1(-rates * np.abs(away))
        parts = np.diff(area, axis=1)
        chances: Floats = parts / parts.sum(axis=1, keepdims=True)
        return chances
