"""Divergences of the two counts of clone arguments, summed over all outcomes."""

import math
from fractions import Fraction

import numpy as np
from scipy.special import gammaln

from shuffledp.types import Floats


def exact_divergence(
    num_users: int, *, clone: Fraction, same: Fraction, other: Fraction, ratio: Fraction
) -> Fraction:
    """Returns the divergence of order `ratio` in exact arithmetic, by definition."""
    first: dict[tuple[int, int], Fraction] = {}
    second: dict[tuple[int, int], Fraction] = {}
    for c in range(num_users):
        clone_weight = (
            math.comb(num_users - 1, c) * clone**c * (1 - clone) ** (num_users - 1 - c)
        )
        for a in range(c + 1):
            weight = clone_weight * Fraction(math.comb(c, a), 2**c)
            cases = [
                ((a + 1, c - a), same, other),
                ((a, c - a + 1), other, same),
                ((a, c - a), 1 - same - other, 1 - same - other),
            ]
            for outcome, under_x, under_y in cases:
                first[outcome] = first.get(outcome, Fraction(0)) + weight * under_x
                second[outcome] = second.get(outcome, Fraction(0)) + weight * under_y
    return sum(
        (max(first[key] - ratio * second[key], Fraction(0)) for key in first),
        Fraction(0),
    )


def summed_divergence(
    num_users: int, *, clone: float, same: float, other: float, epsilon: float
) -> float:
    """Returns the same in double precision, as a sum over the table of counts."""
    counts = np.arange(num_users + 1.0)
    a, b = np.meshgrid(counts, counts, indexing="ij")

    def probability(a: Floats, b: Floats) -> Floats:
        c, others = a + b, num_users - 1.0
        inside = (a >= 0.0) & (b >= 0.0) & (c <= others)
        a, b, c = (np.where(inside, value, 0.0) for value in (a, b, c))
        log = gammaln(others + 1.0) - gammaln(others - c + 1.0)
        log = log - gammaln(a + 1.0) - gammaln(b + 1.0) + c * math.log(clone / 2.0)
        log = log + (others - c) * math.log1p(-clone)
        return np.where(inside, np.exp(log), 0.0)

    neither = (1.0 - same - other) * probability(a, b)
    right, left = probability(a - 1.0, b), probability(a, b - 1.0)
    first = same * right + other * left + neither
    second = other * right + same * left + neither
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())
