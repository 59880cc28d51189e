"""Guessing test: correct guesses of canaries' bits against the certificate.

The published result depends on each bit X_i a little. In one run all bits are guessed at
once (Steinke, Nasr, Jagielski 2023), here with a bound that docs/theory/canaries.md proves:
let each canary's record keep (eps_i, delta_i) under replacement, let guesses T be any
function of the published result, of a fixed number of canaries at each level, and W the
number of correct guesses. Then for every w and every lambda >= 0

    P(W >= w) <= lambda D + E[min(1, max(0, 1 - lambda (w - B)))],
    D = sum_i delta_i / (1 + e^eps_i),

with B a sum of independent Bernoulli variables of mean e^eps_i / (1 + e^eps_i). The minimum
over lambda is the value of a knapsack.
"""

import math

import numpy as np
from scipy.special import expit
from scipy.stats import binom

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Ints
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.epoch_view import EpochView
from shuffledp_services.evidence.evidence import AuditFinding, EpochTest
from shuffledp_services.evidence.privacy_profiles import PrivacyProfiles

SHARE = 0.5
"""Share of a level's canaries that are guessed: those with the largest scores."""

_ROUNDING = 1e-9


def guesses_finding(
    canaries: Canaries, seen: EpochView, *, promises: PrivacyProfiles
) -> AuditFinding:
    """Tests the number of bits guessed correctly from the published estimate.

    Raises:
        InvalidInputError: If a canary's value is not an estimated category, or its level
            has no promise.
    """
    if seen.estimate is None:
        sentence = "What is published does not tell values apart."
        return AuditFinding.not_tested(EpochTest.GUESSES, sentence=sentence)
    level = _levels(canaries, promises)
    scores = guess_scores(canaries, seen)
    guessed = select_guesses(scores, level)
    # Ties are guesses, too: the number of guesses is fixed beforehand.
    right = (scores[guessed] >= 0.0) == (canaries.bits[guessed] == 1)
    correct, many = int(right.sum()), int(guessed.size)
    sent = np.bincount(level, minlength=promises.levels.size)
    p_value = guessing_p_value(
        correct,
        np.array([num_guesses(n) for n in sent.tolist()]),
        sent,
        promises=promises,
    )
    sentence = (
        f"{correct:,} of {many:,} guesses of canaries' bits are right; under the "
        f"certificate so many are with probability {p_value:.2g} at most."
    )
    return AuditFinding.of_p_value(EpochTest.GUESSES, p_value, sentence=sentence)


def guess_scores(canaries: Canaries, seen: EpochView) -> Floats:
    """Scores the second value of each canary against the first, shape (m,).

    Raises:
        InvalidInputError: If a canary's value is not an estimated category.
    """
    assert seen.estimate is not None
    if seen.estimate.size == 1:
        # The second value is the larger one, or not.
        up = np.sign(canaries.pairs[:, 1] - canaries.pairs[:, 0])
        return np.asarray(up * (seen.estimate[0] - seen.center), np.float64)
    pairs = canaries.pairs.astype(np.int64)
    if (pairs != canaries.pairs).any() or not (
        (pairs >= 0) & (pairs < seen.estimate.size)
    ).all():
        raise InvalidInputError(
            f"Expected canaries of categories in [0, {seen.estimate.size})."
        )
    scores: Floats = seen.estimate[pairs[:, 1]] - seen.estimate[pairs[:, 0]]
    return scores


def num_guesses(canaries: int) -> int:
    """Returns the number of guesses at a level with this number of canaries."""
    return math.ceil(SHARE * canaries)


def select_guesses(scores: Floats, levels: Ints) -> Ints:
    """Selects the canaries to guess, a fixed number per level.

    Args:
        scores: The score of each canary, shape (m,).
        levels: The index of each canary's level, shape (m,).
    """
    chosen = []
    for level in np.unique(levels).tolist():
        inside = np.flatnonzero(levels == level)
        order = np.argsort(-np.abs(scores[inside]), kind="stable")
        chosen.append(inside[order[: num_guesses(inside.size)]])
    return np.concatenate(chosen)


def guessing_p_value(
    correct: int, guessed: Ints, sent: Ints, *, promises: PrivacyProfiles
) -> float:
    """Bounds the probability of at least `correct` correct guesses.

    Args:
        correct: Correct guesses, at all levels together.
        guessed: Guesses at each level, fixed beforehand, shape (levels,).
        sent: Canaries at each level, shape (levels,).
        promises: Their certified profiles.

    Returns:
        In (0, 1].
    """
    min_p_value = 1.0
    # The bound holds for every point of the profile, so the least needs no correction.
    for epsilons, deltas in zip(promises.epsilons, promises.deltas, strict=True):
        # The distribution of B, from that of each level's guesses.
        distribution = np.ones(1)
        for epsilon, count in zip(epsilons.tolist(), guessed.tolist(), strict=True):
            guesses = binom.pmf(np.arange(count + 1), count, expit(epsilon))
            distribution = np.convolve(distribution, guesses)
        # D sums over all canaries of a level, guessed or not.
        # 1 / (1 + e^eps), without overflow.
        bought = float(np.sum(sent * deltas * expit(-epsilons)))
        min_p_value = min(min_p_value, knapsack(distribution, correct, bought))
    return min(max(min_p_value * (1.0 + _ROUNDING), 1e-300), 1.0)


def knapsack(distribution: Floats, wanted: int, bought: float) -> float:
    """Returns max P(B + N >= wanted) over all N >= 0 with E[N] <= bought.

    >>> round(knapsack(np.array([0.5, 0.25, 0.25]), 2, 0.375), 4)  # 1/4 + 1/4 + 1/16
    0.5625

    Args:
        distribution: P(B = b), shape (most + 1,).
        wanted: In [0, most].
        bought: At least 0.
    """
    reached = math.fsum(distribution[wanted:].tolist())
    # The j-th entry: j correct guesses are missing, which costs j times its probability.
    short = distribution[:wanted][::-1]
    missing = np.arange(1, wanted + 1)
    # D buys correct guesses first where few are missing, as these cost least.
    costs = np.cumsum(missing * short)
    whole = int(np.searchsorted(costs, bought, side="right"))
    reached += math.fsum(short[:whole].tolist())
    if whole < wanted:
        paid = float(costs[whole - 1]) if whole else 0.0
        # The remainder buys a part of the knapsack's next item.
        reached += (bought - paid) / float(missing[whole])
    return min(reached, 1.0)


def _levels(canaries: Canaries, promises: PrivacyProfiles) -> Ints:
    """Returns the index of each canary's level among the promises, shape (m,)."""
    indices = np.searchsorted(promises.levels, canaries.levels)
    indices = np.minimum(indices, promises.levels.size - 1)
    if (promises.levels[indices] != canaries.levels).any():
        raise InvalidInputError("Expected a promise to the level of every canary.")
    return indices
