"""Products of matrices in blocks, beside exact sums of their terms."""

import math

import numpy as np
import pytest

from shuffledp.accounting.sums.matrix_products import complex_product, real_product


@pytest.mark.parametrize(
    ("rows", "columns", "terms"),
    [(1, 1, 1), (16, 64, 256), (17, 65, 257), (3, 130, 600), (40, 2, 255)],
)
def test_every_entry_is_the_sum_of_its_terms(
    rows: int, columns: int, terms: int
) -> None:
    rng = np.random.default_rng(rows)
    left, right = rng.normal(size=(rows, terms)), rng.normal(size=(columns, terms))

    product = real_product(left, right)

    assert product.shape == (rows, columns)
    for row in range(rows):
        for column in range(columns):
            exact = math.fsum(left[row] * right[column])
            most = 1.2e-16 * terms * float(np.abs(left[row]) @ np.abs(right[column]))
            assert abs(product[row, column] - exact) <= most + 1e-300


def test_complex_products_take_no_conjugates() -> None:
    left, right = np.array([[[1.0, 0.0]], [[2.0, 3.0]]]), np.array([[[5.0]], [[7.0]]])

    # (1 + 2i) (5 + 7i) + (3i) (1 - i).
    both = np.concatenate([right, [[[1.0]], [[-1.0]]]], axis=2)

    assert complex_product(left, both).tolist() == [[-9 + 17j + 3 + 3j]]


def test_mirrored_columns_are_those_of_conjugates() -> None:
    rng = np.random.default_rng(3)
    left, right = rng.normal(size=(2, 5, 7)), rng.normal(size=(2, 4, 7))
    conjugates = (right * np.array([1.0, -1.0])[:, None, None])[:, :0:-1]

    product = complex_product(left, right, mirrored=3)

    whole = complex_product(left, np.concatenate([conjugates, right], axis=1))
    assert np.abs(product - whole).max() <= 1e-14
