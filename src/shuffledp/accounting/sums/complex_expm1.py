"""e^{z L} - 1 on a vertical line of the complex plane, accurate near 0."""

import numpy as np

from shuffledp.types import Complexes, Floats


def expm1_parts(steps: Complexes, losses: Floats) -> Floats:
    """Returns the parts of e^{z L} - 1 for steps z of one real part.

    Returns:
        Real and imaginary parts, shape (2, steps, losses).
    """
    # np.expm1 would compute the real part, which all steps share, for each of them:
    # e^{x + iy} - 1 = e^x - 1 - 2 e^x sin(y / 2)^2 + 2 i e^x sin(y / 2) cos(y / 2).
    real = np.expm1(steps.real[0] * losses)
    half = np.multiply.outer(0.5 * steps.imag, losses)
    sine, cosine = np.sin(half), np.cos(half)
    twice = 2.0 * (1.0 + real) * sine
    return np.stack([real - twice * sine, twice * cosine])
