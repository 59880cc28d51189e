"""Certified privacy profiles of the canaries' levels."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.accounting.privacy_profile import privacy_profile
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.types import Floats


@dataclass(frozen=True, eq=False)
class PrivacyProfiles:
    """Points (epsilon, delta) that hold for each level, under replacement of a value.

    Every row is a promise to all levels at once; more rows give a test more power.

    Attributes:
        levels: The canaries' levels, strictly increasing, shape (levels,).
        epsilons: In nats, >= 0, shape (points, levels).
        deltas: In [0, 1], shape (points, levels).
    """

    levels: Floats
    epsilons: Floats
    deltas: Floats

    def __post_init__(self) -> None:
        if self.levels.ndim != 1 or not (np.diff(self.levels) > 0.0).all():
            raise InvalidInputError("Expected levels, strictly increasing.")
        shape = self.epsilons.shape
        if self.epsilons.ndim != 2 or shape[1] != self.levels.size or not shape[0]:
            raise InvalidInputError("Expected at least one epsilon of each level.")
        if self.deltas.shape != shape:
            raise InvalidInputError("Expected a delta for each epsilon.")
        if not ((self.deltas >= 0.0) & (self.deltas <= 1.0)).all():
            raise InvalidInputError("Expected deltas in [0, 1].")
        if not (np.isfinite(self.epsilons) & (self.epsilons >= 0.0)).all():
            raise InvalidInputError("Expected finite epsilons from 0.")


def certified_profiles(
    protocol: Any, people: Population, *, absent: int = 0, num_points: int = 65
) -> PrivacyProfiles:
    """Computes the whole certified profile of every level.

    Row by row, each level is at the same part of the way from epsilon 0 to where its delta
    is about 1e-12.

    Args:
        protocol: The protocol of the collection.
        people: Levels and counts of the participants.
        absent: The number of other users who give no cover.
        num_points: The number of epsilons per level, from 2 to 250.
    """
    profiles = [
        privacy_profile(protocol, people, level, num_points=num_points, absent=absent)
        for level in people.epsilons.tolist()
    ]
    return PrivacyProfiles(
        people.epsilons,
        np.array([profile.epsilons for profile in profiles]).T,
        np.array([profile.certified for profile in profiles]).T,
    )
