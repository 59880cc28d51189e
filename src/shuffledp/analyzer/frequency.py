"""Frequency estimators for shuffled messages of mixed levels, with standard errors.

The message of a person of level j supports category c with probability
flip_j + gap_j 1{x = c}: it names c, contains it, or hashes it to its bucket. Write f_c for
the share of the n people who hold c, and count_c for the messages that support it.

*Agnostic* - messages and levels are not linked. With flip and gap averaged over the
people,

    estimate_c = (count_c / n - mean flip) / mean gap.

It is unbiased if levels and values are independent (the order of levels does not depend on
the values). Then

    variance_c = (f_c mean keep (1 - keep) + (1 - f_c) mean flip (1 - flip)
                  + f_c (1 - f_c) var gap n / (n - 1)) / (n mean(gap)^2),

where keep = flip + gap. The last term is due to the random assignment of levels.

*Stratified* - every message carries its level. Each level is estimated alone and the
estimates are weighted by the number of people: unbiased, also if levels depend on values.

These are errors about the n participants. If they were drawn at random from a larger
population with shares p_c, f_c itself is off by a variance of p_c (1 - p_c) / n.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.analyzer.interval import half_width
from shuffledp.analyzer.projection import project
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.types import Floats, Ints, Mode


@dataclass(frozen=True, eq=False)
class FrequencyEstimate:
    """Estimated shares of the people who take part, with two kinds of errors.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({2.0: 1_000})
    >>> frequency, rng = sdp.Frequency(3), np.random.default_rng(1)
    >>> values = np.repeat([0, 1, 2], [500, 300, 200])
    >>> reports = frequency.randomize(values, people.budgets(), rng=rng)
    >>> estimate = frequency.estimate(sdp.shuffle(reports, rng=rng), people)
    >>> estimate.value.round(2).tolist()
    [0.47, 0.34, 0.19]
    >>> estimate.interval(0.95).round(2).tolist()
    [[0.44, 0.5], [0.31, 0.37], [0.16, 0.22]]

    Attributes:
        value: Unbiased estimates, shape (k,). They add up to 1 for k-ary response and
            subset selection, and nearly so for others; a rare category may come out
            below 0: cutting it off there would bias the others. See `consistent`.
        standard_error: About the shares of the people who took part: only the devices'
            noise counts. Shape (k,).
        num_users: People in the collection.
        mode: "agnostic" or "stratified".
        identity: Of the protocol that estimated it.
        step: By how much one message moves a share, at most, for intervals.
    """

    value: Floats
    standard_error: Floats
    num_users: int
    mode: Mode
    identity: Identity | None = None
    step: float = 0.0

    @property
    def population_error(self) -> Floats:
        """The standard error about the population that the participants come from.

        The participants are a random sample of it: sampling is an error, too. Shape (k,).
        """
        # Estimates may lie outside of [0, 1], where f (1 - f) would be negative.
        f = np.clip(self.value, 0.0, 1.0)
        sampling = f * (1.0 - f) / self.num_users
        error: Floats = np.sqrt(self.standard_error**2 + sampling)
        return error

    def interval(
        self,
        confidence: float = 0.95,
        *,
        about: Literal["participants", "population"] = "participants",
    ) -> Floats:
        """Returns the ends of two-sided confidence intervals, shape (k, 2).

        Args:
            confidence: Probability that an interval contains the true share, in (0, 1).
            about: Whose share: that of the "participants", or of the "population" of
                which they are a random sample.
        """
        if about not in ("participants", "population"):
            raise InvalidInputError(
                f"Expected 'participants' or 'population', got {about!r}."
            )
        of_people = about == "participants"
        error = self.standard_error if of_people else self.population_error
        margin = half_width(confidence, error, self.step)
        return np.stack([self.value - margin, self.value + margin], axis=1)

    def consistent(self) -> ConsistentEstimate:
        """Returns the nearest shares that are not negative and add up to 1.

        They are nearer to the truth, and biased: see `ConsistentEstimate`.
        """
        return ConsistentEstimate(self, project(self.value, 1.0), 0.0, 1.0, ())


def agnostic_frequencies(
    message_counts: Ints, *, level_counts: Ints, keep: Floats, flip: Floats
) -> FrequencyEstimate:
    """Estimates frequencies from messages whose levels are not known.

    Args:
        message_counts: Messages that support each category, shape (k,).
        level_counts: People per level, shape (levels,).
        keep: Probability that a message of each level supports its value, (levels,).
        flip: Probability that it supports another given value, shape (levels,).

    Raises:
        InvalidInputError: If every level is 0, so that messages carry no information.
    """
    n = int(level_counts.sum())
    share = level_counts / n
    # E[count] / n = flip + (keep - flip) f, in the mean over levels.
    mean_gap = float(share @ (keep - flip))
    _check_informative(mean_gap)
    value = (message_counts / n - float(share @ flip)) / mean_gap
    error = agnostic_error(value, level_counts=level_counts, keep=keep, flip=flip)
    return FrequencyEstimate(value, error, n, "agnostic")


def agnostic_error(
    shares: Floats, *, level_counts: Ints, keep: Floats, flip: Floats
) -> Floats:
    """Returns the standard errors of `agnostic_frequencies`, shape (k,).

    Args:
        shares: f, the true shares or estimates of them, shape (k,).
        level_counts: As there.
        keep: As there.
        flip: As there.

    Raises:
        InvalidInputError: If every level is 0.
    """
    n = int(level_counts.sum())
    share = level_counts / n
    gap = keep - flip
    mean_gap = float(share @ gap)
    _check_informative(mean_gap)
    # Estimates may lie outside of [0, 1], where variances would be negative.
    f = np.clip(shares, 0.0, 1.0)
    randomization = f * float(share @ (keep * (1.0 - keep)))
    randomization += (1.0 - f) * float(share @ (flip * (1.0 - flip)))
    assignment = (
        f * (1.0 - f) * float(share @ (gap - mean_gap) ** 2) * n / max(n - 1, 1)
    )
    error: Floats = np.sqrt((randomization + assignment) / n) / mean_gap
    return error


def stratified_frequencies(
    message_counts: Ints, *, level_counts: Ints, keep: Floats, flip: Floats
) -> FrequencyEstimate:
    """Estimates frequencies from messages that carry their level.

    Args:
        message_counts: Messages of each level that support each category, shape
            (levels, k).
        level_counts: People per level, shape (levels,).
        keep: Probability that a message of each level supports its value, (levels,).
        flip: Probability that it supports another given value, shape (levels,).

    Raises:
        InvalidInputError: If a level is 0: its people's values stay unknown.
    """
    n = int(level_counts.sum())
    share, people = (level_counts / n)[:, None], level_counts[:, None]
    gap = (keep - flip)[:, None]
    _check_informative(float(gap.min()))
    values = (message_counts / people - flip[:, None]) / gap
    value = (share * values).sum(axis=0)
    error = stratified_error(values, level_counts=level_counts, keep=keep, flip=flip)
    return FrequencyEstimate(value, error, n, "stratified")


def stratified_error(
    shares: Floats, *, level_counts: Ints, keep: Floats, flip: Floats
) -> Floats:
    """Returns the standard errors of `stratified_frequencies`, shape (k,).

    Args:
        shares: The true shares at each level, or estimates, shape (levels, k).
        level_counts: As there.
        keep: As there.
        flip: As there.

    Raises:
        InvalidInputError: If a level is 0.
    """
    share = (level_counts / int(level_counts.sum()))[:, None]
    keep, flip = keep[:, None], flip[:, None]
    gap = keep - flip
    _check_informative(float(gap.min()))
    f = np.clip(shares, 0.0, 1.0)
    variances = f * keep * (1.0 - keep) + (1.0 - f) * flip * (1.0 - flip)
    variances /= level_counts[:, None] * gap**2
    error: Floats = np.sqrt((share**2 * variances).sum(axis=0))
    return error


def _check_informative(gap: float) -> None:
    # Below this, the rounding of the devices' probabilities is as large as the signal.
    # `not >` refuses NaN, too.
    if not gap > 1e-9:
        raise InvalidInputError(
            "Expected privacy budgets well above 0: messages at level 0 are nothing but "
            "noise and cannot be analyzed on their own."
        )
