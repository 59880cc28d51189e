"""Sums of e^{z L} - 1 at the points z of a grid on a vertical line, accurate near 0."""

import numpy as np

from shuffledp.accounting.sums.complex_expm1 import expm1_parts
from shuffledp.accounting.sums.matrix_products import complex_product, real_product
from shuffledp.types import Complexes, Floats

# The system's allocator gives freed blocks back that are larger than all that were freed
# before, and to get them again takes as long as the sums. One larger block keeps them.
np.empty(1 << 21, dtype=np.uint8)


def grid_sums(
    outer: Complexes,
    inner: Complexes,
    losses: Floats,
    weights: Floats,
    *,
    mirrored: int = 0,
) -> Complexes:
    """Returns sums of weights (e^{z losses} - 1), shape (sums, m, n).

    Args:
        outer: Points of one real part, shape (m,); z is the sum of one of them and a step.
        inner: Small steps of one real part, shape (n,).
        losses: Shape (losses,).
        weights: Of each sum, shape (sums, losses).
        mirrored: How many of the first steps are conjugates of the last ones.
    """
    # With A = e^{a L} - 1 and B = e^{b L} - 1, e^{(a + b) L} - 1 = (1 + A) B + A is
    # accurate near 0, and the sums over losses are products of matrices.
    near = expm1_parts(inner[mirrored:], losses)
    far = expm1_parts(outer, losses)
    weighted = far[:, np.newaxis] * weights[:, np.newaxis]
    weighted[0] += weights[:, np.newaxis]
    weighted = weighted.reshape(2, -1, losses.size)
    sums = complex_product(weighted, near, mirrored=mirrored)
    real, imaginary = real_product(far.reshape(-1, losses.size), weights).reshape(
        2, outer.size, -1
    )
    sums = sums.reshape(weights.shape[0], outer.size, inner.size)
    sums += (real + 1j * imaginary).T[:, :, np.newaxis]
    return sums
