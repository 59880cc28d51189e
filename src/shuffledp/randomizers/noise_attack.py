"""Attacks on mechanisms that add noise to a number: score messages by where they fall.

The range of messages is cut into bins; all others hold one value, the same.

*Where the others are many*, a bin's score grows with the target user's difference R(x)
- R(x') there, divided by how often others fall into it (the locally most powerful
test), rounded to a few whole numbers. Of three values the others hold the one for which
this tells most, or each of two that tell as much.

For normal noise more scores tell more, and those bins are cut off where others are few.

*Where they are few*, far out on the side of x, messages are counted: one may be enough.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from shuffledp.cover import Attack, ScoreAttack
from shuffledp.population import Population
from shuffledp.randomizers.grid import on_grid
from shuffledp.randomizers.level_nodes import level_nodes, population_at
from shuffledp.types import Floats, Ints

# Of bins: the range of values in the middle, and ever wider ones on either side.
_OUTER_EDGES = 1.0 + np.geomspace(0.25, 2000.0, 40)
_INNER_EDGES = np.linspace(-1.0, 1.0, 41)

_NUM_SCORES = 16
# In populations of very many levels, where every level's scores take memory.
_NUM_SCORES_OF_MANY_LEVELS = 8
# More of them, for noise whose evidence grows without bounds as messages get rare, and from
# how many expected messages on they are told apart; in populations of sizes that pay.
_NUM_SCORES_OF_NORMAL_NOISE, _MORE_MANY = 64, (1.0, 300.0)
_LEAST_USERS, _MOST_LEVELS = 1_000, 10_000
# Bins with fewer expected messages of others than this are not told apart by scores.
_MANY = 1.0
# Expected messages of others in the region where they are few.
_FEW = (1.0, 0.1, 1e-2, 1e-5, 1e-9)
# The evidence is the same up to rounding where others hold -1 as where they hold 1, and
# either may show more: both are tried.
_TIED = 1e-9
# Levels whose bins are computed at once.
_BATCH = 20_000
# A target user who changes less than this is not attacked: rounding would count.
_SILENT = 1e-6

# Probabilities of each bin for people with these budgets who all hold a value in [-1,
# 1]: (epsilons, value) -> array of shape (levels, bins).
Bins = Callable[[Floats, float], Floats]
# The same for runs of bins: (epsilons, several (value, first bin of each run)) -> as many
# arrays of shape (runs, levels).
Runs = Callable[[Floats, Sequence[tuple[float, Ints]]], list[Floats]]


@lru_cache
def inner_edges(num_cells: int) -> Floats:
    """Returns the edges of bins within the range of values, [-1, 1].

    Args:
        num_cells: Across that range.
    """
    # Messages are cells of a grid: an adversary sees no finer edges than theirs.
    return np.unique(on_grid(_INNER_EDGES, num_cells))


@lru_cache
def all_edges(num_cells: int) -> Floats:
    """Returns the edges of bins within the range and on either side of it."""
    parts = [-_OUTER_EDGES[::-1], _INNER_EDGES, _OUTER_EDGES]
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
        evidence = {
            value: float(np.sum(change**2 / (fall + _MANY)))
            for value, fall in falls.items()
        }
        enough_evidence = (1.0 - _TIED) * max(evidence.values())
        attacks = [
            attack(value, _evidence_scores(change, falls[value]), density_x, density_y)
            for value in falls
            if evidence[value] >= enough_evidence
        ]
        for many in _MORE_MANY if precise else ():
            if falls[1.0].max() >= many:
                scores = _evidence_scores(
                    change, falls[1.0], _NUM_SCORES_OF_NORMAL_NOISE, many
                )
                attacks.append(attack(1.0, scores, density_x, density_y))
        for num_tail_users in _FEW:
            count = int(np.searchsorted(tail, num_tail_users))
            region = (np.arange(tail.size) < count).astype(np.int64)
            if count and float(change[:count].sum()) > _SILENT:
                attacks.append(attack(1.0, region, density_x, density_y))
        attacks_by_target_user.append(tuple(attacks))
    return attacks_by_target_user


def attacks_of_many_levels(
    bins: Bins,
    runs: Runs,
    target_users: Sequence[float],
    population: Population,
    *,
    middle: float,
    error: float,
) -> list[tuple[Attack, ...]]:
    """Returns attacks that all target users share, for populations of very many levels.

    Each level's probabilities are computed once, of few runs of bins: for the scores that
    suit the target user in the middle, and for the regions where others are few.

    Args:
        bins: As in `noise_attacks`.
        runs: The same probabilities, added up over runs of bins.
        target_users: Their local budgets.
        population: The people among whom they hide, themselves included.
        middle: A point of the grid in the middle of the range, or next to it.
        error: By how much the probabilities of runs may be off, beyond rounding.
    """
    nodes = population_at(level_nodes(population.epsilons), population)
    falls = {
        value: nodes.counts @ bins(nodes.epsilons, value) for value in (middle, 1.0)
    }
    density_x, density_y = (
        bins(np.array(target_users), value) for value in (-1.0, 1.0)
    )
    changes = density_x - density_y
    scorings: list[tuple[float, Ints]] = []
    for change in changes[sorted({0, len(changes) // 2, len(changes) - 1})]:
        evidence = {v: float(np.sum(change**2 / (falls[v] + _MANY))) for v in falls}
        value = max(evidence, key=evidence.__getitem__)
        scorings.append(
            (value, _evidence_scores(change, falls[value], _NUM_SCORES_OF_MANY_LEVELS))
        )
    tail = np.cumsum(falls[1.0])
    for count in sorted(
        {int(np.searchsorted(tail, num_tail_users)) for num_tail_users in _FEW}
    ):
        if count:
            scorings.append((1.0, (np.arange(tail.size) < count).astype(np.int64)))
    rows = _by_shared_scores(runs, population.epsilons, scorings)
    attacks_by_target_user: list[tuple[Attack, ...]] = []
    for first, change in zip(density_x, changes, strict=True):
        attacks: list[Attack] = []
        for others, (_, scores) in zip(rows, scorings, strict=True):
            size = others.shape[1]
            second = np.bincount(scores, first - change, minlength=size)
            difference = np.bincount(scores, change, minlength=size)
            if float(np.abs(difference).sum()) > _SILENT:
                attacks.append(
                    ScoreAttack(
                        others,
                        second.astype(np.float64),
                        difference.astype(np.float64),
                        # A score is that of a few runs.
                        error * scores.size,
                    )
                )
        attacks_by_target_user.append(tuple(attacks))
    return attacks_by_target_user


def _by_shared_scores(
    runs: Runs, epsilons: Floats, scorings: Sequence[tuple[float, Ints]]
) -> list[Floats]:
    """Returns each level's probabilities of each score, for every (value, scores)."""
    # Levels side by side in memory: whole columns are added.
    columns = [np.empty((int(s.max()) + 1, epsilons.size)) for _, s in scorings]
    starts = {
        value: _run_starts([scores for v, scores in scorings if v == value])
        for value in {value for value, _ in scorings}
    }
    for batch in range(0, epsilons.size, _BATCH):
        part = slice(batch, batch + _BATCH)
        probabilities = dict(
            zip(starts, runs(epsilons[part], list(starts.items())), strict=True)
        )
        for each, (value, scores) in zip(columns, scorings, strict=True):
            of_runs = scores[starts[value]]
            for score in range(each.shape[0]):
                chosen = probabilities[value][of_runs == score]
                chosen.sum(axis=0, out=each[score, part])
    return [each.T for each in columns]


def _run_starts(scorings: Sequence[Ints]) -> Ints:
    """Returns the first bins of the runs in which no score changes, ascending."""
    is_changed = np.any(np.diff(np.stack(scorings), axis=1) != 0, axis=0)
    return np.append(0, np.flatnonzero(is_changed) + 1)


def _evidence_scores(
    change: Floats, falls: Floats, num_scores: int = _NUM_SCORES, minimum: float = _MANY
) -> Ints:
    has_many = falls >= minimum
    if not has_many.any():
        has_many = falls == falls.max()
    evidence = change / np.maximum(falls, 1e-300)
    low, high = evidence[has_many].min(), evidence[has_many].max()
    if high <= low:
        low, high = -1.0, 1.0
    steps = (np.clip(evidence, low, high) - low) * (num_scores / (high - low))
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
