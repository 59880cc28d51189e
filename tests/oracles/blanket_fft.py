"""The blanket bound among users who all give the same cover, by FFT.

Losses are split between two lattice points so that their mean stays; sums are computed
modulo the lattice's length, which must exceed all sums of noticeable probability. The
absolute error is about 1e-12.
"""

import math

import numpy as np

from shuffledp.types import Floats


def blanket_by_fft(
    losses: Floats,
    masses: Floats,
    *,
    gamma: float,
    others: int,
    per_deviation: int = 40,
) -> float:
    """sum_m P(M = m) E[L_1 1{L_1 + ... + L_{m+1} > 0}], M ~ Bin(others, gamma)."""
    deviation = math.sqrt(masses @ losses**2)
    step = deviation / per_deviation
    span = 3.0 * np.abs(losses).max() + 40.0 * deviation * math.sqrt(others)
    size = 2 ** math.ceil(math.log2(span / step))
    index = np.floor(losses / step).astype(np.int64)
    share = losses / step - index

    def lattice(left: Floats, right: Floats) -> Floats:
        weights = np.bincount(index % size, left, minlength=size)
        weights += np.bincount((index + 1) % size, right, minlength=size)
        return np.asarray(np.fft.rfft(weights))

    left, right = masses * (1.0 - share), masses * share
    transform = lattice(left, right)
    first = lattice(left * index * step, right * (index + 1) * step)
    sums = np.fft.irfft(first * (1.0 - gamma + gamma * transform) ** others, size)
    return float(sums[1 : size // 2].sum())
