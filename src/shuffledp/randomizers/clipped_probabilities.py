"""Probabilities of Clip-Laplace messages, with all digits however far from the value."""

import numpy as np

from shuffledp.types import Floats


def normalizers(rates: Floats, values: Floats) -> Floats:
    """Returns N(v), the integral of e^{-b |y - v|} over [-1, 1]."""
    sides = np.expm1(-rates * (1.0 + values)) + np.expm1(-rates * (1.0 - values))
    result: Floats = -sides / rates
    return result


def noise_probabilities(
    rates: Floats, values: Floats, left: Floats, right: Floats
) -> Floats:
    """Returns probabilities of Clip-Laplace messages in [left, right], by broadcasting."""
    # Both parts of the area are >= 0 and from expm1: no digits are lost to cancellation.
    after = np.maximum(right - np.maximum(left, values), 0.0)
    before = np.maximum(np.minimum(right, values) - left, 0.0)
    area = np.exp(-rates * np.maximum(left - values, 0.0)) * -np.expm1(-rates * after)
    far_decay = np.exp(-rates * np.maximum(values - right, 0.0))
    area = area - far_decay * np.expm1(-rates * before)
    probabilities: Floats = area / rates / normalizers(rates, values)
    return probabilities
