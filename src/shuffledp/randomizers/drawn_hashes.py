"""Simulated support counts of local hashing, summed over all hash functions.

A message of local hashing, a function h and a bucket, supports v if h(v) is the bucket.
With h(v) = a_1 v_1 + ... + a_t v_t + b modulo g this depends on the a's and on c = b -
bucket only: v is supported if a_1 v_1 + ... + a_t v_t + c is zero. A user who holds v and
sends a message that supports it draws uniform a's, and c follows. So users are sorted by
one digit of a after the other, and only the remaining digits of their values and the
partial sum matter; supporters are added up the same way, in whole numbers.
"""

import numpy as np

from shuffledp.randomizers.drawn_counts import draw_multinomials
from shuffledp.types import Ints


def functions_of(
    values: Ints, buckets: int, digits: int, *, rng: np.random.Generator
) -> Ints:
    """Draws how often people who keep to their values send each function.

    Args:
        values: How many people hold each, shape (groups, g^t).
        buckets: g.
        digits: t.
        rng: A simulation's.

    Returns:
        Counts by a_1, ..., a_t as digits in base g, the last first, and by c, shape
        (groups, g^t, g).
    """
    groups, g = len(values), buckets
    # By a's so far, value's digits to come, and minus the sum so far.
    states = np.zeros((groups, 1, values.shape[1], g), dtype=np.int64)
    states[:, 0, :, 0] = values
    for _ in range(digits):
        digits_done = states.shape[1]
        # The highest digit of what is left of the value.
        split = states.reshape(groups, digits_done, g, -1, g)
        drawn = draw_multinomials(split.reshape(-1), np.ones(g), rng=rng)
        drawn = drawn.reshape(*split.shape, g)
        states = np.zeros((groups, digits_done, g, split.shape[3], g), dtype=np.int64)
        for a in range(g):
            for digit in range(g):
                part = drawn[:, :, digit, :, :, a]
                states[:, :, a] += np.roll(part, -a * digit, axis=-1)
        states = states.reshape(groups, digits_done * g, -1, g)
    return states[:, :, 0]


def supported(functions: Ints, buckets: int, digits: int) -> Ints:
    """Returns how many of the functions support each value, shape (groups, g^t).

    Args:
        functions: From `functions_of`, shape (groups, g^t, g).
        buckets: g.
        digits: t.
    """
    groups, g = len(functions), buckets
    # By value's digits so far, a's to come, and c plus the sum so far.
    states = functions[:, None]
    for _ in range(digits):
        digits_done = states.shape[1]
        split = states.reshape(groups, digits_done, g, -1, g)
        states = np.zeros((groups, digits_done, g, split.shape[3], g), dtype=np.int64)
        for digit in range(g):
            for a in range(g):
                states[:, :, digit] += np.roll(split[:, :, a], a * digit, axis=-1)
        states = states.reshape(groups, digits_done * g, -1, g)
    return states[:, :, 0, 0]
