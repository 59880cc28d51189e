"""From shuffled k-ary messages of mixed levels to frequencies with error bars.

A person of level j sends category c with probability flip_j + gap_j 1{x = c}. Write f_c
for the share of the n people who hold c.

*Agnostic* - messages and levels are not linked. With flip and gap averaged over the
people,

    estimate_c = (count_c / n - mean flip) / mean gap.

It is unbiased if levels and values are independent (levels in an order that has nothing
to do with the values). Then

    variance_c = (f_c mean keep (1 - keep) + (1 - f_c) mean flip (1 - flip)
                  + f_c (1 - f_c) var gap n / (n - 1)) / (n mean(gap)^2),

where keep = flip + gap. The last term is due to who happened to choose which level.

*Stratified* - every message carries its level. Each level is estimated alone and the
estimates are weighted by the number of people: unbiased whatever the levels depend on.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Ints, Mode


@dataclass(frozen=True, eq=False)
class FrequencyEstimate:
    """Estimated shares of the people who take part; only the devices' noise is an error.

    Attributes:
        value: Unbiased estimates, shape (k,). They add up to 1, but a rare category may
            come out below 0: cutting it off there would bias the others.
        standard_error: Shape (k,).
        num_users: People in the collection.
        mode: "agnostic" or "stratified".
    """

    value: Floats
    standard_error: Floats
    num_users: int
    mode: Mode

    def interval(self, confidence: float = 0.95) -> Floats:
        """Returns the ends of two-sided normal confidence intervals, shape (k, 2).

        Args:
            confidence: Chance that an interval holds the true share, in (0, 1).
        """
        confidence = as_number(confidence, "confidence")
        if not 0.0 < confidence < 1.0:
            raise InvalidInputError(f"Expected 0 < confidence < 1, got {confidence}.")
        reach = float(ndtri(0.5 + confidence / 2.0)) * self.standard_error
        return np.stack([self.value - reach, self.value + reach], axis=1)


def agnostic_frequencies(
    message_counts: Ints, *, level_counts: Ints, keep: Floats, flip: Floats
) -> FrequencyEstimate:
    """Estimates frequencies from messages whose levels are not known.

    Args:
        message_counts: Messages per category, shape (k,).
        level_counts: People per level, shape (levels,), with the same sum.
        keep: Chance that a person of each level sends her value, shape (levels,).
        flip: Chance that she sends one given other value, shape (levels,).

    Raises:
        InvalidInputError: If every level is 0, so that messages carry no information.
    """
    n = int(level_counts.sum())
    share = level_counts / n
    gap = keep - flip
    mean_gap = float(share @ gap)
    _check_informative(mean_gap)
    value = (message_counts / n - float(share @ flip)) / mean_gap
    f = np.clip(value, 0.0, 1.0)
    coins = f * float(share @ (keep * (1.0 - keep)))
    coins += (1.0 - f) * float(share @ (flip * (1.0 - flip)))
    assignment = (
        f * (1.0 - f) * float(share @ (gap - mean_gap) ** 2) * n / max(n - 1, 1)
    )
    error = np.sqrt((coins + assignment) / n) / mean_gap
    return FrequencyEstimate(value, error, n, "agnostic")


def stratified_frequencies(
    message_counts: Ints, *, level_counts: Ints, keep: Floats, flip: Floats
) -> FrequencyEstimate:
    """Estimates frequencies from messages that carry their level.

    Args:
        message_counts: Messages per level and category, shape (levels, k).
        level_counts: People per level, the sums of its rows, shape (levels,).
        keep: Chance that a person of each level sends her value, shape (levels,).
        flip: Chance that she sends one given other value, shape (levels,).

    Raises:
        InvalidInputError: If a level is 0: its people's values stay unknown.
    """
    n = int(level_counts.sum())
    share, people = (level_counts / n)[:, None], level_counts[:, None]
    keep, flip = keep[:, None], flip[:, None]
    gap = keep - flip
    _check_informative(float(gap.min()))
    values = (message_counts / people - flip) / gap
    f = np.clip(values, 0.0, 1.0)
    variances = f * keep * (1.0 - keep) + (1.0 - f) * flip * (1.0 - flip)
    variances /= people * gap**2
    value = (share * values).sum(axis=0)
    error = np.sqrt((share**2 * variances).sum(axis=0))
    return FrequencyEstimate(value, error, n, "stratified")


def _check_informative(gap: float) -> None:
    # Below this, the rounding of the devices' coins is as large as the signal.
    if not gap > 1e-9:
        raise InvalidInputError(
            "Expected privacy budgets well above 0: messages at level 0 are nothing but "
            "noise and cannot be analyzed on their own."
        )
