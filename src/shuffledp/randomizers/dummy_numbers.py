"""Numbers of dummies, drawn by Bernoulli draws: exact up to the rounding of probabilities.

A number has the probability p^{|j|} / S, |j| <= c, S = 1 + 2 (p + ... + p^c). It is 0 or
not, by one draw; its sign is fair; and its distance to 0 is 1 + G, G geometric, G < c.

The bits of a geometric number without that limit are independent: bit k is one with the
probability x / (1 + x), x = p^{2^k}. Numbers of as many bits as c - 1 has are drawn so, and
again if G >= c. Every probability x / (1 + x) is right up to six roundings of itself and of
its complement, as it is at most one half; so G is right up to 12 for each of at most 17
bits, the limit's effect included. A sum of c powers is right up to c + 40 roundings.
"""

import numpy as np
from numpy.typing import NDArray

from shuffledp.randomness import Rng, bernoulli_draws, check_rng


def draw_dummies(
    decay: float, dummies: int, size: int, *, rng: Rng
) -> NDArray[np.int64]:
    """Draws how many dummies each bucket gets, each from 0 to 2 c, shape (size,).

    Args:
        decay: p in (0, 1).
        dummies: c, at least 1.
        size: How many buckets.
        rng: The only source of randomness.
    """
    check_rng(rng)
    side = float((decay ** np.arange(1.0, dummies + 1.0)).sum())
    numbers = np.full(size, dummies, dtype=np.int64)
    moved_indices = np.flatnonzero(_is_other(2.0 * side, size, rng))
    signs = 2 * rng.integers(0, 2, size=moved_indices.size) - 1
    numbers[moved_indices] += signs * (
        1 + _geometric(decay, dummies, moved_indices.size, rng)
    )
    return numbers


def _is_other(weight: float, size: int, rng: Rng) -> NDArray[np.bool_]:
    """Draws whether a number is another than the middle one, of weight 1."""
    # From the rarer side, whose probability has no cancellation.
    if weight <= 1.0:
        return _repeated_draws(weight / (1.0 + weight), size, rng)
    return ~_repeated_draws(1.0 / (1.0 + weight), size, rng)


def _geometric(decay: float, limit: int, size: int, rng: Rng) -> NDArray[np.int64]:
    """Draws geometric numbers below a limit, shape (size,)."""
    numbers = np.zeros(size, dtype=np.int64)
    remaining = np.arange(size)
    while remaining.size:
        drawn = np.zeros(remaining.size, dtype=np.int64)
        for bit in range((limit - 1).bit_length()):
            power = float(decay) ** (1 << bit)
            is_one = _repeated_draws(power / (1.0 + power), remaining.size, rng)
            drawn += is_one.astype(np.int64) << bit
        numbers[remaining] = drawn
        remaining = remaining[drawn >= limit]
    return numbers


def _repeated_draws(probability: float, size: int, rng: Rng) -> NDArray[np.bool_]:
    # One row: all draws are of one party, whose stream is one.
    return bernoulli_draws(np.full((1, size), probability), rng=rng).ravel()
