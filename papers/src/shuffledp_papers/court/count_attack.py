"""Count attack: the number of messages in one set of cells.

Other users' messages fall into the set independently, with the probability of their group:
their number is Poisson-binomial, a convolution of binomials. The target user adds one with
probability p on x and q on x'. A set holds all messages on one side of a threshold, or is
given by its probabilities.
"""

import numpy as np

from shuffledp.types import Floats, Ints
from shuffledp_papers.court.worlds import Worlds, hockey_stick

# Binomials are cut off at this many deviations, plus this many successes.
_DEVIATIONS, _MORE = 12.0, 40
# Probability left out by that, at most (Bernstein's inequality), and at the ends of each
# sum of groups.
_TAIL = 1e-25
_END = 1e-27
# Thresholds tried at a time, and how often the best ones' surroundings are searched.
_THRESHOLDS, _ROUNDS = 24, 3
# With more groups than this, only one round is made.
_FEW_GROUPS = 8


def number_inside(probabilities: Floats, counts: Ints) -> tuple[int, Floats]:
    """Returns the distribution of the number of successes: P(start + k) = distribution[k].

    Cut off at both ends, where together less than `_TAIL` per group is lost.

    Args:
        probabilities: Probability of success of each group, shape (groups,).
        counts: Number of independent trials of each group, shape (groups,).
    """
    start, parts = 0, [np.ones(1)]
    for probability, count in zip(probabilities.tolist(), counts.tolist(), strict=True):
        # Certain successes only shift the number; the odds below would be infinite.
        if probability >= 1.0:
            start += count
        elif count > 0 and probability > 0.0:
            first, distribution = binomial(count, probability)
            start += first
            parts.append(distribution)
    # In pairs, so that a thousand groups cost little more than ten.
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        unpaired = parts[len(parts) - len(parts) % 2 :]
        sums = [_trimmed(np.convolve(*pair)) for pair in pairs]
        start += sum(first for first, _ in sums)
        parts = [distribution for _, distribution in sums] + unpaired
    return start, parts[0]


def _trimmed(distribution: Floats) -> tuple[int, Floats]:
    """Returns a distribution without improbable ends, and its new start."""
    first = int(np.searchsorted(np.cumsum(distribution), _END))
    last = distribution.size - int(np.searchsorted(np.cumsum(distribution[::-1]), _END))
    return first, distribution[first:last]


def binomial(trials: int, probability: float) -> tuple[int, Floats]:
    """Returns a binomial distribution, and its start.

    >>> binomial(2, 0.5)
    (0, array([0.25, 0.5 , 0.25]))
    """
    mean = trials * probability
    reach = _DEVIATIONS * (mean * (1.0 - probability)) ** 0.5 + _MORE
    low, high = max(0, int(mean - reach)), min(trials, int(mean + reach) + 1)
    mode = min(max(round(mean), low), high)
    # From the mode outward by ratios of neighbors: all factors are at most about 1, and
    # nothing overflows.
    odds = probability / (1.0 - probability)
    up, down = np.arange(mode, high), np.arange(mode, low, -1)
    distribution = np.concatenate(
        [
            np.cumprod(down / ((trials - down + 1.0) * odds))[::-1],
            np.ones(1),
            np.cumprod((trials - up) * odds / (up + 1.0)),
        ]
    )
    return low, distribution / distribution.sum()


def count_divergence(
    first: float, second: float, probabilities: Floats, counts: Ints, *, epsilon: float
) -> float:
    """Returns the divergence of the number of messages in a set.

    Args:
        first: Probability of the target user's message to be in the set on x.
        second: The same on x'.
        probabilities: The same of each group, shape (groups,).
        counts: Number of other users in each group, shape (groups,).
        epsilon: In nats, >= 0.
    """
    _, distribution = number_inside(probabilities, counts)
    # The number of others, and one more.
    still, more = np.append(distribution, 0.0), np.append(0.0, distribution)
    divergence = hockey_stick(
        (1.0 - first) * still + first * more,
        (1.0 - second) * still + second * more,
        epsilon,
    )
    # Probability that was cut off moves a divergence by at most 1 + e^epsilon times it.
    lost = (1.0 + float(np.exp(epsilon))) * _TAIL * counts.size
    return max(divergence - lost, 0.0)


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
        # The two sets {cells < edge} and {cells >= edge} have the same information up
        # to rounding: the one that is rarer among the others keeps its digits.
        below = float(worlds.counts @ sums[2][:, edge - 1])
        over = float(worlds.counts @ above[2][:, edge])
        p, q, probabilities = (
            [part[..., edge - 1] for part in sums]
            if below <= over
            else [part[..., edge] for part in above]
        )
        return count_divergence(
            float(p),
            float(q),
            np.minimum(np.atleast_1d(probabilities), 1.0),
            worlds.counts,
            epsilon=epsilon,
        )

    divergences: dict[int, float] = {}
    low, high = 1, size - 1
    rounds = _ROUNDS if worlds.counts.size <= _FEW_GROUPS else 1
    for _ in range(rounds):
        for edge in np.unique(np.linspace(low, high, _THRESHOLDS).astype(int)).tolist():
            if edge not in divergences:
                divergences[edge] = at(edge)
        best = max(divergences, key=lambda edge: divergences[edge])
        step = max((high - low) // (_THRESHOLDS - 1), 1)
        low, high = max(1, best - step), min(size - 1, best + step)
    return max(divergences.values())
