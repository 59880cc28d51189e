"""Attacks on mechanisms that add noise to a number: score messages by where they fall.

The range of messages is cut into bins. A bin's score grows with the victim's difference
R(x) - R(x') there, divided by how often others fall into it (the locally most powerful
test), rounded to a few whole numbers. All others hold one value, the same; of three
values the adversary takes the one for which the scores tell most.
"""

from collections.abc import Callable, Sequence

import numpy as np

from shuffledp.cover import Attack, ScoreAttack
from shuffledp.population import Population
from shuffledp.types import Floats, Ints

_SCORES = 16
# Levels whose bins are computed at once.
_BATCH = 20_000
# A victim who changes less than this is not attacked: rounding would count.
_SILENT = 1e-6

# Chances of each bin for people with these budgets who all hold a value in [-1, 1]:
# (epsilons, value) -> array of shape (levels, bins).
Bins = Callable[[Floats, float], Floats]


def noise_attacks(
    bins: Bins, victims: Sequence[float], crowd: Population
) -> list[tuple[Attack, ...]]:
    """Returns one attack on each victim, who holds -1 or 1."""
    stride = max(1, crowd.num_levels // 200)
    sample = crowd.epsilons[::stride]
    weights = np.add.reduceat(crowd.counts, np.arange(0, crowd.num_levels, stride))
    found: list[tuple[Attack, ...]] = []
    for victim in victims:
        here, there = (bins(np.array([victim]), value)[0] for value in (-1.0, 1.0))
        change = here - there
        if np.abs(change).sum() < _SILENT:
            found.append(())
            continue
        usual = {
            value: weights @ bins(sample, value) / weights.sum()
            for value in (-1.0, 0.0, 1.0)
        }
        value, falls = max(
            usual.items(), key=lambda pair: float(np.sum(change**2 / pair[1]))
        )
        scores = _scores(change / falls)
        found.append(
            (
                ScoreAttack(
                    _by_score(bins, crowd.epsilons, value, scores),
                    np.bincount(scores, there, minlength=_SCORES + 1),
                    np.bincount(scores, change, minlength=_SCORES + 1),
                ),
            )
        )
    return found


def _scores(evidence: Floats) -> Ints:
    low, high = evidence.min(), evidence.max()
    return np.rint((evidence - low) * (_SCORES / (high - low))).astype(np.int64)


def _by_score(bins: Bins, epsilons: Floats, value: float, scores: Ints) -> Floats:
    groups = np.zeros((scores.size, _SCORES + 1))
    groups[np.arange(scores.size), scores] = 1.0
    rows = np.empty((epsilons.size, _SCORES + 1))
    for start in range(0, epsilons.size, _BATCH):
        batch = epsilons[start : start + _BATCH]
        rows[start : start + _BATCH] = bins(batch, value) @ groups
    return rows
