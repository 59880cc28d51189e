"""The shape of omega in the covers of two-sided exponential noise (`exponential_cover`)."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffledp.types import Floats


@dataclass(frozen=True)
class ExponentialBlanket:
    """Parameters of omega.

    Attributes:
        kappa: Its rate inside of [-1, 1].
        rate: The target user's.
        reach: Where it ends, maybe infinity.
        steeper: Its rate outside over the target user's, at least 1; 1 if it never ends.
    """

    kappa: float
    rate: float
    reach: float
    steeper: float = 1.0

    @property
    def outside(self) -> float:
        """Its rate outside of [-1, 1]."""
        return self.rate * self.steeper

    @cached_property
    def norm(self) -> float:
        """The integral of the unnormalized omega."""
        inside = _mean_decay(self.kappa)
        if self.reach <= 1.0:
            return 2.0 * inside
        outside = -math.expm1(-self.outside * (self.reach - 1.0)) / self.outside
        return 2.0 * (inside + math.exp(-self.kappa) * outside)

    def log_density(self, y: float) -> float:
        """Returns log omega at a distance y >= 0 from the middle."""
        beyond = max(y - 1.0, 0.0)
        return -self.kappa * min(y, 1.0) - self.outside * beyond - math.log(self.norm)


def blanket_probability(
    rates: Floats, shape: ExponentialBlanket, *, clipped: bool
) -> Floats:
    """Returns gamma for people whose noise has these rates, shape as `rates`."""
    return probability_below(log_peak(rates, clipped=clipped), rates, shape)


def log_peak(rates: Floats, *, clipped: bool) -> Floats:
    """Returns the logarithm of `end_density`, shape as `rates`."""
    # A rate of 0 is the uniform distribution within the range, and nothing on the line.
    with np.errstate(divide="ignore"):
        peak: Floats = np.log(end_density(rates, clipped=clipped))
    return peak


def probability_below(peak: Floats, rates: Floats, shape: ExponentialBlanket) -> Floats:
    """Returns `blanket_probability`, given the logarithm of the density's peak."""
    gamma: Floats = np.full(rates.shape, np.inf)
    for y in {0.0, 1.0, shape.reach}:
        if math.isfinite(y):
            ratio = peak - rates * (1.0 + y) - shape.log_density(y)
            # What exceeds 1 is cut off below, and need not be computed.
            np.minimum(gamma, np.exp(np.minimum(ratio, 1.0)), out=gamma)
        else:
            # On the way to infinity a steeper density falls below omega altogether.
            gamma[rates > shape.outside] = 0.0
    return np.minimum(gamma * (1.0 - 1e-12), 1.0)


def divergence(shape: ExponentialBlanket, *, clipped: bool) -> float:
    """Computes approximately the integral of (R(-1) - R(1))^2 / omega."""
    return TargetDensities.of(shape.rate, clipped=clipped).divergence(shape)


@dataclass(frozen=True, eq=False)
class TargetDensities:
    """A target user's densities, whatever the shape of omega.

    Attributes:
        rate: Of the noise.
        peak: The density at its own location.
        middles: Distances from the middle, shape (64,).
        squares: Squared differences of the densities there, without their peak.
    """

    rate: float
    peak: float
    middles: Floats
    squares: Floats

    @staticmethod
    def of(rate: float, *, clipped: bool) -> "TargetDensities":
        """Returns the target user with this rate."""
        y = (np.arange(64) + 0.5) / 64
        # Densities e^{-rate} 2 sinh(rate y), squared, against e^{-kappa y}.
        difference = np.exp(rate * (y - 1.0)) * -np.expm1(-2.0 * rate * y)
        peak = end_density(np.array([rate]), clipped=clipped)[0]
        return TargetDensities(rate, float(peak), y, difference**2)

    def divergence(self, shape: ExponentialBlanket) -> float:
        """Computes about the integral of (R(-1) - R(1))^2 / omega."""
        weights = np.exp(shape.kappa * self.middles)
        total = float((self.squares * weights).sum()) / weights.size
        if shape.reach > 1.0:
            falls = 2.0 * self.rate - shape.outside
            edge = math.expm1(-2.0 * self.rate) ** 2 * math.exp(shape.kappa) / falls
            total += edge * -math.expm1(-falls * (shape.reach - 1.0))
        return 2.0 * total * self.peak**2 * shape.norm


def end_density(rates: Floats, *, clipped: bool) -> Floats:
    """Returns the density at its own location, an end of the range, shape as `rates`."""
    if not clipped:
        return rates / 2.0
    steep = np.maximum(rates, 1e-300)
    peak: Floats = np.where(rates > 0.0, steep / -np.expm1(-2.0 * steep), 0.5)
    return peak


def _mean_decay(rate: float) -> float:
    """Returns the mean of e^{-rate t} over [0, 1]."""
    return 1.0 - rate / 2.0 if rate < 1e-8 else -math.expm1(-rate) / rate


def mean_decay_of(rates: Floats) -> Floats:
    """Returns the mean of e^{-rate t} over [0, 1], shape as `rates`."""
    small = rates < 1e-8
    safe = np.where(small, 1.0, rates)
    mean: Floats = np.where(small, 1.0 - rates / 2.0, -np.expm1(-safe) / safe)
    return mean
