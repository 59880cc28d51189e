"""Delta of composed changes of buckets, approximately: for searches, never certified.

Losses of every change are rounded to a grid and convolved by Fourier transforms, which
takes milliseconds where a proven bound takes seconds.
"""

import math
from collections.abc import Sequence

import numpy as np

from shuffledp.accounting.counts.bucket_pair import BucketChange
from shuffledp.types import Floats

_NODES = 2**14
# The grid's ends, in standard deviations of the composed loss.
_DEVIATIONS = 14.0


def approximate_delta(changes: Sequence[BucketChange], epsilon: float) -> float:
    """Returns about the delta at epsilon of all changes together.

    Args:
        changes: Of all groups.
        epsilon: At least 0.
    """
    parts = [part for change in changes for part in _losses_of(change)]
    variance = sum(
        times * _moments(losses, masses)[1] for losses, masses, times in parts
    )
    end = 2.0 * epsilon + _DEVIATIONS * math.sqrt(variance)
    step = 2.0 * end / _NODES
    spectrum = np.ones(_NODES // 2 + 1, dtype=np.complex128)
    for losses, masses, times in parts:
        place = np.clip(losses / step, -_NODES // 2 + 1.0, _NODES // 2 - 2.0)
        left = np.floor(place)
        share = place - left
        nodes = left.astype(np.int64) % _NODES
        grid = np.bincount(nodes, weights=masses * (1.0 - share), minlength=_NODES)
        grid += np.bincount(
            (nodes + 1) % _NODES, weights=masses * share, minlength=_NODES
        )
        spectrum *= np.fft.rfft(grid) ** times
    composed = np.fft.irfft(spectrum, _NODES)
    # Indices from the middle on stand for losses below 0.
    loss = step * ((np.arange(_NODES) + _NODES // 2) % _NODES - _NODES // 2)
    gain = -np.expm1(np.minimum(epsilon - loss, 0.0))
    # With what only one of two data sets can cause, in any of the changes.
    revealed = -math.expm1(
        sum(change.times * math.log1p(-_revealed(change)) for change in changes)
    )
    return max(float(composed @ gain) + revealed, 1e-300)


def _losses_of(change: BucketChange) -> list[tuple[Floats, Floats, int]]:
    """Returns losses, their masses and how often they occur: of one bucket, or of two."""
    ratios = change.pair.ratios
    finite = (ratios > 0.0) & np.isfinite(ratios)
    losses = np.log(ratios[finite])
    parts = [(losses, change.pair.with_message[finite], change.times)]
    if change.moved:
        # The bucket that the message leaves: likelihoods are the other way round.
        parts.append((-losses, change.pair.without[finite], change.times))
    return parts


def _revealed(change: BucketChange) -> float:
    """Returns the mass of outcomes whose loss is infinite, below 1."""
    pair = change.pair
    mass = float(pair.with_message[pair.without == 0.0].sum())
    if change.moved:
        mass += float(pair.without[pair.with_message == 0.0].sum())
    return min(mass, 1.0 - 1e-16)


def _moments(losses: Floats, masses: Floats) -> tuple[float, float]:
    mean = float(masses @ losses)
    return mean, float(masses @ (losses - mean) ** 2)
