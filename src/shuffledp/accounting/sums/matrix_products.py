"""Products of small matrices, on one thread.

Threads of a library of linear algebra wait for the next product by spinning: with
matrices as small as these they bring nothing, and multiply the processor time.
"""

import numpy as np

from shuffledp.types import Complexes, Floats

# OpenBLAS takes one thread for up to so many products of two numbers; other libraries are
# no slower with such blocks.
_PRODUCTS = 2**18
_COLUMNS, _TERMS = 64, 256


def real_product(left: Floats, right: Floats) -> Floats:
    """Returns the product of a matrix and a transposed one.

    Args:
        left: Shape (m, k).
        right: Shape (n, k).

    Returns:
        Shape (m, n). Each sum is off by no more than k products may be that are added one
        after the other.
    """
    num_rows = _PRODUCTS // max(right.size, 1)
    if num_rows >= min(left.shape[0], _COLUMNS):
        whole = np.empty((left.shape[0], right.shape[0]))
        for row in range(0, left.shape[0], num_rows):
            rows = slice(row, row + num_rows)
            np.matmul(left[rows], right.T, out=whole[rows])
        return whole
    product = np.zeros((left.shape[0], right.shape[0]))
    num_rows = _PRODUCTS // (_COLUMNS * min(max(right.shape[1], 1), _TERMS))
    for column in range(0, right.shape[0], _COLUMNS):
        for term in range(0, right.shape[1], _TERMS):
            terms = slice(term, term + _TERMS)
            block = right[column : column + _COLUMNS, terms].T
            for row in range(0, left.shape[0], num_rows):
                product[row : row + num_rows, column : column + _COLUMNS] += (
                    left[row : row + num_rows, terms] @ block
                )
    return product


def complex_product(left: Floats, right: Floats, *, mirrored: int = 0) -> Complexes:
    """Returns the product of a complex matrix and a transposed one, without conjugation.

    Args:
        left: Real and imaginary parts, shape (2, m, k).
        right: Real and imaginary parts, shape (2, n, k).
        mirrored: How many conjugates, of the last rows on the right, from the last one
            on, come before its rows.

    Returns:
        Shape (m, mirrored + n).
    """
    rows, columns = left.shape[1], right.shape[1]
    parts = real_product(
        left.reshape(2 * rows, left.shape[2]),
        right.reshape(2 * columns, right.shape[2]),
    )
    product = np.empty((rows, mirrored + columns), dtype=np.complex128)
    both, others = parts[:rows, :columns], parts[rows:, columns:]
    product.real[:, mirrored:] = both - others
    product.real[:, :mirrored] = (both + others)[:, columns - mirrored :][:, ::-1]
    both, others = parts[rows:, :columns], parts[:rows, columns:]
    product.imag[:, mirrored:] = others + both
    product.imag[:, :mirrored] = (both - others)[:, columns - mirrored :][:, ::-1]
    return product
