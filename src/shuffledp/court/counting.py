"""The attack that counts: how many messages fall into one set of cells.

Others fall into it independently, each with the chance of her group: their number is a
Poisson-binomial, a convolution of binomials. The victim adds one with chance p if she
holds x and with chance q if she holds x'. The sets are all messages on one side of a
threshold, or those a caller names.
"""

import numpy as np
from scipy import stats

from shuffledp.court.worlds import Worlds, hockey_stick
from shuffledp.types import Floats, Ints

# Binomials are cut off at so many deviations, and so many more successes.
_DEVIATIONS, _MORE = 12.0, 40
# Thresholds tried at a time, and how often the best ones' surroundings are searched.
_THRESHOLDS, _ROUNDS = 24, 3
# With more groups than this, only one round is made.
_MANY_GROUPS = 50


def number_inside(chances: Floats, counts: Ints) -> tuple[Floats, float]:
    """Returns the law of a number of successes, from some number on, and what it lacks.

    Args:
        chances: Of each group, shape (groups,).
        counts: How many independent trials each group makes, shape (groups,).
    """
    parts, dropped = [np.ones(1)], 0.0
    for chance, count in zip(chances.tolist(), counts.tolist(), strict=True):
        if count == 0 or chance <= 0.0 or chance >= 1.0:
            continue
        mean = count * chance
        reach = _DEVIATIONS * (mean * (1.0 - chance)) ** 0.5 + _MORE
        low, high = max(0, int(mean - reach)), min(count, int(mean + reach) + 1)
        parts.append(stats.binom.pmf(np.arange(low, high + 1), count, chance))
        dropped += float(stats.binom.cdf(low - 1, count, chance))
        dropped += float(stats.binom.sf(high, count, chance))
    # In pairs, so that a thousand groups cost little more than ten.
    while len(parts) > 1:
        pairs = [np.convolve(*pair) for pair in zip(parts[::2], parts[1::2])]
        parts = pairs + parts[len(parts) - len(parts) % 2 :]
    return parts[0], dropped


def count_divergence(
    first: float, second: float, chances: Floats, counts: Ints, *, epsilon: float
) -> float:
    """Returns the divergence of the number of messages in a set.

    Args:
        first: The victim's chance to be in the set if she holds x.
        second: The same if she holds x'.
        chances: Each group's chance, shape (groups,).
        counts: How many others are in each group, shape (groups,).
        epsilon: In nats, >= 0.
    """
    law, dropped = number_inside(chances, counts)
    still, more = np.append(law, 0.0), np.append(0.0, law)
    found = hockey_stick(
        (1.0 - first) * still + first * more,
        (1.0 - second) * still + second * more,
        epsilon,
    )
    return max(found - (1.0 + float(np.exp(epsilon))) * dropped, 0.0)


def threshold_divergence(worlds: Worlds, epsilon: float) -> float:
    """Returns the largest divergence over sets on one side of a threshold.

    Thresholds lie between cells: a grid of them is tried, then finer ones around the best.
    """
    size = worlds.first.size
    sums = [
        np.cumsum(part, axis=-1)
        for part in (worlds.first, worlds.second, worlds.others)
    ]
    above = [
        np.cumsum(part[..., ::-1], axis=-1)[..., ::-1]
        for part in (worlds.first, worlds.second, worlds.others)
    ]

    def at(edge: int) -> float:
        # The two sets {cells < edge} and {cells >= edge} have the same information but
        # for rounding: the one that is rarer among the others keeps its digits.
        below = float(worlds.counts @ sums[2][:, edge - 1])
        over = float(worlds.counts @ above[2][:, edge])
        p, q, chances = (
            [part[..., edge - 1] for part in sums]
            if below <= over
            else [part[..., edge] for part in above]
        )
        return count_divergence(
            float(p),
            float(q),
            np.minimum(np.atleast_1d(chances), 1.0),
            worlds.counts,
            epsilon=epsilon,
        )

    found: dict[int, float] = {}
    low, high = 1, size - 1
    rounds = _ROUNDS if worlds.counts.size <= _MANY_GROUPS else 1
    for _ in range(rounds):
        for edge in np.unique(np.linspace(low, high, _THRESHOLDS).astype(int)).tolist():
            if edge not in found:
                found[edge] = at(edge)
        best = max(found, key=lambda edge: found[edge])
        step = max((high - low) // (_THRESHOLDS - 1), 1)
        low, high = max(1, best - step), min(size - 1, best + step)
    return max(found.values())
