"""Pairs of distributions that an adversary sees, to compose with those of others."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffledp.types import Floats


@dataclass(frozen=True, eq=False)
class AttackedPair:
    """Distributions of the view in both worlds, at data that an adversary chose.

    Attributes:
        first: Mass of every outcome in one world, shape (outcomes,).
        second: In the other world, shape (outcomes,).
        times: How many such pairs are seen, independent of each other, at least 1.
        is_mirrored: Whether each is seen beside one the other way round, independent of
            it: where a message moves from one bucket to another.
        missing: Bound of the mass by which all of them together may be wrong.
        drift: Apart from that, all masses together are right up to a factor of e^{+-drift}.
    """

    first: Floats
    second: Floats
    times: int = 1
    is_mirrored: bool = False
    missing: float = 0.0
    drift: float = 0.0

    @property
    def number(self) -> int:
        """How many pairs there are, those the other way round included."""
        return self.times * (2 if self.is_mirrored else 1)

    @property
    def information(self) -> float:
        """Chi-squared divergence of one pair; infinite if outcomes appear."""
        tells = self.first != self.second
        first, second = self.first[tells], self.second[tells]
        with np.errstate(divide="ignore"):
            return float(((first - second) ** 2 / second).sum())

    @cached_property
    def ratios(self) -> Floats:
        """First over second of every outcome; infinite where the second is 0."""
        return ratios_of(self.first, self.second)


def ratios_of(first: Floats, second: Floats) -> Floats:
    """Returns the quotients of masses, infinite where one is divided by 0."""
    positive = second > 0.0
    ratios: Floats = np.full(first.shape, np.inf)
    np.divide(first, second, out=ratios, where=positive)
    return ratios
