"""Distributions of the number of dummies that a shuffler adds to a bucket."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffledp.accounting.sums.binomial import relative_error
from shuffledp.types import Floats, Ints
from shuffledp_papers.multi_message.exact_pairs import binomial_masses

_OUTSIDE = 1e-60
_ULP = 2.3e-16


@dataclass(frozen=True, eq=False)
class DummyWindow:
    """A distribution on the whole numbers where it is not negligible.

    Attributes:
        first: The first number of the window.
        masses: Shape (counts,).
        missing: Bound of the mass that they leave out.
        drift: They are right up to a factor of e^{+-drift}.
    """

    first: int
    masses: Floats
    missing: float
    drift: float

    @property
    def mean(self) -> float:
        """In dummies."""
        return float(self.masses @ self._counts)

    @property
    def variance(self) -> float:
        """In dummies squared."""
        return float(self.masses @ (self._counts - self.mean) ** 2)

    def draw(self, size: int, *, rng: np.random.Generator) -> Ints:
        """Draws numbers of dummies, shape (size,)."""
        sums = np.cumsum(self.masses)
        at = np.searchsorted(sums / sums[-1], rng.random(size), side="right")
        numbers: Ints = self.first + at.astype(np.int64)
        return numbers

    @property
    def _counts(self) -> Floats:
        return self.first + np.arange(self.masses.size, dtype=np.float64)


@dataclass(frozen=True)
class BinomialDummies:
    """Binomial(trials, 1/2) many.

    Attributes:
        trials: M, at least 1.
    """

    trials: int

    @cached_property
    def window(self) -> DummyWindow:
        """The distribution."""
        first, masses, missing = binomial_masses(self.trials, 0.5)
        doubt = float(relative_error(np.array(float(self.trials))))
        return DummyWindow(first, masses, missing, 2.0 * doubt)


@dataclass(frozen=True)
class GeometricDummies:
    """Geometric to both sides of a number, and none below 0.

    Attributes:
        center: nu >= 0, the most likely number.
        rise: q_l in [0, 1), by which a mass is smaller than the next one below nu.
        fall: q_r in (0, 1), by which a mass is smaller than the last one above nu.
    """

    center: int
    rise: float
    fall: float

    @cached_property
    def window(self) -> DummyWindow:
        """The distribution."""
        above = math.ceil(math.log(_OUTSIDE) / math.log(self.fall))
        left = self.rise ** np.arange(self.center, 0, -1, dtype=np.float64)
        right = self.fall ** np.arange(above + 1, dtype=np.float64)
        weights = np.concatenate([left, right])
        total = float(weights.sum()) + self.fall ** (above + 1) / (1.0 - self.fall)
        # Powers are right to a few roundings, and so is a sum of positive terms.
        drift = (2.0 * weights.size + 40.0) * _ULP
        missing = 1.01 * _OUTSIDE / (1.0 - self.fall)
        return DummyWindow(0, weights / total, missing, drift)
