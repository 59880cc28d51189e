"""Attacks on mechanisms that add noise to a number: score messages by where they fall.

The range of messages is cut into bins; all others hold one value, the same.

*Where the others are many*, a bin's score grows with the target user's difference R(x)
- R(x') there, divided by how often others fall into it (the locally most powerful
test), rounded to a few whole numbers. Of three values the others hold the one for which
this tells most.

For normal noise more scores tell more, and those bins are cut off where others are few.

*Where they are few*, far out on the side of x, messages are counted: one may be enough.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from shuffledp.cover import Attack, ScoreAttack
from shuffledp.population import Population
from shuffledp.randomizers.grid import on_grid
from shuffledp.types import Floats, Ints

# The range of values in the middle, and ever wider bins on either side.
_OUTWARD = 1.0 + np.geomspace(0.25, 2000.0, 40)
_INWARD = np.linspace(-1.0, 1.0, 41)

_SCORES = 16
# More of them, for noise whose evidence grows without bounds as messages get rare, and from
# how many expected messages on they are told apart; in populations of sizes that pay.
_MORE_SCORES, _MORE_MANY = 64, (1.0, 300.0)
_LEAST_USERS, _MOST_LEVELS = 1_000, 10_000
# Bins with fewer expected messages of others than this are not told apart by scores.
_MANY = 1.0
# Expected messages of others in the region where they are few.
_FEW = (1.0, 0.1, 1e-2, 1e-5, 1e-9)
# Levels whose bins are computed at once.
_BATCH = 20_000
# A target user who changes less than this is not attacked: rounding would count.
_SILENT = 1e-6

# Probabilities of each bin for people with these budgets who all hold a value in [-1,
# 1]: (epsilons, value) -> array of shape (levels, bins).
Bins = Callable[[Floats, float], Floats]


@lru_cache
def inner_edges(num_cells: int) -> Floats:
    """Returns the edges of bins within the range of values, [-1, 1].

    Args:
        num_cells: Across that range.
    """
    # Messages are cells of a grid: an adversary sees no finer edges than theirs.
    return np.unique(on_grid(_INWARD, num_cells))


@lru_cache
def all_edges(num_cells: int) -> Floats:
    """Returns the edges of bins within the range and on either side of it."""
    parts = [-_OUTWARD[::-1], _INWARD, _OUTWARD]
    return np.unique(on_grid(np.concatenate(parts), num_cells))


def noise_attacks(
    bins: Bins,
    target_users: Sequence[float],
    population: Population,
    *,
    middle: float = 0.0,
    precise: bool = False,
) -> list[tuple[Attack, ...]]:
    """Returns the attacks on each target user, who holds -1 or 1.

    Args:
        bins: Probabilities of bins in ascending order of the messages.
        target_users: Their local budgets.
        population: The people among whom they hide, themselves included.
        middle: A point of the grid in the middle of the range, or next to it.
        precise: Whether to try more scores, too, with all others on the target user's
            other side, for noise with unbounded evidence.
    """
    precise &= (
        population.num_users >= _LEAST_USERS and population.num_levels <= _MOST_LEVELS
    )
    stride = max(1, population.num_levels // 200)
    sample = population.epsilons[::stride]
    counts = np.add.reduceat(
        population.counts, np.arange(0, population.num_levels, stride)
    )
    falls = {value: counts @ bins(sample, value) for value in (-1.0, middle, 1.0)}
    tail = np.cumsum(falls[1.0])
    # Groups of bins by score are the same for all target users with the same scores.
    rows: dict[bytes, Floats] = {}

    def attack(
        value: float, scores: Ints, density_x: Floats, density_y: Floats
    ) -> ScoreAttack:
        key = scores.tobytes() + bytes(repr(value), "ascii")
        if key not in rows:
            rows[key] = _by_score(bins, population.epsilons, value, scores)
        size = int(scores.max()) + 1
        return ScoreAttack(
            rows[key],
            np.bincount(scores, density_y, minlength=size).astype(np.float64),
            np.bincount(scores, density_x - density_y, minlength=size).astype(
                np.float64
            ),
        )

    attacks_by_target_user: list[tuple[Attack, ...]] = []
    for target_user in target_users:
        density_x, density_y = (
            bins(np.array([target_user]), value)[0] for value in (-1.0, 1.0)
        )
        change = density_x - density_y
        if np.abs(change).sum() < _SILENT:
            attacks_by_target_user.append(())
            continue
        value = max(
            falls,
            key=lambda value: float(np.sum(change**2 / (falls[value] + _MANY))),
        )
        attacks = [attack(value, _scores(change, falls[value]), density_x, density_y)]
        for many in _MORE_MANY if precise else ():
            if falls[1.0].max() >= many:
                scores = _scores(change, falls[1.0], _MORE_SCORES, many)
                attacks.append(attack(1.0, scores, density_x, density_y))
        for few in _FEW:
            count = int(np.searchsorted(tail, few))
            region = (np.arange(tail.size) < count).astype(np.int64)
            if count and float(change[:count].sum()) > _SILENT:
                attacks.append(attack(1.0, region, density_x, density_y))
        attacks_by_target_user.append(tuple(attacks))
    return attacks_by_target_user


def _scores(
    change: Floats, falls: Floats, highest: int = _SCORES, minimum: float = _MANY
) -> Ints:
    many = falls >= minimum
    if not many.any():
        many = falls == falls.max()
    evidence = change / np.maximum(falls, 1e-300)
    low, high = evidence[many].min(), evidence[many].max()
    if high <= low:
        low, high = -1.0, 1.0
    steps = (np.clip(evidence, low, high) - low) * (highest / (high - low))
    scores: Ints = np.rint(steps).astype(np.int64)
    scores -= scores.min()
    return scores


def _by_score(bins: Bins, epsilons: Floats, value: float, scores: Ints) -> Floats:
    groups = np.zeros((scores.size, int(scores.max()) + 1))
    groups[np.arange(scores.size), scores] = 1.0
    rows = np.empty((epsilons.size, groups.shape[1]))
    for start in range(0, epsilons.size, _BATCH):
        batch = epsilons[start : start + _BATCH]
        rows[start : start + _BATCH] = bins(batch, value) @ groups
    return rows
