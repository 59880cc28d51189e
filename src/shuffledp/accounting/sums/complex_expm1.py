"""e^{z L} - 1 on a vertical line of the complex plane, accurate near 0.

Sines and cosines come from one tangent of half the angle, which takes a fraction of their
time: with t = tan(y / 2),

    2 sin(y / 2)^2 = 2 t^2 / (1 + t^2),  sin y = 2 t / (1 + t^2).

A tangent is right to a unit in the last place, also next to its poles, and is never so
large that its square overflows.
"""

import numpy as np

from shuffledp.types import Complexes, Floats


def expm1_parts(steps: Complexes, losses: Floats) -> Floats:
    """Returns the parts of e^{z L} - 1 for steps z of one real part.

    Returns:
        Real and imaginary parts, shape (2, steps, losses).
    """
    # np.expm1 would compute the real part, which all steps share, for each of them.
    real = np.expm1(steps.real[0] * losses)
    angles = np.multiply.outer(0.5 * steps.imag, losses)
    return _parts(real, np.tan(angles, out=angles))


def expm1(z: Complexes) -> Complexes:
    """Returns e^z - 1, whose error is a few 1e-16 of its size, shape as `z`."""
    powers: Complexes = np.empty(z.shape, dtype=np.complex128)
    powers.real, powers.imag = _parts(np.expm1(z.real), np.tan(0.5 * z.imag))
    return powers


def _parts(real: Floats, tangents: Floats) -> Floats:
    """Returns the parts of e^{x + iy} - 1 from e^x - 1 and tan(y / 2), overwritten.

    They are e^x - 1 - 2 e^x sin(y / 2)^2 and e^x sin y.
    """
    # In place: fresh memory takes longer than the arithmetic.
    parts = np.empty((2, *tangents.shape))
    np.multiply(tangents, tangents, out=parts[0])
    parts[0] += 1.0
    np.divide(tangents, parts[0], out=parts[1])
    parts[1] *= 2.0 * (1.0 + real)
    np.subtract(real, np.multiply(tangents, parts[1], out=tangents), out=parts[0])
    return parts
