"""Delta of composed changes of buckets, approximately: for searches, never certified.

Losses of every change are rounded to a grid and convolved by Fourier transforms, which
takes milliseconds where a proven bound takes seconds. A transform is right to 1e-16 of
its largest mass, so that masses P(L) are first tilted to

    P_theta(L) = P(L) e^{theta L} / M(theta),    M(theta) = sum of P(L) e^{theta L},

with a theta at which the mean of the composed loss is about epsilon. Then delta is

    M(theta) e^{-theta epsilon} sum of P_theta(L) e^{-theta (L - epsilon)}
                                       (1 - e^{epsilon - L})    over L > epsilon,

in which masses near the largest one count, however small delta is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.counts.bucket_pair import BucketChange
from shuffledp.types import Floats

# A power of 2 for the fast Fourier transform; about 600 nodes per standard deviation.
_NODES = 2**14
# The grid's ends, in standard deviations of the tilted loss on either side of epsilon.
_DEVIATIONS = 14.0
# Newton's method for theta ends at a mean this close to epsilon, in deviations. Losses of
# geometric noise are bounded: at a few deviations more, delta is 1e-20 or nothing.
_NEAR, _MOST_STEPS = 0.5, 60
_LARGEST_TILT = 1e9
# Where delta is this large, and epsilon no more deviations above the mean, the transform
# of the losses themselves will do, which is quicker.
_PLAIN, _PLAIN_DEVIATIONS = 1e-11, 6.0
_SMALLEST = 1e-300


def approximate_delta(changes: Sequence[BucketChange], epsilon: float) -> float:
    """Returns about the delta at epsilon of all changes together.

    Args:
        changes: Of all groups.
        epsilon: At least 0.
    """
    # With what only one of two data sets can cause, in any of the changes.
    revealed = -math.expm1(
        sum(change.times * math.log1p(-_revealed(change)) for change in changes)
    )
    parts = [part for change in changes for part in _losses_of(change)]
    hidden = 0.0
    if sum(part.times * float(part.losses.max()) for part in parts) > epsilon:
        hidden = _hidden_delta(parts, epsilon)
    return max(hidden + revealed, _SMALLEST)


@dataclass(frozen=True, eq=False)
class _Losses:
    """Finite losses of one bucket, their masses, and in how many buckets they occur."""

    losses: Floats
    masses: Floats
    times: int

    def tilted(self, theta: float) -> tuple[Floats, float]:
        """Returns the tilted masses, which sum to 1, and log M(theta)."""
        exponents = theta * self.losses
        largest_exponent = float(exponents.max())
        weights = self.masses * np.exp(exponents - largest_exponent)
        total = float(weights.sum())
        return weights / total, largest_exponent + math.log(total)

    def moments(self, theta: float) -> tuple[float, float]:
        """Returns mean and variance of the tilted losses of all buckets together."""
        masses, _ = self.tilted(theta)
        mean = float(masses @ self.losses)
        variance = float(masses @ (self.losses - mean) ** 2)
        return self.times * mean, self.times * variance


def _hidden_delta(parts: Sequence[_Losses], epsilon: float) -> float:
    """Returns the part of delta that finite losses above epsilon contribute."""
    mean, variance = _moments(parts, 0.0)
    if epsilon - mean <= _PLAIN_DEVIATIONS * math.sqrt(variance):
        plain = _transformed(parts, epsilon, 0.0, variance)
        if plain >= _PLAIN:
            return plain
    return _transformed(parts, epsilon, *_tilt(parts, epsilon))


def _transformed(
    parts: Sequence[_Losses], epsilon: float, theta: float, variance: float
) -> float:
    """Returns the sum of the composed losses, tilted by theta to this variance."""
    end = _DEVIATIONS * math.sqrt(variance)
    step = 2.0 * end / _NODES
    if step <= 0.0:
        return 0.0
    spectrum = np.ones(_NODES // 2 + 1, dtype=np.complex128)
    log_moment = 0.0
    for part in parts:
        masses, logarithm = part.tilted(theta)
        log_moment += part.times * logarithm
        position = part.losses / step
        left_nodes = np.floor(position)
        share = position - left_nodes
        # Sums of losses are right up to whole turns around the grid.
        nodes = np.mod(left_nodes, _NODES).astype(np.int64)
        grid = np.bincount(nodes, weights=masses * (1.0 - share), minlength=_NODES)
        grid += np.bincount(
            (nodes + 1) % _NODES, weights=masses * share, minlength=_NODES
        )
        spectrum *= np.fft.rfft(grid) ** part.times
    composed = np.fft.irfft(spectrum, _NODES)
    first = math.floor((epsilon - end) / step)
    indices = np.arange(first, first + _NODES)
    beyond = step * indices - epsilon
    above = beyond > 0.0
    gain = np.exp(-theta * beyond[above]) * -np.expm1(-beyond[above])
    total = float(composed[indices[above] % _NODES] @ gain)
    return math.exp(min(log_moment - theta * epsilon, 0.0)) * max(total, 0.0)


def _tilt(parts: Sequence[_Losses], epsilon: float) -> tuple[float, float]:
    """Returns theta >= 0, and the variance of the tilted loss.

    The mean rises with theta, from that of the loss itself to its largest value.
    """
    low, high, theta = 0.0, math.inf, 0.0
    for _ in range(_MOST_STEPS):
        mean, variance = _moments(parts, theta)
        excess = mean - epsilon
        if abs(excess) <= _NEAR * math.sqrt(variance) or (
            theta == 0.0 and excess > 0.0
        ):
            break
        low, high = (low, theta) if excess > 0.0 else (theta, high)
        if high - low <= 1e-9 * low or low >= _LARGEST_TILT:
            break
        # Newton's step, or a half or a double where that leaves the interval.
        theta -= excess / variance if variance > 0.0 else -math.inf
        if not low < theta < high:
            theta = 2.0 * low + 1.0 if high == math.inf else 0.5 * (low + high)
    return theta, variance


def _moments(parts: Sequence[_Losses], theta: float) -> tuple[float, float]:
    """Returns mean and variance of the composed loss, tilted by theta."""
    means, variances = zip(*(part.moments(theta) for part in parts), strict=True)
    return sum(means), sum(variances)


def _losses_of(change: BucketChange) -> list[_Losses]:
    """Returns losses of the bucket that gets a message, and of the one that it leaves."""
    ratios = change.pair.ratios
    finite = (ratios > 0.0) & np.isfinite(ratios)
    losses = np.log(ratios[finite])
    parts = [_Losses(losses, change.pair.with_message[finite], change.times)]
    if change.moved:
        # The bucket that the message leaves: likelihoods are the other way round.
        parts.append(_Losses(-losses, change.pair.without[finite], change.times))
    return parts


def _revealed(change: BucketChange) -> float:
    """Returns the mass of outcomes whose loss is infinite, below 1."""
    pair = change.pair
    mass = float(pair.with_message[pair.without == 0.0].sum())
    if change.moved:
        mass += float(pair.without[pair.with_message == 0.0].sum())
    return min(mass, 1.0 - 1e-16)
