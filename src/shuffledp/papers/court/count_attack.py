"""The attack that counts: how many messages fall into one set of cells.

Others fall into it independently, each with the chance of her group: their number is a
Poisson-binomial, a convolution of binomials. The victim adds one with chance p if she
holds x and with chance q if she holds x'. The sets are all messages on one side of a
threshold, or those a caller names.
"""

import numpy as np

from shuffledp.papers.court.worlds import Worlds, hockey_stick
from shuffledp.types import Floats, Ints

# Binomials are cut off at so many deviations, and so many more successes.
_DEVIATIONS, _MORE = 12.0, 40
# What that leaves out, at most (Bernstein's inequality), and ends of each sum of groups.
_TAIL = 1e-25
_END = 1e-27
# Thresholds tried at a time, and how often the best ones' surroundings are searched.
_THRESHOLDS, _ROUNDS = 24, 3
# With more groups than this, only one round is made.
_FEW_GROUPS = 8


def number_inside(chances: Floats, counts: Ints) -> tuple[int, Floats]:
    """Returns the law of a number of successes: P(start + k) = law[k].

    Cut off at both ends, where together less than `_TAIL` per group is lost.

    Args:
        chances: Of each group, shape (groups,).
        counts: How many independent trials each group makes, shape (groups,).
    """
    start, parts = 0, [np.ones(1)]
    for chance, count in zip(chances.tolist(), counts.tolist(), strict=True):
        if chance >= 1.0:
            start += count
        elif count > 0 and chance > 0.0:
            first, law = binomial(count, chance)
            start += first
            parts.append(law)
    # In pairs, so that a thousand groups cost little more than ten.
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        rest = parts[len(parts) - len(parts) % 2 :]
        sums = [_trimmed(np.convolve(*pair)) for pair in pairs]
        start += sum(first for first, _ in sums)
        parts = [law for _, law in sums] + rest
    return start, parts[0]


def _trimmed(law: Floats) -> tuple[int, Floats]:
    """Returns a law without the ends that are hardly ever reached, and how many it lost."""
    first = int(np.searchsorted(np.cumsum(law), _END))
    last = law.size - int(np.searchsorted(np.cumsum(law[::-1]), _END))
    return first, law[first:last]


def binomial(trials: int, chance: float) -> tuple[int, Floats]:
    """Returns the law of a binomial number, from its mode by ratios of neighbors.

    >>> binomial(2, 0.5)
    (0, array([0.25, 0.5 , 0.25]))
    """
    mean = trials * chance
    reach = _DEVIATIONS * (mean * (1.0 - chance)) ** 0.5 + _MORE
    low, high = max(0, int(mean - reach)), min(trials, int(mean + reach) + 1)
    mode = min(max(round(mean), low), high)
    odds = chance / (1.0 - chance)
    up, down = np.arange(mode, high), np.arange(mode, low, -1)
    law = np.concatenate(
        [
            np.cumprod(down / ((trials - down + 1.0) * odds))[::-1],
            np.ones(1),
            np.cumprod((trials - up) * odds / (up + 1.0)),
        ]
    )
    return low, law / law.sum()


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
    _, law = number_inside(chances, counts)
    still, more = np.append(law, 0.0), np.append(0.0, law)
    found = hockey_stick(
        (1.0 - first) * still + first * more,
        (1.0 - second) * still + second * more,
        epsilon,
    )
    return max(found - (1.0 + float(np.exp(epsilon))) * _TAIL * counts.size, 0.0)


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
    rounds = _ROUNDS if worlds.counts.size <= _FEW_GROUPS else 1
    for _ in range(rounds):
        for edge in np.unique(np.linspace(low, high, _THRESHOLDS).astype(int)).tolist():
            if edge not in found:
                found[edge] = at(edge)
        best = max(found, key=lambda edge: found[edge])
        step = max((high - low) // (_THRESHOLDS - 1), 1)
        low, high = max(1, best - step), min(size - 1, best + step)
    return max(found.values())
