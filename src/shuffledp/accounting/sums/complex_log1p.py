"""log(1 + x) of complex numbers, to be multiplied by the number of people."""

import numpy as np

from shuffledp.types import Complexes


def log1p(x: Complexes) -> Complexes:
    """Returns log(1 + x), whose error is a few 1e-16 of |x|."""
    # NumPy takes the logarithm of |1 + x|, whose error is 1e-16 however small x is:
    # with 10^9 people in front, that would be 1e-7.
    real, imaginary = x.real, x.imag
    # |1 + x|^2 - 1, accurate where x is small; where 1 + x is, its modulus is taken itself.
    excess = 2.0 * real + real * real + imaginary * imaginary
    small = excess < -0.5
    logs: Complexes = np.empty(x.shape, dtype=np.complex128)
    logs.real = 0.5 * np.log1p(np.where(small, 0.0, excess))
    if small.any():
        with np.errstate(divide="ignore"):
            logs.real[small] = np.log(np.hypot(1.0 + real[small], imaginary[small]))
    logs.imag = np.arctan2(imaginary, 1.0 + real)
    return logs
