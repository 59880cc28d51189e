"""Attacks on two values whose bits are shuffled apart, and not equally noisy.

All others hold x, or all hold x'. Then one of the two coordinates of a pair is less noisy
than the other, and a 1 in it counts for more: as much as the target user's difference
over the variance. A score is w (bit for x) - w' (bit for x') + w'.
"""

from collections.abc import Sequence

from shuffledp.cover import Attack
from shuffledp.randomizers.pair_scores import pair_scores, pairs_attack, power
from shuffledp.randomizers.score_weights import whole_weights
from shuffledp.types import Floats, Ints


def two_value_attacks(
    others: tuple[Floats, Floats],
    target_users: Sequence[tuple[float, float, float]],
    people: Ints,
) -> list[tuple[Attack, ...]]:
    """Returns attacks on each target user, for reports whose zeros are the less noisy bits.

    Args:
        others: Probabilities of people of each level that a 1 is lost, and that a 0
            becomes a stray 1, shape (levels,) each.
        target_users: The same of each of them, and 1 less both.
        people: How many chose each level, shape (levels,).
    """
    lost, stray = others
    # Over the variances, since the target user's difference is the same in both bits.
    rare_weight, frequent_weight = whole_weights(
        stray * (1.0 - stray), lost * (1.0 - lost), people
    )
    on_one, on_zero = (1.0 - lost, lost), (stray, 1.0 - stray)
    # Of few people, skewness may matter more than noise: then both bits count alike.
    scores = [
        (weights, pair_scores(*bits, weights))
        for bits, weights in (
            ((on_one, on_zero), (frequent_weight, rare_weight)),
            ((on_one, on_zero), (1, 1)),
            ((on_zero, on_one), (rare_weight, frequent_weight)),
        )
    ]
    return [
        tuple(
            pairs_attack(probabilities, target_user, weights=weights, pairs=1)
            for weights, probabilities in scores
        )
        for target_user in target_users
    ]


def attacks_among_holders(
    others: tuple[Floats, Floats],
    target_users: Sequence[tuple[float, float, float]],
    people: Ints,
    sizes: Sequence[tuple[int, bool]],
) -> list[tuple[Attack, ...]]:
    """Returns attacks on each target user where all others hold the less noisy ones.

    Args:
        others: As for `two_value_attacks`.
        target_users: As for `two_value_attacks`.
        people: As for `two_value_attacks`.
        sizes: Pairs of coordinates to look at, and whether ones count by their noise;
            otherwise all of them count alike.
    """
    lost, stray = others
    weighted = whole_weights(lost * (1.0 - lost), stray * (1.0 - stray), people)
    attacks_by_target_user: list[tuple[Attack, ...]] = [() for _ in target_users]
    for pairs, by_noise in sizes:
        weights = weighted if by_noise else (1, 1)
        bits = (1.0 - lost, lost), (stray, 1.0 - stray)
        scores = power(pair_scores(*bits, weights), pairs)
        attacks_by_target_user = [
            (
                *own_attacks,
                pairs_attack(scores, target_user, weights=weights, pairs=pairs),
            )
            for own_attacks, target_user in zip(
                attacks_by_target_user, target_users, strict=True
            )
        ]
    return attacks_by_target_user
