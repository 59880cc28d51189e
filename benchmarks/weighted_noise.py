"""Noise of one bucket, the messages of an answer that it hides, and errors of its count.

For `weights.py`. Nothing of the library is used: `weights.py` compares with its account.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import poisson

Floats = NDArray[np.float64]

DELTA = 1e-6
# Noise is tried in steps, and where a weight of a target is just sent by all.
_SIZES, _RATES = 24, 24
# Weights of the smallest target up to this one, of others up to as much per epsilon.
_LEAST_WEIGHTS, _MOST_WEIGHTS = 4, 40
_TAIL = 1e-13


@dataclass(frozen=True)
class Noise:
    """Noise of one bucket: a mean of Poisson noise, or the decay of geometric noise."""

    kind: str
    size: float

    @property
    def variance(self) -> float:
        """Of the noise."""
        if self.kind == "Poisson":
            return self.size
        return 2.0 * self.size / (1.0 - self.size) ** 2

    def delta(self, epsilon: float, weight: int, rate: float) -> float:
        """Returns delta of a changed answer."""
        masses, ratios, tails, moved_tails = _tables(self, weight)
        kept = math.expm1(epsilon) * (1.0 - rate)
        wanted = kept + math.exp(epsilon) * rate * ratios
        # Above this count of the first bucket, the answer is more likely there.
        first = np.searchsorted(ratios, wanted / rate, side="right")
        terms = rate * moved_tails[first] - wanted * tails[first]
        return float(masses @ terms)


@lru_cache(maxsize=64)
def _tables(noise: Noise, weight: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Returns masses, ratios, and P(N >= x), P(N + w >= x) on a window of counts."""
    if noise.kind == "Poisson":
        low = float(poisson.ppf(_TAIL, noise.size))
        high = float(poisson.isf(_TAIL, noise.size))
        counts = np.arange(max(low - 1, 0), high + 2 + weight)
        masses = poisson.pmf(counts, noise.size)
        steps = np.arange(weight)
        factors = np.maximum(counts[:, None] - steps, 0.0) / noise.size
        ratios = np.prod(factors, axis=1)
    else:
        reach = math.ceil(math.log(_TAIL) / math.log(noise.size)) + weight
        counts = np.arange(-reach, reach + 1.0)
        scale = (1.0 - noise.size) / (1.0 + noise.size)
        masses = scale * noise.size ** np.abs(counts)
        ratios = noise.size ** (np.abs(counts - weight) - np.abs(counts))
    tails = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
    moved = np.append(np.cumsum((masses * ratios)[::-1])[::-1], 0.0)
    return masses, ratios, tails, moved


def largest_rate(noise: Noise, weight: int, epsilon: float) -> float:
    """Returns about the largest rate that keeps a target."""
    if noise.delta(epsilon, weight, 1.0) <= DELTA:
        return 1.0

    def excess(log: float) -> float:
        delta = noise.delta(epsilon, weight, math.exp(log))
        return math.log(max(delta, 1e-300) / DELTA)

    # Delta is convex in the rate, and 0 without a message.
    low = -1.0
    while excess(low) > 0.0:
        low *= 2.0
    return math.exp(brentq(excess, low, 0.0, xtol=1e-5))


def smallest_noise(kind: str, weight: int, epsilon: float) -> Noise:
    """Returns about the least noise at which all messages of a target are sent."""

    def noise(log: float) -> Noise:
        size = math.exp(log)
        # The deviation of geometric noise is about sqrt 2 / -log p.
        size = size**2 if kind == "Poisson" else math.exp(-math.sqrt(2.0) / size)
        return Noise(kind, size)

    def excess(log: float) -> float:
        delta = noise(log).delta(epsilon, weight, 1.0)
        return math.log(max(delta, 1e-300) / DELTA)

    usual = math.log(2.0 * weight / epsilon)
    log = brentq(excess, usual - 2.0, usual + 3.0, xtol=1e-6)
    # The side that keeps the target.
    return noise(log + 2e-6)


@dataclass(frozen=True)
class Choices:
    """Means r w that each target can send with one noise, and their variances."""

    noise: Noise
    means: tuple[Floats, ...]
    variances: tuple[Floats, ...]
    weights: tuple[Floats, ...]


def choices(
    kind: str, targets: tuple[float, ...], *, weighted: bool
) -> Iterator[Choices]:
    """Yields what people can send, for every size of noise that is tried."""
    most = [
        min(math.ceil(_LEAST_WEIGHTS * epsilon / targets[0]), _MOST_WEIGHTS)
        if weighted
        else 1
        for epsilon in targets
    ]
    sent = [
        smallest_noise(kind, weight, epsilon)
        for epsilon, last in zip(targets, most, strict=True)
        for weight in range(1, last + 1)
    ]
    low, high = (
        pick(sent, key=lambda noise: noise.variance).size for pick in (min, max)
    )
    tried = [Noise(kind, size) for size in _between(kind, low, high)]
    for noise in sorted({*sent, *tried}, key=lambda noise: noise.variance):
        columns = [
            _of_target(noise, epsilon, last)
            for epsilon, last in zip(targets, most, strict=True)
        ]
        means, variances, weights = zip(*columns, strict=True)
        yield Choices(noise, means, variances, weights)


def _between(kind: str, low: float, high: float) -> list[float]:
    if kind == "Poisson":
        sizes: list[float] = np.geomspace(low, high, _SIZES).tolist()
        return sizes
    logs = np.geomspace(-math.log(low), -math.log(high), _SIZES)
    return np.exp(-logs).tolist()  # type: ignore[no-any-return]


def _of_target(
    noise: Noise, epsilon: float, most: int
) -> tuple[Floats, Floats, Floats]:
    means, variances, weights = [], [], []
    best = 0.0
    for weight in range(1, most + 1):
        rate = largest_rate(noise, weight, epsilon)
        # More copies that are sent as rarely as this add variance alone.
        if rate * weight < 0.7 * best:
            break
        best = max(best, rate * weight)
        # Whole weights that all send need no others; one target's rate may be any.
        steps = [1.0] if rate == 1.0 and most > 1 else []
        rates = np.unique([*steps, *(rate * np.linspace(1 / _RATES, 1.0, _RATES))])
        if most > 1:
            rates = rates[rates * weight > 0.98 * (weight - 1) * (rate == 1.0)]
        means.append(weight * rates)
        variances.append(weight**2 * rates * (1.0 - rates))
        weights.append(np.full(rates.size, float(weight)))
    return np.concatenate(means), np.concatenate(variances), np.concatenate(weights)


def best_error(tried: list[Choices], counts: Floats, share: float) -> tuple[float, str]:
    """Returns the smallest error of a count, and what is sent for it."""
    least, sent = math.inf, ""
    n = float(counts.sum())
    for each in tried:
        total, squares, sampling = np.zeros(()), np.zeros(()), np.zeros(())
        for people, means, variances in zip(
            counts, each.means, each.variances, strict=True
        ):
            total = np.add.outer(total, people * means)
            squares = np.add.outer(squares, people * means**2)
            sampling = np.add.outer(sampling, people * variances)
        spread = np.maximum(squares - total**2 / n, 0.0) * n / (n - 1.0)
        variance = each.noise.variance + share * sampling
        variance = (variance + share * (1.0 - share) * spread) * (n / total) ** 2
        index = np.unravel_index(int(np.argmin(variance)), variance.shape)
        if variance[index] < least**2:
            least = math.sqrt(float(variance[index]))
            picked = zip(each.means, each.weights, index, strict=True)
            sent = ", ".join(
                f"{weights[at]:.0f} x {means[at] / weights[at]:.3g}"
                for means, weights, at in picked
            )
    return least, sent
