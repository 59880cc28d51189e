"""The cover and the attacks of a table of message probabilities.

*Cover.* omega is proportional to the least probability of each message over all values, of
the average or the median user, on all messages or on those that every user may send:
whichever covers most users. gamma_i is the smallest ratio of level i's least probabilities
and omega, lowered by more than its rounding. Messages outside of omega's support are
uncovered. There is one cover per ordered pair of the target user's values, and pairs
that are alike up to the names of messages share one. Where omega sends every message,
one pair that is worse than all of them (dominating_pair.py) takes their place if it is
hardly worse than the worst, or if they are very many: bounds take time.

*Attack.* Messages get scores: the logarithm of the target user's likelihood ratio, or
the difference of their probabilities divided by the others' probability, in whole
numbers. The others hold the value for which this attack is strongest.
"""

import itertools

import numpy as np

from shuffledp.cover import Attack, Cover, ScoreAttack
from shuffledp.population import Population
from shuffledp.randomizers.dominating_pair import dominating_pair
from shuffledp.types import Floats, Ints

# Of one operation in double precision.
_UNIT = 2.0**-53
# Bounds the difference of numbers that agree to twelve digits, of quotients of theirs too.
_ALIKE = 4e-11
_NUM_SCORES = 16
# Different pairs that are not worth another one, and those that are too many.
_FEW, _MANY = 2, 40
# By how much another pair may be worse, and on how many nodes it is found.
_HARDLY, _NODES = 1.01, 400


def blanket(least: Floats, population: Population) -> tuple[Floats, Floats]:
    """Returns omega, shape (messages,), and gamma, shape (levels,).

    Args:
        least: Of each message over all values, shape (levels, messages).
        population: How many people choose each level.
    """
    shares = population.counts / population.num_users
    middle = int(np.searchsorted(np.cumsum(shares), 0.5))
    common = np.all(least > 0.0, axis=0)
    shapes = [shares @ least, least[min(middle, len(least) - 1)]]
    candidates = []
    for shape in [*shapes, *(shape * common for shape in shapes)]:
        if not shape.sum() > 0.0:
            continue
        omega = shape / shape.sum()
        is_sent = omega > 0.0
        gamma = np.minimum((least[:, is_sent] / omega[is_sent]).min(axis=1), 1.0)
        candidates.append(
            (float(population.counts @ gamma), omega, gamma * (1.0 - _ALIKE))
        )
    _, omega, gamma = max(candidates, key=lambda candidate: candidate[0])
    return omega, gamma


def covers_of_table(rows: Floats, omega: Floats, gamma: Floats) -> tuple[Cover, ...]:
    """Returns a target user's covers, from probabilities of shape (values, messages)."""
    is_sent = omega > 0.0
    pairs_by_columns: dict[bytes, list[tuple[Floats, Floats]]] = {}
    for row_x, row_y in itertools.permutations(rows, 2):
        densities = np.array([omega, row_x, row_y])[:, is_sent]
        densities[1:] /= omega[is_sent]
        rare_densities = np.array([row_x, row_y])[:, ~is_sent]
        key = _sorted_columns(densities) + _sorted_columns(rare_densities)
        pairs_by_columns.setdefault(key, []).append(
            (densities, rare_densities[:, rare_densities.any(axis=0)])
        )
    if len(pairs_by_columns) > _FEW and is_sent.all():
        ratios = rows / omega
        dominating_pairs = dominating_pair(
            ratios, np.broadcast_to(omega, ratios.shape), nodes=_NODES
        )
        change = ratios[:, None] - ratios[None, :]
        spread = float((change**2 @ omega).max())
        if len(pairs_by_columns) > _MANY or dominating_pairs.spread <= _HARDLY * spread:
            pair = np.array(
                [
                    dominating_pairs.masses,
                    dominating_pairs.falling,
                    dominating_pairs.rising,
                ]
            )
            return (_cover_of_pair(pair, np.zeros((2, 0)), gamma, False),)
    return tuple(
        _cover_of_pair(*pairs[0], gamma, len(pairs) > 1)
        for pairs in pairs_by_columns.values()
    )


def _cover_of_pair(
    densities: Floats, rare_densities: Floats, gamma: Floats, shared: bool
) -> Cover:
    """Returns the cover of a pair, differences rounded up and bases down.

    Args:
        densities: omega, and the pair's densities against it, shape (3, messages).
        rare_densities: The pair's probabilities of messages outside omega's support, shape
            (2, kinds).
        gamma: Of every level.
        shared: Whether it stands for other pairs, whose numbers agree to twelve digits.
            With omega's masses in the order of theirs, gamma has room for it.
    """
    omega, first, second = densities
    # Rounding of draws and quotients.
    rounding = (
        8.0 * (omega.size + rare_densities.shape[1] + 8) * _UNIT + shared * _ALIKE
    )
    factors = np.array([[1.0 + rounding], [1.0 - rounding]])
    # A larger difference and a smaller base only raise the loss: the safe side.
    return Cover(
        gamma,
        omega,
        first - second + rounding * (first + second),
        second * (1.0 - rounding),
        uncovered=rare_densities * factors if rare_densities.size else None,
    )


def _sorted_columns(parts: Floats) -> bytes:
    """Returns the columns to twelve digits, in an order of their own."""
    digits = [[float(f"{entry:.12g}") for entry in row] for row in parts.T.tolist()]
    return np.array(sorted(digits)).tobytes()


def attacks_on_table(rows: Floats, others: Floats, counts: Ints) -> tuple[Attack, ...]:
    """Returns attacks on the most distinguishable pair of values, and on the farthest.

    Args:
        rows: The target user's probabilities, shape (values, messages).
        others: The other users', shape (levels, values, messages).
        counts: People of each level, shape (levels,).
    """
    falls = np.tensordot(counts.astype(np.float64), others, axes=1)
    pairs = list(itertools.permutations(range(len(rows)), 2))
    # By pair and by the value that the others hold.
    information = np.array(
        [
            np.sum((rows[x] - rows[y]) ** 2 / np.maximum(falls, 1e-300), axis=1)
            for x, y in pairs
        ]
    )
    distances = [float(np.abs(rows[x] - rows[y]).sum()) for x, y in pairs]
    if max(distances) <= 1e-12:
        return ()
    best_pair, farthest_pair = (
        int(np.argmax(information.max(axis=1))),
        int(np.argmax(distances)),
    )
    attacks: list[Attack] = []
    for pair in dict.fromkeys((best_pair, farthest_pair)):
        x, y = pairs[pair]
        others_value = int(np.argmax(information[pair]))
        change = rows[x] - rows[y]
        is_sent = rows[x] > 0.0
        ratio = np.zeros(is_sent.size)
        ratio[is_sent] = np.log(rows[x][is_sent]) - np.log(rows[y][is_sent])
        evidence = change / np.maximum(falls[others_value], 1e-300)
        for telling in (ratio, evidence):
            scores = _whole_scores(telling)
            groups = np.zeros((scores.size, int(scores.max()) + 1))
            groups[np.arange(scores.size), scores] = 1.0
            attacks.append(
                ScoreAttack(
                    others[:, others_value] @ groups, rows[y] @ groups, change @ groups
                )
            )
    return tuple(attacks)


def _whole_scores(telling: Floats) -> Ints:
    """Returns whole numbers from 0 to 16 in proportion."""
    low, high = float(telling.min()), float(telling.max())
    steps = (telling - low) * (_NUM_SCORES / (high - low))
    scores: Ints = np.rint(steps).astype(np.int64)
    return scores
