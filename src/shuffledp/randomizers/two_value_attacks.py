"""Attacks on two values whose bits are shuffled apart, and not equally noisy.

All others hold x, or all hold x'. Then one of the two coordinates is less noisy than the
other, and a 1 in it counts for more: as much as the victim's difference over the variance.
A score is w (bit for x) - w' (bit for x') + w'.
"""

from collections.abc import Sequence

import numpy as np

from shuffledp.cover import Attack, ScoreAttack
from shuffledp.randomizers.score_weights import whole_weights
from shuffledp.types import Floats, Ints


def two_value_attacks(
    others: tuple[Floats, Floats],
    victims: Sequence[tuple[float, float, float]],
    people: Ints,
) -> list[tuple[Attack, ...]]:
    """Returns both attacks on each victim.

    Args:
        others: Chances of people of each level that a 1 is lost, and that a 0 becomes a
            stray 1, shape (levels,) each.
        victims: The same of each of them, and 1 less both.
        people: How many chose each level, shape (levels,).
    """
    lost, stray = others
    rare, frequent = whole_weights(stray * (1.0 - stray), lost * (1.0 - lost), people)
    one, zero = (1.0 - lost, lost), (stray, 1.0 - stray)
    # Of few people, skewness may matter more than noise: then both bits count alike.
    laws = [
        (weights, _law(*bits, weights))
        for bits, weights in (
            ((one, zero), (frequent, rare)),
            ((one, zero), (1, 1)),
            ((zero, one), (rare, frequent)),
        )
    ]
    found: list[tuple[Attack, ...]] = []
    for lose, err, gap in victims:
        with_one = np.array([1.0 - lose]), np.array([lose])
        with_zero = np.array([err]), np.array([1.0 - err])
        attacks: list[Attack] = []
        for weights, law in laws:
            (second,) = _law(with_zero, with_one, weights)
            difference = np.zeros(second.size)
            difference[-1], difference[0] = gap, -gap
            attacks.append(ScoreAttack(law, second, difference))
        found.append(tuple(attacks))
    return found


def _law(
    here: tuple[Floats, Floats], there: tuple[Floats, Floats], weights: tuple[int, int]
) -> Floats:
    """Returns the chances of all scores, shape (levels, scores).

    Args:
        here: Chances of a 1 and of a 0 in the coordinate for x, shape (levels,) each.
        there: In that for x'.
        weights: w and w'.
    """
    own, other = weights
    law = np.zeros((here[0].size, own + other + 1))
    for bit, mine in ((1, here[0]), (0, here[1])):
        for another, its in ((1, there[0]), (0, there[1])):
            law[:, own * bit + other * (1 - another)] += mine * its
    return law
