"""Truncation of noise messages by the report size, and a bound of its probability.

A person's noise is a Poisson number of jumps of several messages each. With lambda_k jumps
of k messages in the mean, the number M of messages has the masses

    g(0) = exp(-sum of lambda_k),   g(m) = (1 / m) sum over k of k lambda_k g(m - k)

(Panjer 1981, "Recursive evaluation of a family of compound distributions"), sums of
positive terms. A report holds `cap` of them, and what does not fit is cut. With jumps of at
most `cap` messages, and any number t > 0,

    P(M > cap) <= sum over cap < m <= top of g(m)
                  + exp(sum over k of lambda_k (e^{tk} - 1) - t (top + 1)),

and a longer jump occurs with a probability of at most its mean.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from shuffledp.accounting.counts.count_noise import CountNoise
from shuffledp.types import Floats

# The most noise messages of a report of constant size.
LARGEST_CAP = 4096

# With more jumps of a person in the mean, g(0) is too small to begin with.
_MOST_JUMPS = 300.0
# Relative error of a sum over all recursions: below 1e-7 for caps up to the largest.
_ROUNDING = 1e-6
# Terms that underflow, after all growth of a recursion.
_UNDERFLOW = 1e-150


def cut_bound(
    groups: Sequence[tuple[int, int, CountNoise]], *, num_honest: int, cap: int
) -> float:
    """Returns a bound of the probability that one person's noise does not fit.

    Args:
        groups: Buckets, the most of a person, and the noise of each group; without slots.
        num_honest: How many people together draw the noise.
        cap: Noise messages that a report holds, from 0 to LARGEST_CAP.
    """
    noise = tuple((buckets, noise) for buckets, _, noise in groups)
    return _cut_bound(noise, num_honest, cap)


@lru_cache(maxsize=1024)
def _cut_bound(
    noise: tuple[tuple[int, CountNoise], ...], num_honest: int, cap: int
) -> float:
    rates = np.zeros(cap + 1)
    longer = 0.0
    for buckets, each in noise:
        jumps, part = each.jumps(), buckets / num_honest
        for kinds, width in ((jumps.plus, 1), (jumps.minus, 1), (jumps.pairs, 2)):
            fitting = min(kinds.size, cap // width)
            # Jumps of 1, 2, ... times `width` messages.
            rates[width : width * fitting + 1 : width] += kinds[:fitting] * part
            longer += float(kinds[fitting:].sum()) * part
    tail = _tail(rates, cap)
    return min((tail + longer) * (1.0 + _ROUNDING) + _UNDERFLOW, 1.0)


def _tail(rates: Floats, cap: int) -> float:
    """Bounds P(M > cap) for jumps of k = 0, ..., cap messages, rates[k] in the mean."""
    if not rates.any():
        return 0.0
    total, top = float(rates.sum()), 2 * cap + 64
    if total > _MOST_JUMPS:
        return _chernoff(rates, cap)
    weights = np.arange(rates.size) * rates
    masses = np.zeros(top + 1)
    masses[0] = np.exp(-total)
    for m in range(1, top + 1):
        max_terms = min(m, cap)
        masses[m] = weights[1 : max_terms + 1] @ masses[m - max_terms : m][::-1] / m
    return float(masses[cap + 1 :].sum()) + _chernoff(rates, top)


def _chernoff(rates: Floats, maximum: int) -> float:
    """Bounds P(M > most): any t gives a bound, and the smallest is taken."""
    sizes = np.flatnonzero(rates)
    t = np.geomspace(1e-6, 600.0 / sizes[-1], 400)[:, None]
    exponents = np.expm1(t * sizes) @ rates[sizes] - t[:, 0] * (maximum + 1)
    # The terms cancel: their rounding is of the size of the largest.
    return float(np.exp(min(float(exponents.min()) + 1e-9 * (maximum + 1), 0.0)))
