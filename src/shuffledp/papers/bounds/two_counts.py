"""How well two counts tell x from x': the pair that clone arguments reduce to.

Of the others, C imitate the victim, each as likely for x as for x'. The adversary sees

    (A + 1, C - A)  with chance same,   (A, C - A + 1)  with chance other,
    (A, C - A)      with chance 1 - same - other,       A ~ Binomial(C, 1/2),

if she holds x, and the same with `same` and `other` swapped if she holds x'. Given the
total t of both counts, the ratio of the two probabilities grows with the first count k:
the divergence is a sum over t of tails of Binomial(t - 1, 1/2), without enumeration in k.

The reduction itself is not proven here; it is what the papers claim.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from shuffledp.accounting.sums.bernoulli_sum import coin_sum
from shuffledp.accounting.sums.binomial import binomial_weight, deviation
from shuffledp.types import Floats, Ints

# Coins rarer than this never fall; the arithmetic of smaller numbers would overflow.
_NEVER = 1e-250
# So much probability may be dropped at either end.
_TAIL = 1e-307
# Up to so many different coins are multiplied one by one, and keep their digits.
_FEW_COINS = 20_000
# So many distinct binomials are convolved directly whatever the number of people.
_FEW_GROUPS = 40


@dataclass(frozen=True, eq=False)
class CloneCount:
    """The law of C: P(C = start + k) = weights[k]."""

    start: int
    weights: Floats


def clone_count(probabilities: Floats, counts: Ints) -> CloneCount:
    """Returns the law of a sum of counts[j] coins of probability probabilities[j].

    Up to 40 distinct probabilities, or 20000 coins, weights have a relative error of about
    1e-12 wherever a double can hold them. Beyond, the error is absolute, about 1e-16, and
    what is less likely is left out.
    """
    used = (counts > 0) & (probabilities > _NEVER)
    probabilities, group = np.unique(probabilities[used], return_inverse=True)
    merged = np.zeros(probabilities.size, dtype=np.int64)
    np.add.at(merged, group, counts[used])
    if probabilities.size == 0:
        return CloneCount(0, np.ones(1))
    if probabilities.size <= _FEW_GROUPS:
        return _of_groups(probabilities, merged)
    if merged.sum() <= _FEW_COINS:
        return _of_coins(np.repeat(probabilities, merged))
    start, weights, _ = coin_sum(probabilities, merged).weights()
    return CloneCount(start, weights)


def divergence(
    clones: CloneCount, *, same: float, other: float, epsilon: float
) -> float:
    """Returns the divergence of order e^epsilon of the pair, at epsilon >= 0.

    Args:
        clones: The law of C.
        same: Chance that the victim's own report counts for her value; > other.
        other: Chance that it counts for the other value; same + other <= 1.
        epsilon: In nats.
    """
    neither = max(1.0 - same - other, 0.0)
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
    found = float(parts.sum())
    return min(math.exp(epsilon) * found, 1.0) if found > 0.0 else 0.0


def _tail(first: Floats, trials: Floats) -> Floats:
    """Returns P(Binomial(trials, 1/2) >= first), for first >= 1."""
    inside = first <= trials
    safe = np.where(inside, first, 1.0)
    rest = np.where(inside, trials - first + 1.0, 1.0)
    tail: Floats = np.where(inside, betainc(safe, rest, 0.5), 0.0)
    return tail


def _of_groups(probabilities: Floats, counts: Ints) -> CloneCount:
    start, weights = 0, np.ones(1)
    for probability, count in zip(probabilities, counts.tolist(), strict=True):
        mean = count * probability
        reach = float(deviation(mean * (1.0 - probability), _TAIL))
        low, high = (
            max(0, math.floor(mean - reach)),
            min(count, math.ceil(mean + reach)),
        )
        part = binomial_weight(np.arange(low, high + 1.0), count, float(probability))
        start, weights = start + low, np.convolve(weights, part)
    return CloneCount(start, weights)


def _of_coins(coins: Floats) -> CloneCount:
    """Multiplies generating functions in pairs; all terms are positive."""
    rows = np.stack([1.0 - coins, coins], axis=1)
    while rows.shape[0] > 1:
        if rows.shape[0] % 2:
            one = np.zeros((1, rows.shape[1]))
            one[0, 0] = 1.0
            rows = np.concatenate([rows, one])
        rows = _paired(rows[0::2], rows[1::2])
    return CloneCount(0, rows[0])


def _paired(left: Floats, right: Floats) -> Floats:
    """Convolves each row with its partner."""
    pairs, size = left.shape
    if pairs < size:
        return np.stack([np.convolve(*pair) for pair in zip(left, right, strict=True)])
    product = np.zeros((pairs, 2 * size - 1))
    for k in range(size):
        product[:, k : k + size] += left[:, k : k + 1] * right
    return product
