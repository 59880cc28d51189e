"""k-ary randomized response as a table."""

import math

import numpy as np

from shuffledp.types import Floats


def response_table(num_categories: int, epsilon: float) -> Floats:
    """Returns the probabilities of k-ary response, shape (values, messages).

    >>> response_table(2, 0.0)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    # e^-eps and 1 in place of 1 and e^eps: no overflow.
    weights = np.full((num_categories, num_categories), math.exp(-epsilon))
    np.fill_diagonal(weights, 1.0)
    table: Floats = weights / weights.sum(axis=1, keepdims=True)
    return table
