"""Sets of items among blanket messages: the total number of messages tells, too.

The victim holds s items, or s others that nobody else holds. She sends each with
probability lambda; everybody sends m uniform items of d besides. With N blanket messages
in all, A of them in the first set and B in the second, V ~ Binomial(s, lambda) of hers and
R of the others', the adversary sees

    (A + V, B, N + V + R) on x   and   (A, B + V, N + V + R) on x'.

The law of A and B is a trinomial's. Where everybody else sends all items, N and R are
known, and so is V; for s = 1 nothing else tells about her.
"""

import math

import numpy as np
from scipy import stats

from shuffledp.papers.court.count_attack import number_inside
from shuffledp.papers.court.worlds import hockey_stick
from shuffledp.types import Floats, Ints

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
        sampling_rate: lambda of the victim.
        epsilon: In nats, >= 0.
        other_rates: lambda of the other people's groups; None if they send everything.
        other_counts: How many people are in each group.
    """
    s, blankets = items_per_user, num_users * blanket_messages
    base = blanket_law(blankets, s / num_items, s)
    size = base.shape[0] - s
    sent = stats.binom.pmf(np.arange(s + 1), s, sampling_rate)
    others = np.ones(1)
    if other_rates is not None and other_counts is not None:
        _, others = number_inside(other_rates, s * other_counts)
    found = 0.0
    for total in range(others.size + s):
        weights = [
            float(sent[v] * others[total - v]) if 0 <= total - v < others.size else 0.0
            for v in range(s + 1)
        ]
        if sum(weights) < _NEGLIGIBLE:
            continue
        here, there = np.zeros((size, size)), np.zeros((size, size))
        # base[a + s, b + s] is P(A = first + a, B = first + b).
        for v, weight in enumerate(weights):
            shifted, fixed = slice(s - v, s - v + size), slice(s, s + size)
            here += weight * base[shifted, fixed]
            there += weight * base[fixed, shifted]
        found += hockey_stick(here, there, epsilon)
    return found


def blanket_law(blankets: int, share: float, margin: int) -> Floats:
    """Returns the law of how many blanket messages fall into each of two sets.

    Args:
        blankets: How many there are.
        share: Chance of each set.
        margin: How many rows and columns to add on either side.

    Returns:
        P(A = first - margin + i, B = first - margin + j) for some `first`.
    """
    mean = blankets * share
    reach = _DEVIATIONS * math.sqrt(mean) + _MORE
    first, last = max(0, int(mean - reach)), min(blankets, int(mean + reach) + 1)
    values = np.arange(first - margin, last + 1 + margin)
    in_a, in_b = values[:, None], values[None, :]
    both = in_a + in_b
    # A binomial number in either set, of which every one is as likely in each.
    law = stats.binom.pmf(both, blankets, 2.0 * share)
    law = law * stats.binom.pmf(in_a, np.maximum(both, 0), 0.5)
    return np.where((in_a < 0) | (in_b < 0), 0.0, law)
