"""The exact distribution of a sum of independent Bernoulli draws.

For the lower bound nothing may be rounded to one side, so probabilities are kept as they
are. Many distinct ones are grouped all the same: with group mean c and v = e^z - 1,

    sum_i log(1 + p_i v) = n log(1 + c v) - sum_{j >= 2} S_j / j (-v / (1 + c v))^j,

S_j being the group's central power sums. Within 1/64 of the mean the series converges so
fast that five terms leave less than 1e-10 wherever the function is not tiny.
"""

from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.sums.binomial import deviation
from shuffledp.accounting.sums.complex_log1p import log1p
from shuffledp.accounting.sums.grouping import MAX_GROUPS, grouped_blocks
from shuffledp.accounting.sums.rounding import sum_rounding
from shuffledp.types import Complexes, Floats, Ints

# Orders 2 to 6 of the logarithm's series; around a group's mean there is no first one.
_TERMS = 5
# Below this variance, draws near 1/2 are not grouped; there are few of them.
_FEW = 1000.0
# The characteristic function is taken as 0 where it is certainly below exp(-_FLAT).
_FLAT = 45.0


@dataclass(frozen=True, eq=False)
class BernoulliSum:
    """A sum of independent Bernoulli draws; build it with `bernoulli_sum`.

    Attributes:
        means: Mean probability of each group, shape (groups,).
        counts: Bernoulli draws in each group, shape (groups,).
        powers: Central power sums S_2, S_3, ... of each group, shape (terms, groups).
        reach: Largest distance of a Bernoulli draw of each group from its mean, shape
            (groups,).
        mean: Expected value of the sum.
        variance: Variance of the sum.
    """

    means: Floats
    counts: Floats
    powers: Floats
    reach: Floats
    mean: float
    variance: float

    def log_generating(self, z: Complexes) -> Complexes:
        """Returns log E[e^{z X}], shape as `z`."""
        v: Complexes = np.expm1(z)[:, None]
        logs: Complexes = log1p(self.means * v)
        # einsum: these products are too small for threads to pay.
        log_sums: Complexes = np.einsum("zg,g->z", logs, self.counts)
        if self.powers.any():
            ratio = -v / (1.0 + self.means * v)
            term = ratio
            for order, powers in enumerate(self.powers, start=2):
                term = term * ratio
                log_sums = log_sums - np.einsum("zg,g->z", term, powers) / order
        return log_sums

    def log_error(self, z: Complexes) -> Floats:
        """Returns a bound of the error of `log_generating`, shape as `z`; maybe inf.

        It covers the series that is cut off and the rounding of every draw's logarithm.
        """
        v = np.expm1(z)[:, None]
        unit = 1e-15 + sum_rounding(self.counts.size)
        rounding: Floats = unit * self.mean * np.abs(z) + 1e-15 * np.abs(v[:, 0])
        if not self.reach.any():
            return rounding
        below = np.abs(1.0 + self.means * v)
        ratio = self.reach * np.abs(v) / np.maximum(below, 1e-300)
        left_out = np.full(ratio.shape, np.inf)
        order = _TERMS + 2
        small = ratio < 0.5
        # The first term that is left out, twice: further ones halve at least.
        left_out[small] = 2.0 * ratio[small] ** order / order
        left_out[:, self.reach == 0.0] = 0.0
        error: Floats = np.einsum("zg,g->z", left_out, np.maximum(self.counts, 0.0))
        return error + rounding

    def without(self, probability: float) -> "BernoulliSum":
        """Returns the sum of all draws but one of this probability."""
        return BernoulliSum(
            np.append(self.means, probability),
            # A Bernoulli draw that is there -1 times divides its factor out of the
            # function.
            np.append(self.counts, -1.0),
            np.pad(self.powers, ((0, 0), (0, 1))),
            np.append(self.reach, 0.0),
            self.mean - probability,
            # Rounding must not leave a negative variance where one draw is all there
            # is.
            max(self.variance - probability * (1.0 - probability), 0.0),
        )

    def weights(self) -> tuple[int, Floats, float]:
        """Returns start, (P(X = start), P(X = start + 1), ...), and their error.

        The mass outside is below 1e-17. The error is a bound for each.
        """
        reach = float(deviation(self.variance, 1e-18))
        start = max(0, int(self.mean - reach))
        # Imported on use: it takes long to load.
        from scipy import fft

        size = fft.next_fast_len(int(self.mean + reach) + 2 - start, real=True)
        omega = 2.0 * np.pi * np.arange(size // 2 + 1) / size
        visible = self.variance * (1.0 - np.cos(omega)) < _FLAT
        spectrum = np.zeros(omega.size, dtype=np.complex128)
        z = 1j * omega[visible]
        spectrum[visible] = np.exp(self.log_generating(z) - z * start)
        weights: Floats = fft.irfft(spectrum.conj(), size)
        doubt = np.expm1(np.minimum(self.log_error(z), 1.0)) + 1e-15
        error = 2.0 * float(np.abs(spectrum[visible]) @ doubt) / size + 1e-17
        return start, np.maximum(weights, 0.0), error


def bernoulli_sum(probabilities: Floats, counts: Ints) -> BernoulliSum:
    """Returns the sum of counts[j] draws of probability probabilities[j], for all j."""
    n: Floats = counts.astype(np.float64)
    mean = float(n @ probabilities)
    variance = float(n @ _variances(probabilities))
    if probabilities.size > MAX_GROUPS and variance >= _FEW:
        return BernoulliSum(*_grouped(probabilities, n), mean, variance)
    is_ungrouped = np.ones(probabilities.size, dtype=np.bool_)
    if probabilities.size > MAX_GROUPS:
        # Near 1/2, 1 + c v may vanish, but only for large v, which matter for few
        # draws.
        is_ungrouped = np.abs(probabilities - 0.5) < 0.3
    means, members, powers, reach = _grouped(
        probabilities[~is_ungrouped], n[~is_ungrouped]
    )
    singles = int(np.count_nonzero(is_ungrouped))
    return BernoulliSum(
        np.append(means, probabilities[is_ungrouped]),
        np.append(members, n[is_ungrouped]),
        np.pad(powers, ((0, 0), (0, singles))),
        np.pad(reach, (0, singles)),
        mean,
        variance,
    )


def _variances(probabilities: Floats) -> Floats:
    variances: Floats = 1.0 - probabilities
    variances *= probabilities
    return variances


def _grouped(probabilities: Floats, n: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Returns mean, size, central power sums and reach of groups of similar draws."""
    if probabilities.size == 0:
        return np.zeros(0), np.zeros(0), np.zeros((_TERMS, 0)), np.zeros(0)
    people, means, reach = np.zeros((3, MAX_GROUPS))
    for block, group in grouped_blocks(probabilities):
        np.add.at(people, group, n[block])
        np.add.at(means, group, n[block] * probabilities[block])
    means /= np.maximum(people, 1)
    powers = np.zeros((_TERMS, MAX_GROUPS))
    for block, group in grouped_blocks(probabilities):
        offset = probabilities[block] - means[group]
        np.maximum.at(reach, group, np.abs(offset))
        term = n[block] * offset
        for order in range(_TERMS):
            term *= offset
            np.add.at(powers[order], group, term)
    used = people > 0
    members: Floats = people[used].astype(np.float64)
    return means[used], members, powers[:, used], reach[used]
