"""Divergence of an adaptive process with budgets of places: a corrected Theorem 1.

In Definition 4 users take n places in a secret random order. The user at place t sends a
message of randomizer R_t, which may depend on all earlier messages and is eps_t-private;
messages are published in the order of places, and the target user's place is secret. With
r_t = e^{eps_t},

    divergence <= E[(S_1 + ... + S_n)_+] / n,      S_t independent,
    S_t = c_t (r_t - e^epsilon)  or  c_t (1 - e^epsilon r_t), each with probability
    1 / (c_t (1 + r_t)), and otherwise 0,
    c_t = 1 where eps_t >= epsilon, and 2 r_t / (1 + r_t) elsewhere

(docs/theory/any-randomizer.md has the proof). For one common budget above epsilon this is
the divergence of the two counts of Theorem 1, which is therefore right there. For budgets
that differ Theorem 1 is false: the counts omit the *place* of a message, and at a place
with a large budget it reveals much more. With one place at 6 among 199 at 0.1 the
exact divergence at epsilon 1 is 7.2e-4, where 1.4e-12 is stated.

`response_divergence` is the exact divergence of one such process, never above the bound.
"""

import math
from collections.abc import Mapping

import numpy as np
from scipy.special import gammaln

from shuffledp.arrays import level_array
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Ints

# Outcomes of the counts, all enumerated.
_LARGEST = 20_000_000


def slot_divergence(level_counts: Mapping[float, int], epsilon: float) -> float:
    """Returns the bound for every adaptive process with these budgets of places.

    >>> round(slot_divergence({1.0: 1}, 0.5), 4)
    0.2876

    Args:
        level_counts: {budget: number of places}, budgets from 0 to 700.
        epsilon: In nats, >= 0.

    Raises:
        InvalidInputError: If a budget, a count or epsilon is out of range, or there are
            too many places to enumerate.
    """
    levels, counts = _checked(level_counts, epsilon)
    decay = np.exp(-levels)
    # c_t, 1 / (c_t (1 + r_t)), and the two nonzero values of S_t / c_t.
    factor = np.where(levels >= epsilon, 1.0, 2.0 / (1.0 + decay))
    probability = decay / (1.0 + decay) / factor
    ends = np.exp(levels) - math.exp(epsilon), 1.0 - np.exp(epsilon + levels)
    scores = np.stack([factor * ends[0], factor * ends[1], 0.0 * levels], axis=1)
    weights = np.stack([probability, probability, 1.0 - 2.0 * probability], axis=1)
    # The target user's place is uniform among all places.
    return _positive_part(scores, weights, counts) / int(counts.sum())


def response_divergence(level_counts: Mapping[float, int], epsilon: float) -> float:
    """Returns the exact divergence of three-ary response at every place.

    The target user holds the first or the second value, all others the third.

    Args:
        level_counts: {budget: number of places}, budgets from 0 to 700.
        epsilon: In nats, >= 0.

    Raises:
        InvalidInputError: As for `slot_divergence`.
    """
    levels, counts = _checked(level_counts, epsilon)
    lie = np.exp(-levels) / (1.0 + 2.0 * np.exp(-levels))
    ratio = np.exp(levels)
    # Ratios of the target user's probabilities of a message, at x less e^epsilon times at
    # x', to the probability of a user with the third value.
    scores = np.stack(
        [
            ratio - math.exp(epsilon),
            1.0 - np.exp(epsilon + levels),
            (1.0 - math.exp(epsilon)) / ratio,
        ],
        axis=1,
    )
    weights = np.stack([lie, lie, 1.0 - 2.0 * lie], axis=1)
    return _positive_part(scores, weights, counts) / int(counts.sum())


def _checked(level_counts: Mapping[float, int], epsilon: float) -> tuple[Floats, Ints]:
    if not 0.0 <= epsilon < math.inf:
        raise InvalidInputError(f"Expected a finite epsilon >= 0, got {epsilon:g}.")
    levels = level_array(list(level_counts))
    counts = np.array(list(level_counts.values()), dtype=np.int64)
    states = math.prod((int(count) + 1) * (int(count) + 2) // 2 for count in counts)
    if counts.min() < 1 or states > _LARGEST:
        raise InvalidInputError(
            f"Expected counts >= 1 with at most {_LARGEST:,} outcomes, got {states:,}."
        )
    return levels, counts


def _positive_part(scores: Floats, weights: Floats, counts: Ints) -> float:
    """Returns E[(sum)_+] of counts[l] draws of scores[l] with probabilities weights[l]."""
    sums, probabilities = np.zeros(1), np.ones(1)
    for row, row_weights, count in zip(scores, weights, counts.tolist(), strict=True):
        first, second = np.triu_indices(count + 1)
        # Multinomial counts of the three outcomes: first <= second split `count` in three.
        numbers = np.stack([first, second - first, count - second])
        with np.errstate(divide="ignore", invalid="ignore"):
            # 0 log 0 = 0.
            logs = np.where(numbers > 0, numbers * np.log(row_weights)[:, None], 0.0)
        ways = gammaln(count + 1.0) - gammaln(numbers + 1.0).sum(axis=0)
        probabilities = np.outer(probabilities, np.exp(ways + logs.sum(axis=0))).ravel()
        sums = np.add.outer(sums, row @ numbers).ravel()
    return float(probabilities @ np.maximum(sums, 0.0))
