"""The distribution omega of normal noise, and how often each person sends it.

See `normal_cover`, whose cells these are.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from shuffledp.types import Floats

# Rounding of a difference of two tails within a cell, as a part of the cell.
ROUNDING = 4e-12
# Cells from 0 to the reach.
CELLS = 400
# Edges of the cells of what is uncovered, in deviations.
_OUTER = 0.1 * np.arange(41)


@dataclass(frozen=True)
class NormalBlanket:
    """omega's parameters, in units in which the values are 2 apart."""

    deviation: float
    reach: float
    joint: float
    width: float
    fold: float

    @property
    def center(self) -> float:
        """Center of the normal density that omega follows beyond the joint."""
        return self.joint - (self.joint + self.fold) * self.narrow

    @property
    def narrow(self) -> float:
        """The target user's variance as a part of omega's own."""
        return (self.deviation / self.width) ** 2

    @property
    def log_step(self) -> float:
        """By how much that density is higher than the one within, in logarithms."""
        return -0.5 * ((self.joint + self.fold) / self.width) ** 2 * (1.0 - self.narrow)

    def steepness(self, y: Floats) -> Floats:
        """Returns h'(y) at y >= 0."""
        inside = (np.minimum(y, self.joint) + self.fold) / self.width**2
        beyond = np.maximum(y - self.joint, 0.0) / self.deviation**2
        slope: Floats = inside + beyond
        return slope

    def log_density(self, y: Floats) -> Floats:
        """Returns -h(y) at y >= 0."""
        inside = -0.5 * ((y + self.fold) / self.width) ** 2
        beyond = self.log_step - 0.5 * ((y - self.center) / self.deviation) ** 2
        log: Floats = np.where(y <= self.joint, inside, beyond)
        return log

    def masses(self, edges: Floats) -> Floats:
        """Returns the integrals of e^{-h} between edges >= 0, one of them the joint."""
        inside = self.width * normal_masses((edges + self.fold) / self.width)
        beyond = normal_masses((edges - self.center) / self.deviation)
        beyond *= self.deviation * math.exp(self.log_step)
        masses: Floats = np.where(edges[1:] <= self.joint, inside, beyond)
        return masses * math.sqrt(2.0 * math.pi)

    @functools.cached_property
    def norm(self) -> float:
        """The integral of e^{-h(|y|)} over [-reach, reach]."""
        edges = np.unique([0.0, self.joint, self.reach])
        return 2.0 * float(self.masses(edges).sum())

    def blanket_probability(self, deviations: Floats) -> Floats:
        """Returns gamma for people with these deviations."""
        minima = np.full(deviations.shape, np.inf)
        precise = 1.0 / deviations**2
        joint, own_precision = self.joint, 1.0 / self.deviation**2
        with np.errstate(divide="ignore", invalid="ignore"):
            # Where the slope of the ratio is 0, on either side of the joint.
            inner = (precise - self.fold / self.width**2) / (self.width**-2 - precise)
            outer = (precise + self.center * own_precision) / (own_precision - precise)
        for y, start, end in (
            (np.zeros(deviations.shape), 0.0, 0.0),
            (inner, 0.0, joint),
            (np.full(deviations.shape, joint), joint, joint),
            (outer, joint, self.reach),
            (np.full(deviations.shape, self.reach), self.reach, self.reach),
        ):
            location = np.clip(np.nan_to_num(y, nan=start), start, end)
            ratio = -0.5 * ((location + 1.0) / deviations) ** 2 - self.log_density(
                location
            )
            np.minimum(minima, ratio, out=minima)
        log_norm = math.log(self.norm / math.sqrt(2.0 * math.pi))
        logs = minima + log_norm - np.log(deviations)
        gamma: Floats = np.exp(np.minimum(logs, 1.0)) * (1.0 - ROUNDING)
        return np.minimum(gamma, 1.0)


def shape_at(
    reach: float, deviation: float, form: tuple[float, int] | None = None
) -> NormalBlanket:
    """Returns the shape of the target user's own noise, or one of a width and a joint."""
    edges = np.linspace(0.0, reach, CELLS + 1).tolist()
    if form is None:
        return NormalBlanket(deviation, edges[-1], edges[-1], deviation, 1.0)
    width, joint = form
    return NormalBlanket(deviation, edges[-1], edges[joint], width * deviation, 0.0)


def uncovered_beyond(reach: float, deviation: float) -> Floats:
    """Returns both ends' masses beyond omega's reach, on one side, on the safe side."""
    edges = reach + deviation * _OUTER
    tails = ndtr((1.0 - edges) / deviation)
    near_masses = np.append(tails[:-1] - tails[1:], tails[-1]) * (1.0 + ROUNDING)
    # The farther end gets its smallest ratio to the nearer one within each cell, so that
    # the divergence of the cells is at least that of all messages.
    parts = np.exp(-2.0 * edges[1:] / deviation**2)
    far_masses = np.append(near_masses[:-1] * parts, 0.0) * (1.0 - ROUNDING)
    return np.stack([near_masses, far_masses])


def normal_masses(edges: Floats) -> Floats:
    """Returns the probabilities of a unit normal number between edges."""
    # Differences of the nearer tail.
    above, below = ndtr(-edges), ndtr(edges)
    parts: Floats = np.where(
        edges[:-1] > 0.0, above[:-1] - above[1:], below[1:] - below[:-1]
    )
    return parts
