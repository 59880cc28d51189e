"""e^{x + iy}, with sine and cosine from one tangent, as in `complex_expm1`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.types import Complexes


def exp_of(
    real: NDArray[np.floating[Any]], imaginary: NDArray[np.floating[Any]]
) -> Complexes:
    """Returns e^{x + iy}, whose error is a few 1e-16 of its size, of the parts' shape."""
    tangents = np.tan(0.5 * imaginary)
    # With t = tan(y / 2), cos y = 2 / (1 + t^2) - 1 and sin y = 2 t / (1 + t^2).
    shares = 2.0 / (1.0 + tangents * tangents)
    sizes = np.exp(real)
    powers: Complexes = np.empty(sizes.shape, dtype=np.complex128)
    powers.real = sizes * (shares - 1.0)
    powers.imag = sizes * (shares * tangents)
    return powers
