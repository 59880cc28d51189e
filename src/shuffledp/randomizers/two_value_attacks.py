"""Attacks on two values whose bits are shuffled apart, and not equally noisy.

All others hold x, or all hold x'. Then one of the two coordinates of a pair is less noisy
than the other, and a 1 in it counts for more: as much as the victim's difference over the
variance. A score is w (bit for x) - w' (bit for x') + w'.
"""

from collections.abc import Sequence

from shuffledp.cover import Attack
from shuffledp.randomizers.pair_scores import pair_scores, pairs_attack, power
from shuffledp.randomizers.score_weights import whole_weights
from shuffledp.types import Floats, Ints


def two_value_attacks(
    others: tuple[Floats, Floats],
    victims: Sequence[tuple[float, float, float]],
    people: Ints,
) -> list[tuple[Attack, ...]]:
    """Returns attacks on each victim, for reports whose zeros are the less noisy bits.

    Args:
        others: Chances of people of each level that a 1 is lost, and that a 0 becomes a
            stray 1, shape (levels,) each.
        victims: The same of each of them, and 1 less both.
        people: How many chose each level, shape (levels,).
    """
    lost, stray = others
    # Over the variances, since the victim's difference is the same in both bits.
    rare, frequent = whole_weights(stray * (1.0 - stray), lost * (1.0 - lost), people)
    on_one, on_zero = (1.0 - lost, lost), (stray, 1.0 - stray)
    # Of few people, skewness may matter more than noise: then both bits count alike.
    scores = [
        (weights, pair_scores(*bits, weights))
        for bits, weights in (
            ((on_one, on_zero), (frequent, rare)),
            ((on_one, on_zero), (1, 1)),
            ((on_zero, on_one), (rare, frequent)),
        )
    ]
    return [
        tuple(
            pairs_attack(chances, victim, weights=weights, pairs=1)
            for weights, chances in scores
        )
        for victim in victims
    ]


def attacks_among_holders(
    others: tuple[Floats, Floats],
    victims: Sequence[tuple[float, float, float]],
    people: Ints,
    sizes: Sequence[tuple[int, bool]],
) -> list[tuple[Attack, ...]]:
    """Returns attacks on each victim where all others hold x, whose ones are less noisy.

    Args:
        others: As for `two_value_attacks`.
        victims: As for `two_value_attacks`.
        people: As for `two_value_attacks`.
        sizes: Pairs of coordinates to look at, and whether ones count by their noise;
            otherwise all of them count alike.
    """
    lost, stray = others
    weighted = whole_weights(lost * (1.0 - lost), stray * (1.0 - stray), people)
    attacks_by_victim: list[tuple[Attack, ...]] = [() for _ in victims]
    for pairs, by_noise in sizes:
        weights = weighted if by_noise else (1, 1)
        bits = (1.0 - lost, lost), (stray, 1.0 - stray)
        scores = power(pair_scores(*bits, weights), pairs)
        attacks_by_victim = [
            (*own_attacks, pairs_attack(scores, victim, weights=weights, pairs=pairs))
            for own_attacks, victim in zip(attacks_by_victim, victims, strict=True)
        ]
    return attacks_by_victim
