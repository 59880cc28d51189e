"""Distributions of sums of independent, equally distributed scores, clipped to a range.

All sums are of positive terms, so that relative errors stay small.
"""

import numpy as np

from shuffledp.types import Floats

# Probabilities below the first are dropped: arithmetic on numbers near 1e-308 is slow.
# All that is dropped, over all scores, steps and buckets, is below the second.
_DROPPED, ALL_DROPPED = 1e-75, 1e-60


def summed(distribution: Floats, times: int, limit: int) -> Floats:
    """Returns the distribution of a sum of `times` scores, clipped to [-limit, limit].

    Clipping on the way is post-processing, too: the same in both worlds.
    """
    power = None
    reach = min(times * ((distribution.size - 1) // 2), limit)
    while True:
        # The first sums are narrow: most of a convolution would be of zeros.
        distribution = _trimmed(np.where(distribution < _DROPPED, 0.0, distribution))
        if times % 2:
            power = (
                distribution
                if power is None
                else clipped(np.convolve(power, distribution), limit)
            )
        times //= 2
        if not times:
            assert power is not None
            padding = reach - (power.size - 1) // 2
            return np.pad(np.where(power < _DROPPED, 0.0, power), padding)
        distribution = clipped(np.convolve(distribution, distribution), limit)


def sum_steps(times: int) -> int:
    """Returns by how many steps' relative error a sum of `times` scores may be off."""
    # A square doubles the error that it inherits.
    return 2 * times + 2


def _trimmed(distribution: Floats) -> Floats:
    """Returns a distribution on [-size, size] without zeros at both of its ends."""
    middle = (distribution.size - 1) // 2
    reach = int(np.abs(np.flatnonzero(distribution) - middle).max(initial=0))
    return distribution[middle - reach : middle + reach + 1]


def clipped(distribution: Floats, limit: int) -> Floats:
    """Returns a distribution on [-size, size] with what is beyond `limit` at the ends."""
    num_cut = (distribution.size - 1) // 2 - limit
    if num_cut <= 0:
        return distribution
    middle = distribution[num_cut:-num_cut].copy()
    middle[0] += distribution[:num_cut].sum()
    middle[-1] += distribution[-num_cut:].sum()
    return middle
