"""Attack on sets of items among blanket messages, by counts and the total number.

The target user holds s items, or s other items that no other user holds, and sends each
with probability lambda; all users send m uniform items of d besides. With N blanket
messages, A of them in the first set and B in the second, V ~ Binomial(s, lambda) items of
the target user and R of the others, the adversary sees

    (A + V, B, N + V + R) on x   and   (A, B + V, N + V + R) on x'.

A and B are trinomial. Where all others send all items, N and R are known, and so is V; for
s = 1 nothing else depends on the target user.
"""

import math

import numpy as np
from scipy import stats

from shuffledp.types import Floats, Ints
from shuffledp_papers.court.count_attack import number_inside
from shuffledp_papers.court.worlds import hockey_stick

_DEVIATIONS, _MORE = 10.0, 30
# Totals less likely than this are left out, which only lowers the result.
_NEGLIGIBLE = 1e-14


def item_divergence(
    *,
    num_users: int,
    num_items: int,
    blanket_messages: int,
    items_per_user: int,
    sampling_rate: float,
    epsilon: float,
    other_rates: Floats | None = None,
    other_counts: Ints | None = None,
) -> float:
    """Returns the exact divergence of both counts and the total, of x against x'.

    Args:
        num_users: n.
        num_items: d.
        blanket_messages: m, a whole number.
        items_per_user: s.
        sampling_rate: lambda of the target user.
        epsilon: In nats, >= 0.
        other_rates: lambda of the other users' groups; None if they send everything.
        other_counts: Number of users in each group.
    """
    s, blankets = items_per_user, num_users * blanket_messages
    base = blanket_distribution(blankets, s / num_items, s)
    size = base.shape[0] - s
    sent = stats.binom.pmf(np.arange(s + 1), s, sampling_rate)
    others = np.ones(1)
    if other_rates is not None and other_counts is not None:
        _, others = number_inside(other_rates, s * other_counts)
    divergence = 0.0
    # V + R is seen: the divergence is a sum over its values.
    for total in range(others.size + s):
        weights = [
            float(sent[v] * others[total - v]) if 0 <= total - v < others.size else 0.0
            for v in range(s + 1)
        ]
        if sum(weights) < _NEGLIGIBLE:
            continue
        first, second = np.zeros((size, size)), np.zeros((size, size))
        # base[a + s, b + s] is P(A = start + a, B = start + b).
        for v, weight in enumerate(weights):
            shifted, fixed = slice(s - v, s - v + size), slice(s, s + size)
            first += weight * base[shifted, fixed]
            second += weight * base[fixed, shifted]
        divergence += hockey_stick(first, second, epsilon)
    return divergence


def blanket_distribution(blankets: int, share: float, margin: int) -> Floats:
    """Returns the distribution of the numbers of blanket messages in two sets.

    Args:
        blankets: Number of blanket messages.
        share: Probability of each set.
        margin: Number of rows and columns to add on either side.

    Returns:
        P(A = start - margin + i, B = start - margin + j) for some `start`.
    """
    mean = blankets * share
    reach = _DEVIATIONS * math.sqrt(mean) + _MORE
    start, last = max(0, int(mean - reach)), min(blankets, int(mean + reach) + 1)
    values = np.arange(start - margin, last + 1 + margin)
    in_a, in_b = values[:, None], values[None, :]
    both = in_a + in_b
    # A + B is binomial, and each of these messages is as likely in either set.
    distribution = stats.binom.pmf(both, blankets, 2.0 * share)
    distribution = distribution * stats.binom.pmf(in_a, np.maximum(both, 0), 0.5)
    return np.where((in_a < 0) | (in_b < 0), 0.0, distribution)
