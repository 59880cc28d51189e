"""Divergence of two counts, to which clone arguments reduce the shuffled messages.

Of the other users, C imitate the target user, each as likely for x as for x'. The adversary
sees

    (A + 1, C - A)  with probability same,  (A, C - A + 1)  with probability other,
    (A, C - A)      with probability 1 - same - other,      A ~ Binomial(C, 1/2),

if the target user holds x, and the same with `same` and `other` swapped on x'. Given the
total t of both counts, the ratio of the two probabilities grows with the first count k:
the divergence is a sum over t of tails of Binomial(t - 1, 1/2), without enumeration in k.

The reduction itself is a claim of the papers, and not proven here.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from shuffledp.accounting.sums.bernoulli_sum import bernoulli_sum
from shuffledp.accounting.sums.binomial import binomial_weight, deviation
from shuffledp.types import Floats, Ints

# Smaller probabilities count as 0: their arithmetic would overflow.
_NEVER = 1e-250
# Probability that may be dropped at either end: for deltas down to about 1e-300.
_TAIL = 1e-307
# Up to this many Bernoulli draws are multiplied one by one, and keep their digits.
_FEW_DRAWS = 20_000
# Up to this many distinct binomials are convolved directly, for any number of users.
_FEW_GROUPS = 40


@dataclass(frozen=True, eq=False)
class CloneCount:
    """Distribution of C: P(C = start + k) = weights[k]."""

    start: int
    weights: Floats


def clone_count(probabilities: Floats, counts: Ints) -> CloneCount:
    """Returns the distribution of a sum of Bernoulli draws, counts[j] of probability j.

    Up to 40 distinct probabilities, or 20000 draws, weights have a relative error of about
    1e-12 wherever a double can hold them. Beyond, the error is absolute, about 1e-16, and
    less likely values are left out.
    """
    used = (counts > 0) & (probabilities > _NEVER)
    probabilities, group = np.unique(probabilities[used], return_inverse=True)
    merged = np.zeros(probabilities.size, dtype=np.int64)
    np.add.at(merged, group, counts[used])
    if probabilities.size == 0:
        return CloneCount(0, np.ones(1))
    if probabilities.size <= _FEW_GROUPS:
        return _of_groups(probabilities, merged)
    if merged.sum() <= _FEW_DRAWS:
        return _of_draws(np.repeat(probabilities, merged))
    start, weights, _ = bernoulli_sum(probabilities, merged).weights()
    return CloneCount(start, weights)


def divergence(
    clones: CloneCount, *, same: float, other: float, epsilon: float
) -> float:
    """Returns the divergence of order e^epsilon of the pair, at epsilon >= 0.

    Args:
        clones: The distribution of C.
        same: Probability that the target user's message counts for their value; > other.
        other: Probability that it counts for the other value; same + other <= 1.
        epsilon: In nats.
    """
    neither = max(1.0 - same - other, 0.0)
    # A remainder of rounding would leave a third kind of message that does not exist.
    if neither < 1e-15:
        neither = 0.0
    weights = clones.weights
    # Totals from start (neither) to start + size (same or other).
    total = np.arange(weights.size + 1.0) + clones.start
    before = np.append(0.0, weights)
    after = np.append(weights, 0.0)
    # All divided by e^epsilon. Beyond 700 it overflows, and delta is what it tends to.
    epsilon = min(epsilon, 700.0)
    small = math.exp(-epsilon)
    rise = -math.expm1(-epsilon)
    gap = (same - other) * (1.0 + small)
    # Up to which second count x is more than e^epsilon times as likely: small numbers
    # keep their digits, while first counts are next to the total.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        lead = (same * small - other) - 0.5 * neither * rise * after / before
        second = np.where(before > 0.0, np.ceil(total * lead / gap) - 1.0, -1.0)
    first = total - second
    used = (second >= 0.0) & (total >= 1.0)
    first, trials = first[used], total[used] - 1.0
    before, after = before[used], after[used]
    peak = binomial_weight(first - 1.0, trials, 0.5)
    tail = _tail(first, trials)
    # Divided by e^epsilon: (same - e^epsilon other) peak - (e^epsilon - 1) (...).
    gain = (same * small - other) * peak - (same + other) * rise * tail
    loss = neither * rise * (tail + 0.5 * peak)
    # Every term is a maximum over thresholds, among them one that gives 0.
    parts = np.maximum(before * gain - after * loss, 0.0)
    scaled = float(parts.sum())
    return min(math.exp(epsilon) * scaled, 1.0) if scaled > 0.0 else 0.0


def _tail(first: Floats, trials: Floats) -> Floats:
    """Returns P(Binomial(trials, 1/2) >= first), for first >= 1."""
    inside = first <= trials
    # P(Binomial(n, p) >= k) = I_p(k, n - k + 1); elsewhere arguments that are allowed.
    successes = np.where(inside, first, 1.0)
    failures = np.where(inside, trials - first + 1.0, 1.0)
    tail: Floats = np.where(inside, betainc(successes, failures, 0.5), 0.0)
    return tail


def binomial_window(trials: int, probability: float) -> tuple[int, Floats]:
    """Returns Binomial(trials, probability) and its start, tails of 1e-307 left out."""
    mean = trials * probability
    reach = float(deviation(mean * (1.0 - probability), _TAIL))
    low, high = max(0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach))
    counts = np.arange(low, high + 1.0)
    return low, binomial_weight(counts, float(trials), probability)


def _of_groups(probabilities: Floats, counts: Ints) -> CloneCount:
    start, weights = 0, np.ones(1)
    for probability, count in zip(probabilities, counts.tolist(), strict=True):
        low, part = binomial_window(count, float(probability))
        start, weights = start + low, np.convolve(weights, part)
    return CloneCount(start, weights)


def _of_draws(probabilities: Floats) -> CloneCount:
    """Multiplies generating functions in pairs; all terms are positive."""
    rows = np.stack([1.0 - probabilities, probabilities], axis=1)
    while rows.shape[0] > 1:
        if rows.shape[0] % 2:
            # The generating function 1 makes the number of rows even.
            unit = np.zeros((1, rows.shape[1]))
            unit[0, 0] = 1.0
            rows = np.concatenate([rows, unit])
        rows = _paired(rows[0::2], rows[1::2])
    return CloneCount(0, rows[0])


def _paired(left: Floats, right: Floats) -> Floats:
    """Convolves each row with its partner."""
    pairs, size = left.shape
    # Loops over the smaller of both axes.
    if pairs < size:
        return np.stack([np.convolve(*pair) for pair in zip(left, right, strict=True)])
    product = np.zeros((pairs, 2 * size - 1))
    for k in range(size):
        product[:, k : k + size] += left[:, k : k + 1] * right
    return product
