"""The distribution omega of normal noise, and how often each person sends it.

See `normal_cover`, whose cells these are.
"""

import functools
import math
from collections.abc import Sequence
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
        (logs,) = NormalBlankets((self,)).log_densities(y)
        return np.asarray(logs)

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
        fold, width, center, own = self.fold, self.width, self.center, self.deviation
        # A number at a time is quicker than arrays of two.
        inside = width * _normal_mass(fold / width, (self.joint + fold) / width)
        beyond = _normal_mass((self.joint - center) / own, (self.reach - center) / own)
        beyond *= own * math.exp(self.log_step)
        scale = math.sqrt(2.0 * math.pi)
        return 2.0 * (inside * scale + beyond * scale)

    def blanket_probability(self, deviations: Floats) -> Floats:
        """Returns gamma for people with these deviations."""
        (gammas,) = NormalBlankets((self,)).blanket_probabilities(deviations)
        return np.asarray(gammas)


class NormalBlankets:
    """Several such distributions, which are looked at together: a row for each.

    Args:
        shapes: Their parameters.
    """

    def __init__(self, shapes: Sequence[NormalBlanket]) -> None:
        # Powers of single numbers: those of arrays may differ in the last digit.
        rows = [
            (
                shape.deviation,
                shape.deviation**2,
                1.0 / shape.deviation**2,
                shape.reach,
                shape.joint,
                shape.width,
                shape.width**-2,
                shape.fold,
                shape.fold / shape.width**2,
                shape.center,
                shape.center * (1.0 / shape.deviation**2),
                shape.log_step,
                shape.norm,
                math.log(shape.norm / math.sqrt(2.0 * math.pi)),
            )
            for shape in shapes
        ]
        (
            self._deviation,
            self._own_variance,
            self._own_precision,
            self._reach,
            self._joint,
            self._width,
            self._precision,
            self._fold,
            self._inner_slope,
            self._center,
            self._outer_slope,
            self._log_step,
            self._norm,
            self._log_norm,
        ) = np.array(rows).T[:, :, np.newaxis]

    def log_densities(self, y: Floats) -> Floats:
        """Returns -h(y) at y >= 0, shape (points,) or (shapes, points), of each shape."""
        inside = -0.5 * ((y + self._fold) / self._width) ** 2
        beyond = self._log_step - 0.5 * ((y - self._center) / self._deviation) ** 2
        logs: Floats = np.where(y <= self._joint, inside, beyond)
        return logs

    def blanket_probabilities(self, deviations: Floats) -> Floats:
        """Returns gamma for people with these deviations, shape (shapes, levels)."""
        minima = np.full((self._norm.size, deviations.size), np.inf)
        precise = 1.0 / deviations**2
        zero, joint, reach = np.zeros(self._joint.shape), self._joint, self._reach
        with np.errstate(divide="ignore", invalid="ignore"):
            # Where the slope of the ratio is 0, on either side of the joint.
            inner = (precise - self._inner_slope) / (self._precision - precise)
            outer = (precise + self._outer_slope) / (self._own_precision - precise)
        for y, start, end in (
            (zero, zero, zero),
            (inner, zero, joint),
            (joint, joint, joint),
            (outer, joint, reach),
            (reach, reach, reach),
        ):
            location = np.clip(np.where(np.isnan(y), start, y), start, end)
            ratio = -0.5 * ((location + 1.0) / deviations) ** 2
            np.minimum(minima, ratio - self.log_densities(location), out=minima)
        logs = minima + self._log_norm - np.log(deviations)
        gammas: Floats = np.exp(np.minimum(logs, 1.0)) * (1.0 - ROUNDING)
        return np.minimum(gammas, 1.0)

    def chi_squares(self, num_points: int) -> Floats:
        """Returns about the integrals of (R(1) - R(-1))^2 / omega, shape (shapes,).

        Args:
            num_points: Points at which they are evaluated.
        """
        y = self._reach * (np.arange(num_points) + 0.5) / num_points
        variance = self._own_variance
        logs = -((y - 1.0) ** 2) / variance - self.log_densities(y)
        squares = np.exp(logs) * np.expm1(-2.0 * y / variance) ** 2
        totals = 2.0 * self._reach * squares.mean(axis=1, keepdims=True) * self._norm
        integrals: Floats = (totals / (2.0 * math.pi * variance))[:, 0]
        return integrals


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


def _normal_mass(start: float, end: float) -> float:
    """Returns the probability of a unit normal number between start and end >= start."""
    if start > 0.0:
        return float(ndtr(-start)) - float(ndtr(-end))
    return float(ndtr(end)) - float(ndtr(start))


def normal_masses(edges: Floats) -> Floats:
    """Returns the probabilities of a unit normal number between edges."""
    # Differences of the nearer tail.
    above, below = ndtr(-edges), ndtr(edges)
    parts: Floats = np.where(
        edges[:-1] > 0.0, above[:-1] - above[1:], below[1:] - below[:-1]
    )
    return parts
