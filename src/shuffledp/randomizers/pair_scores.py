"""Distributions of scores of pairs of bits: one bit speaks for x, the other for x'.

A pair's score is w (bit for x) - w' (bit for x') + w', a whole number from 0 to w + w'; the
score of a report is the sum over its pairs.
"""

import numpy as np

from shuffledp.cover import ScoreAttack
from shuffledp.types import Floats

# The probabilities of a 1 and of a 0, shape (levels,) each.
Bit = tuple[Floats, Floats]


def pair_scores(bit_for_x: Bit, bit_for_y: Bit, weights: tuple[int, int]) -> Floats:
    """Returns the probabilities of all scores of a pair, shape (levels, w + w' + 1).

    Args:
        bit_for_x: Probabilities of a 1 and of a 0 in the coordinate for x.
        bit_for_y: In that for x'.
        weights: w and w'.
    """
    own_weight, other_weight = weights
    scores = np.zeros((bit_for_x[0].size, own_weight + other_weight + 1))
    for bit, mine in ((1, bit_for_x[0]), (0, bit_for_x[1])):
        for another, its in ((1, bit_for_y[0]), (0, bit_for_y[1])):
            scores[:, own_weight * bit + other_weight * (1 - another)] += mine * its
    return scores


def pairs_attack(
    others: Floats,
    target_user: tuple[float, float, float],
    *,
    weights: tuple[int, int],
    pairs: int,
) -> ScoreAttack:
    """Returns the attack on the sum of the scores of a number of pairs.

    Args:
        others: Probabilities of the scores of all pairs, for the other users, shape
            (levels, pairs (w + w') + 1).
        target_user: Their probabilities that a 1 is lost and that a 0 becomes a stray
            1, and 1 less both.
        weights: w and w'.
        pairs: Number of pairs, >= 1.
    """
    lost, stray, gap = target_user
    with_one = np.array([1.0 - lost]), np.array([lost])
    with_zero = np.array([stray]), np.array([1.0 - stray])
    first = pair_scores(with_one, with_zero, weights)
    second = pair_scores(with_zero, with_one, weights)
    # a^c - b^c = (a - b) (a^(c-1) + a^(c-2) b + ... + b^(c-1)): for tiny budgets, the
    # difference itself would be mostly rounding.
    powers = np.zeros((1, (pairs - 1) * sum(weights) + 1))
    for i in range(pairs):
        powers += convolved(power(first, i), power(second, pairs - 1 - i))
    step = np.zeros(first.shape)
    step[0, -1], step[0, 0] = gap, -gap
    difference = convolved(step, powers)
    return ScoreAttack(others, power(second, pairs)[0], difference[0])


def power(rows: Floats, times: int) -> Floats:
    """Returns the distribution of a sum of independent draws from each row."""
    powers: Floats = np.ones((rows.shape[0], 1))
    for _ in range(times):
        powers = convolved(powers, rows)
    return powers


def convolved(rows: Floats, others: Floats) -> Floats:
    """Returns each row convolved with its counterpart."""
    width = rows.shape[1]
    products = np.zeros((rows.shape[0], width + others.shape[1] - 1))
    for column in range(others.shape[1]):
        products[:, column : column + width] += rows * others[:, column, None]
    return products
