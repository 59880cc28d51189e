"""The blanket bound of a victim among people who all give the same cover, by FFT.

Losses are spread onto a lattice so that their mean stays; sums are added up modulo its
length, which has to be more than any sum that matters. Good to some 1e-12, absolutely.
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
    place = np.floor(losses / step).astype(np.int64)
    share = losses / step - place

    def lattice(left: Floats, right: Floats) -> Floats:
        found = np.bincount(place % size, left, minlength=size)
        found += np.bincount((place + 1) % size, right, minlength=size)
        return np.asarray(np.fft.rfft(found))

    left, right = masses * (1.0 - share), masses * share
    one = lattice(left, right)
    first = lattice(left * place * step, right * (place + 1) * step)
    sums = np.fft.irfft(first * (1.0 - gamma + gamma * one) ** others, size)
    return float(sums[1 : size // 2].sum())
