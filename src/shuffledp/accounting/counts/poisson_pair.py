"""One item replaced by another among Poisson blanket messages: both ends of its profile.

The counts of the two items are, in the two worlds,

    P: (X + B, Y)    Q: (X, Y + B)    X, Y ~ Poisson(mu), B ~ Bernoulli(lambda).

With a(x) = 1 - lambda + lambda x / mu, P has the density a(x) and Q the density a(y)
against the distribution of (X, Y), and the pair is its own mirror image: one direction
is enough. With E = e^epsilon, p the distribution of X and S its upper tail,

    delta(epsilon) = sum over y of p(y) sum over x >= k(y) of p(x) (a(x) - E a(y)),
    inner sum = lambda p(k - 1) - ((E - 1) a(y) + lambda (y - mu) / mu) S(k),

where k(y) is the smallest integer above y + (E - 1) a(y) mu / lambda, as
sum_{x >= k} p(x) (x - mu) = mu p(k - 1). One pass over a window of y, no double sum.

*Errors.* Masses in the window come from ratios of neighbors, each a few roundings, scaled
to add up to 1; the mass outside is bounded by Bernstein's inequality. A k that is off by
rounding misses or adds a term of about 0. All this is added, or subtracted.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from shuffledp.types import Floats

# Blanket messages per item that the accountant takes: windows grow with their root.
LARGEST_MEAN = 1e9
SMALLEST_MEAN = 1e-9

# Probability beyond each end of the window; wide windows, of large means, are cut a little
# earlier.
_NEGLIGIBLE = 1e-100
_NEGLIGIBLE_OF_LARGE = 1e-50
_LARGE = 1e5
_ULP = 2.3e-16


@dataclass(frozen=True, eq=False)
class PoissonWindow:
    """A Poisson distribution where it is not negligible.

    Attributes:
        first: The first count of the window.
        masses: P(X = first + i), shape (size,).
        tails: P(X >= first + i) up to the window's end, shape (size + 1,).
        outside: Bound of the probability of either side beyond the window, with the last
            count of the window itself.
        doubt: Bound of the relative error of masses and tails.
    """

    first: int
    masses: Floats
    tails: Floats
    outside: float
    doubt: float

    @property
    def counts(self) -> Floats:
        """The counts of the window, shape (size,)."""
        return self.first + np.arange(self.masses.size, dtype=np.float64)


@lru_cache(maxsize=8)
def poisson_window(mean: float, least: float = 0.0) -> PoissonWindow:
    """Returns the distribution of Poisson(mean), mean > 0, without its far tails.

    Args:
        mean: Mean of the distribution.
        least: A probability that may be left out on either side.
    """
    negligible = max(_NEGLIGIBLE if mean <= _LARGE else _NEGLIGIBLE_OF_LARGE, least)
    # P(X >= mu + t) <= exp(-t^2 / (2 (mu + t / 3))), P(X <= mu - t) <= exp(-t^2 / (2 mu)).
    log = -math.log(negligible)
    up = log / 3.0 + math.sqrt((log / 3.0) ** 2 + 2.0 * mean * log)
    mode = math.floor(mean)
    first = max(math.floor(mean - math.sqrt(2.0 * mean * log)) - 1, 0)
    last = math.ceil(mean + up) + 1
    above = mean / np.arange(mode + 1, last + 1, dtype=np.float64)
    below = np.arange(mode, first, -1, dtype=np.float64) / mean
    ratios = np.concatenate([np.cumprod(below)[::-1], [1.0], np.cumprod(above)])
    masses = ratios / ratios.sum()
    tails = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
    for array in (masses, tails):
        array.setflags(write=False)
    return PoissonWindow(
        first, masses, tails, 1.01 * negligible, (4.0 * masses.size + 40.0) * _ULP
    )


@dataclass(frozen=True)
class PoissonPair:
    """One item replaced by another.

    Attributes:
        mean: mu > 0, blanket messages per item in the mean.
        send_probability: lambda, in [0, 1].
        outside: A probability that bounds may leave out on either side, and add.
    """

    mean: float
    send_probability: float
    outside: float = 0.0

    @property
    def _window(self) -> PoissonWindow:
        return poisson_window(self.mean, self.outside)

    @property
    def counts(self) -> Floats:
        """The counts of the window."""
        return self._window.counts

    def ratios(self) -> Floats:
        """Returns a(x) at every count of the window."""
        probability = self.send_probability
        ratios: Floats = (1.0 - probability) + probability * (self.counts / self.mean)
        return ratios

    def upper(self, epsilon: float) -> float:
        """Returns a proven upper bound of delta at `epsilon` >= 0."""
        divergence, error = self._delta(epsilon)
        return min(divergence + error, 1.0)

    def lower(self, epsilon: float) -> float:
        """Returns a proven lower bound of delta at `epsilon` >= 0."""
        divergence, error = self._delta(epsilon)
        return max(divergence - error, 0.0)

    def _delta(self, epsilon: float) -> tuple[float, float]:
        """Returns the sum over the window, and a bound of all its errors."""
        probability, window = self.send_probability, self._window
        if probability == 0.0:
            return 0.0, 0.0
        factors, growth = _window_factors(self), math.expm1(epsilon)
        growing = growth * factors.ratios
        with np.errstate(over="ignore"):
            # Of a tiny probability the quotient is infinite, and no multiple of 0.
            scale = self.mean / probability if growth > 0.0 else 0.0
            above = factors.counts + growing * scale
        # Rising with y: what is above the window adds nothing.
        last = window.first + window.masses.size
        used = int(np.searchsorted(above, last, side="left"))
        # No count lies above its own k: where numbers are none, that of the first stands.
        k = np.floor(above[:used]).astype(np.int64)
        k += 1 - window.first
        np.maximum(k, 1, out=k)
        tails, edges = window.tails[k], window.masses[k - 1]
        growing, masses = growing[:used], window.masses[:used]
        falls = growing + factors.falls[:used]
        inner = np.maximum(probability * edges - falls * tails, 0.0)
        divergence = float((masses * inner).sum())
        sizes = growing + factors.sizes[:used]
        doubt = 4.0 * window.doubt + 40.0 * _ULP
        error = doubt * float((masses * sizes * (edges + tails)).sum())
        return divergence, error * (1.0 + 1e-9) + 10.0 * window.outside


@dataclass(frozen=True, eq=False)
class _WindowFactors:
    """Factors of a pair at the counts y of its window, each of shape (size,).

    Attributes:
        counts: y.
        ratios: a(y).
        falls: lambda (y - mu) / mu.
        sizes: lambda (1 + y / mu).
    """

    counts: Floats
    ratios: Floats
    falls: Floats
    sizes: Floats


# Of the pair whose profile is evaluated: windows are long.
@lru_cache(maxsize=1)
def _window_factors(pair: PoissonPair) -> _WindowFactors:
    counts, probability = pair.counts, pair.send_probability
    return _WindowFactors(
        counts,
        pair.ratios(),
        probability * ((counts - pair.mean) / pair.mean),
        probability * (1.0 + counts / pair.mean),
    )
