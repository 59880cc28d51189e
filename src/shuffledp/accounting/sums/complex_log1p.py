"""log(1 + x) of complex numbers, to be multiplied by the number of people."""

import numpy as np

from shuffledp.types import Complexes, Floats


def log1p(x: Complexes) -> Complexes:
    """Returns log(1 + x), whose error is a few 1e-16 of |x|."""
    logs: Complexes = np.empty(x.shape, dtype=np.complex128)
    # Copies, as parts of complex numbers lie apart from each other.
    real, imaginary = (
        np.ascontiguousarray(part, dtype=np.float64) for part in (x.real, x.imag)
    )
    logs.real, logs.imag = log1p_parts(real, imaginary)
    return logs


def log1p_parts(real: Floats, imaginary: Floats) -> tuple[Floats, Floats]:
    """Returns the parts of log(1 + x), of those of x and of their shape."""
    # NumPy takes the logarithm of |1 + x|, whose error is 1e-16 however small x is:
    # with 10^9 people in front, that would be 1e-7.
    # |1 + x|^2 - 1, accurate where x is small; where 1 + x is, its modulus is taken itself.
    excess = 2.0 * real + real * real + imaginary * imaginary
    small = excess < -0.5
    is_any_small = small.any()
    if is_any_small:
        excess[small] = 0.0
    logs: Floats = 0.5 * np.log1p(excess)
    if is_any_small:
        with np.errstate(divide="ignore"):
            logs[small] = np.log(np.hypot(1.0 + real[small], imaginary[small]))
    return logs, np.arctan2(imaginary, 1.0 + real)
