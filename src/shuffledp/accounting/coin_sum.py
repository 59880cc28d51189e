"""The exact distribution of a sum of independent coins, through its generating function.

For the lower bound nothing may be rounded to one side, so probabilities are kept as they
are. Many distinct ones are grouped all the same: with group mean c and v = e^z - 1,

    sum_i log(1 + p_i v) = n log(1 + c v) - sum_{j >= 2} S_j / j (-v / (1 + c v))^j,

S_j being the group's central power sums. Within 1/64 of the mean the series converges so
fast that five terms leave less than 1e-12 wherever the function is not tiny.
"""

from dataclasses import dataclass

import numpy as np
from scipy import fft

from shuffledp.accounting.binomial import deviation
from shuffledp.types import Complexes, Floats, Ints

_MAX_GROUPS = 64
_TERMS = 5
# The characteristic function is taken as 0 where it is certainly below exp(-_FLAT).
_FLAT = 45.0


@dataclass(frozen=True, eq=False)
class CoinSum:
    """A sum of independent coins; build it with `coin_sum`.

    Attributes:
        means: Mean probability of each group, shape (groups,).
        counts: Coins in each group, shape (groups,).
        powers: Central power sums S_2, S_3, ... of each group, shape (terms, groups).
        mean: Expected value of the sum.
        variance: Variance of the sum.
    """

    means: Floats
    counts: Floats
    powers: Floats
    mean: float
    variance: float

    def log_generating(self, z: Complexes) -> Complexes:
        """Returns log E[e^{z X}], shape as `z`."""
        v: Complexes = np.expm1(z)[:, None]
        logs: Complexes = np.log1p(self.means * v)
        result: Complexes = logs @ self.counts.astype(np.complex128)
        if self.powers.any():
            ratio = -v / (1.0 + self.means * v)
            term = ratio
            for order, powers in enumerate(self.powers, start=2):
                term = term * ratio
                result = result - (term @ powers) / order
        return result

    def without(self, probability: float) -> "CoinSum":
        """Returns the sum of all coins but one of this probability."""
        return CoinSum(
            np.append(self.means, probability),
            np.append(self.counts, -1.0),
            np.pad(self.powers, ((0, 0), (0, 1))),
            self.mean - probability,
            # Rounding must not leave a negative variance where one coin is all there is.
            max(self.variance - probability * (1.0 - probability), 0.0),
        )

    def tilted_mean(self, tilt: float) -> float:
        """Returns roughly the mean when each value a is weighted by e^{tilt a}."""
        odds = self.means * np.exp(tilt)
        return float(self.counts @ (odds / (1.0 - self.means + odds)))

    def weights(self) -> tuple[int, Floats]:
        """Returns (start, P(X = start), P(X = start + 1), ...), accurate to about 1e-15
        of the largest; what lies outside has a probability below 1e-17.
        """
        reach = float(deviation(self.variance, 1e-18))
        start = max(0, int(self.mean - reach))
        size = fft.next_fast_len(int(self.mean + reach) + 2 - start, real=True)
        omega = 2.0 * np.pi * np.arange(size // 2 + 1) / size
        visible = self.variance * (1.0 - np.cos(omega)) < _FLAT
        spectrum = np.zeros(omega.size, dtype=np.complex128)
        spectrum[visible] = np.exp(
            self.log_generating(1j * omega[visible]) - 1j * omega[visible] * start
        )
        weights: Floats = fft.irfft(spectrum.conj(), size)
        return start, np.maximum(weights, 0.0)


def coin_sum(probabilities: Floats, counts: Ints) -> CoinSum:
    """Returns the sum of counts[j] coins of probability probabilities[j], for all j."""
    n: Floats = counts.astype(np.float64)
    mean = float(n @ probabilities)
    variance = float(n @ (probabilities * (1.0 - probabilities)))
    if probabilities.size <= _MAX_GROUPS:
        none = np.zeros((0, probabilities.size))
        return CoinSum(probabilities, n, none, mean, variance)
    low, high = probabilities.min(), probabilities.max()
    scale = _MAX_GROUPS / max(high - low, 1e-300)
    group = np.minimum(
        ((probabilities - low) * scale).astype(np.int64), _MAX_GROUPS - 1
    )
    people = np.bincount(group, weights=n, minlength=_MAX_GROUPS)
    sums = np.bincount(group, weights=n * probabilities, minlength=_MAX_GROUPS)
    means: Floats = sums / np.maximum(people, 1.0)
    offset = probabilities - means[group]
    powers = np.zeros((_TERMS, _MAX_GROUPS))
    term = n * offset
    for order in range(_TERMS):
        term *= offset
        powers[order] = np.bincount(group, weights=term, minlength=_MAX_GROUPS)
    used = people > 0
    members: Floats = people[used].astype(np.float64)
    return CoinSum(means[used], members, powers[:, used], mean, variance)
