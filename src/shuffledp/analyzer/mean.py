"""Mean estimators for shuffled messages about numbers, of mixed levels.

A person of level j who holds x sends a message of mean m_j(x) and variance v_j(x).

*Agnostic* - messages and levels are not linked. The estimate is the x for which

    h(x) = sum_j share_j m_j(x)

is the average message. If every m_j is linear (one-bit, Laplace, Gaussian), it is unbiased
as long as levels and values are independent. Clip-Laplace's are not linear: h(mean x) is
not the mean of h(x), and `bias_limit` is an upper bound of the bias for all values.

*Stratified* - every message carries its level. Each level is solved alone and the
solutions are weighted by the number of people: levels may depend on values.

Source of the calibration: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", eq. (1).
"""

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from shuffledp.analyzer.channel import Channel
from shuffledp.analyzer.interval import half_width
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.types import Floats, Mode

About: TypeAlias = Literal["participants", "population"]


@dataclass(frozen=True)
class MeanEstimate:
    """An estimated mean, with two kinds of errors.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 10_000})
    >>> mean, rng = sdp.Mean(low=0.0, high=16.0), np.random.default_rng(1)
    >>> values = rng.uniform(6.0, 10.0, size=10_000)
    >>> reports = mean.randomize(values, people.budgets(), rng=rng)
    >>> estimate = mean.estimate(sdp.shuffle(reports, rng=rng), people)
    >>> print(f"{estimate.value:.2f} +- {estimate.standard_error:.2f}")
    8.04 +- 0.17

    Attributes:
        value: The estimate; it may come out beyond the range of the values, and cutting it
            off there would bias it.
        standard_error: About the mean of the people who took part: only the devices'
            noise counts. Where messages do not show the spread of values (one-bit), it is
            the largest that the mean allows, unless the spread was given.
        population_error: About the mean of a population from which the participants are a
            random sample: sampling is an error, too.
        bias_limit: Upper bound of the bias for all values; 0 if it is unbiased.
        num_users: People in the collection.
        mode: "agnostic" or "stratified".
        identity: Of the protocol that estimated it.
        step: By how much one message moves the estimate, at most, for intervals; 0 where
            noise is added to a value, or the average message is curved in the value.
    """

    value: float
    standard_error: float
    population_error: float
    bias_limit: float
    num_users: int
    mode: Mode
    identity: Identity | None = None
    step: float = 0.0

    def interval(
        self, confidence: float = 0.95, *, about: About = "participants"
    ) -> tuple[float, float]:
        """Returns the ends of a two-sided interval, widened by the bias limit.

        Args:
            confidence: Probability that it contains the true mean, in (0, 1).
            about: Whose mean: of the "participants", or of their "population".
        """
        if about not in ("participants", "population"):
            raise InvalidInputError(
                f"Expected 'participants' or 'population', got {about!r}."
            )
        error = (
            self.standard_error if about == "participants" else self.population_error
        )
        # Added, not squared: the bias has one sign, and no draw makes up for it.
        margin = float(half_width(confidence, error, self.step)) + self.bias_limit
        return self.value - margin, self.value + margin

    def in_units(self, middle: float, half: float) -> "MeanEstimate":
        """Rescales the estimate from the range [-1, 1] to another one.

        Args:
            middle: Of the other range.
            half: Half its length.

        Raises:
            InvalidInputError: If it exceeds the largest number.
        """
        rescaled = replace(
            self,
            value=middle + half * self.value,
            standard_error=half * self.standard_error,
            population_error=half * self.population_error,
            bias_limit=half * self.bias_limit,
            step=half * self.step,
        )
        if not math.isfinite(
            rescaled.value + rescaled.standard_error + rescaled.bias_limit
        ):
            raise InvalidInputError(
                "Expected a range of values well below the largest number: the estimate "
                "is beyond."
            )
        return rescaled


def agnostic_mean(
    average: float,
    variance: float,
    channel: Channel,
    *,
    spread: float | None,
    span: float,
) -> MeanEstimate:
    """Estimates a mean from messages whose levels are not known.

    Args:
        average: Of the decoded messages.
        variance: Of the decoded messages.
        channel: The channel of the messages.
        spread: Standard deviation of the values, if known.
        span: Largest decoded message minus the smallest.
    """
    n = channel.num_users
    value = channel.solve(average)
    error = channel.variance(value, spread)
    # Messages of a random sample of people are a random sample of messages. The numbers of
    # people per level are fixed, so the variance between levels is subtracted.
    means, _ = channel.moments(
        channel.epsilons, np.array([np.clip(value, channel.low, channel.high)])
    )
    share = channel.counts / n
    between = float(share @ (means[:, 0] - share @ means[:, 0]) ** 2)
    sampled = channel.deviation(value, (max(variance - between, 0.0) / n) ** 0.5) ** 2
    return MeanEstimate(
        value=value,
        standard_error=error**0.5,
        # A population's error is no smaller than that of its sample, whatever variances
        # came out.
        population_error=max(sampled, error) ** 0.5,
        bias_limit=channel.bias_limit(average),
        num_users=n,
        mode="agnostic",
        step=_message_step(channel, span),
    )


def stratified_mean(
    averages: Floats,
    variances: Floats,
    channel: Channel,
    *,
    spread: float | None,
    span: float,
) -> MeanEstimate:
    """Estimates a mean from messages that carry their level.

    Args:
        averages: Of the decoded messages of each level, shape (levels,).
        variances: Of the decoded messages of each level, shape (levels,).
        channel: The channel of the messages of all levels.
        spread: Standard deviation of the values of each level's people, if known.
        span: Largest decoded message minus the smallest.
    """
    n = channel.num_users
    parts = [
        agnostic_mean(average, variance, channel.level(index), spread=spread, span=span)
        for index, (average, variance) in enumerate(
            zip(averages.tolist(), variances.tolist(), strict=True)
        )
    ]
    # Levels are weighted by people, not by precision: that would favor values of large
    # levels.
    share = (channel.counts / n).tolist()
    pairs = list(zip(share, parts, strict=True))
    return MeanEstimate(
        value=sum(weight * part.value for weight, part in pairs),
        standard_error=sum((w * part.standard_error) ** 2 for w, part in pairs) ** 0.5,
        population_error=sum((w * p.population_error) ** 2 for w, p in pairs) ** 0.5,
        bias_limit=sum(weight * part.bias_limit for weight, part in pairs),
        num_users=n,
        mode="stratified",
        step=max(weight * part.step for weight, part in pairs),
    )


def _message_step(channel: Channel, span: float) -> float:
    """Returns by how much one message moves the estimate, at most: see `MeanEstimate`."""
    # Messages that replace values are within their range. Noise that is added to values
    # leaves it, and changes every message: estimates are nearly normal.
    is_within = span <= (1.0 + 1e-9) * (channel.high - channel.low)
    if not (channel.linear and is_within):
        return 0.0
    return span / channel.num_users / channel.slope()
