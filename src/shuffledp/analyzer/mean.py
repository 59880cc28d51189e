"""From shuffled messages about numbers, of mixed levels, to a mean with error bars.

A person of level j who holds x sends a message of mean m_j(x) and variance v_j(x).

*Agnostic* - messages and levels are not linked. The estimate is the x for which

    h(x) = sum_j share_j m_j(x)

is the average message. If every m_j is linear (one-bit, Laplace, Gaussian), it is unbiased
as long as levels and values are independent. Clip-Laplace's are not: what h makes of a
mean is not the mean of what it makes of the values, and `bias_limit` says how far off the
estimate can be, whatever the values are.

*Stratified* - every message carries its level. Each level is solved alone and the
solutions are weighted by the number of people: unbiased whatever the levels depend on.

Source of the calibration: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", eq. (1).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from shuffledp.analyzer.interval import reach
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Mode

# (levels, values) -> means and variances of messages, both of shape (levels, values).
Moments: TypeAlias = Callable[[Floats, Floats], tuple[Floats, Floats]]
About: TypeAlias = Literal["participants", "population"]

# Values at which the bias of a curved h is looked at.
_GRID = 257


@dataclass(frozen=True)
class MeanEstimate:
    """An estimated mean. Two errors are told apart.

    Attributes:
        value: The estimate; it may come out beyond the range of the values, and cutting it
            off there would bias it.
        standard_error: As an estimate of the mean of the people who took part: only the
            devices' noise is an error. Where messages do not show how much the values
            differ (one-bit), it is the largest that the mean allows, unless their spread
            was given.
        population_error: As an estimate of the mean of a population from which these
            people were drawn at random: sampling is an error, too.
        bias_limit: How far off the average estimate can be, whatever the values are; 0 if
            it is unbiased.
        num_users: People in the collection.
        mode: "agnostic" or "stratified".
    """

    value: float
    standard_error: float
    population_error: float
    bias_limit: float
    num_users: int
    mode: Mode

    def interval(
        self, confidence: float = 0.95, *, about: About = "participants"
    ) -> tuple[float, float]:
        """Returns the ends of a two-sided interval, widened by the bias limit.

        Args:
            confidence: Chance that it holds the true mean, in (0, 1).
            about: Of whom: the "participants", or the "population" they come from.
        """
        if about not in ("participants", "population"):
            raise InvalidInputError(
                f"Expected 'participants' or 'population', got {about!r}."
            )
        error = (
            self.standard_error if about == "participants" else self.population_error
        )
        wide = reach(confidence) * error + self.bias_limit
        return self.value - wide, self.value + wide


@dataclass(frozen=True, eq=False)
class Channel:
    """What messages tell about values.

    Attributes:
        moments: Of the randomizer.
        epsilons: The levels, shape (levels,).
        counts: People at each, shape (levels,).
        low: Smallest possible value.
        high: Largest possible value.
    """

    moments: Moments
    epsilons: Floats
    counts: Floats
    low: float
    high: float

    def level(self, index: int) -> "Channel":
        """Returns the people of one level alone."""
        one = slice(index, index + 1)
        return Channel(
            self.moments, self.epsilons[one], self.counts[one], self.low, self.high
        )

    @property
    def num_users(self) -> int:
        """How many people there are."""
        return int(self.counts.sum())

    def average(self, values: Floats) -> Floats:
        """Returns h, shape (values,)."""
        mean, _ = self.moments(self.epsilons, values)
        averaged: Floats = (self.counts / self.counts.sum()) @ mean
        return averaged

    def slopes(self, value: float) -> Floats:
        """Returns the derivative of every level's m at a value, shape (levels,)."""
        step = 1e-4 * (self.high - self.low)
        at = min(max(value, self.low + step), self.high - step)
        mean, _ = self.moments(self.epsilons, np.array([at - step, at + step]))
        slopes: Floats = (mean[:, 1] - mean[:, 0]) / (2.0 * step)
        return slopes

    def slope(self, value: float) -> float:
        """Returns the derivative of h at a value.

        Raises:
            InvalidInputError: If it is next to nothing: messages carry no information.
        """
        slope = float(self.counts @ self.slopes(value)) / self.num_users
        # Below this, the rounding of the devices' coins is as large as the signal.
        if not slope > 1e-9:
            raise InvalidInputError(
                "Expected privacy budgets well above 0: messages at level 0 are nothing "
                "but noise and cannot be analyzed on their own."
            )
        return slope

    def solve(self, average: float) -> float:
        """Returns the x with h(x) = average; beyond the range h goes on straight."""
        ends = self.average(np.array([self.low, self.high]))
        for end, value in zip((self.low, self.high), ends.tolist(), strict=True):
            if (average - value) * (1.0 if end == self.high else -1.0) >= 0.0:
                return float(end + (average - value) / self.slope(end))
        low, high = self.low, self.high
        # Each step looks at 64 values and keeps one gap between them.
        for _ in range(9):
            tried = np.linspace(low, high, 65)
            place = int(np.searchsorted(self.average(tried), average))
            low, high = tried[max(place - 1, 0)], tried[min(place, 64)]
        return float(low + high) / 2.0

    def variance(self, value: float, spread: float) -> float:
        """Returns the variance of an estimate by `solve`, given the values.

        Args:
            value: Their mean.
            spread: Their standard deviation.
        """
        n = self.num_users
        held = np.clip([value - spread, value + spread], self.low, self.high)
        mean, noise = self.moments(self.epsilons, held)
        share = self.counts / n
        drawn = float(share @ noise.mean(axis=1))
        # Who happens to have chosen which level: a random matching of slopes and values.
        tilt = (mean[:, 1] - mean[:, 0]) / 2.0
        tilt = tilt - share @ tilt
        matching = float(share @ tilt**2) * n / max(n - 1, 1)
        return float((drawn + matching) / (n * self.slope(value) ** 2))

    def bias_limit(self, average: float) -> float:
        """Returns how far the average estimate can be from the mean of the values.

        Values whose average message is a given one have their mean between the convex and
        the concave envelope of the inverse of h, at that average.
        """
        values = np.linspace(self.low, self.high, _GRID)
        messages = self.average(values)
        straight = np.interp(messages, messages[[0, -1]], values[[0, -1]])
        span = self.high - self.low
        if np.abs(values - straight).max() < 1e-9 * span:
            return 0.0
        least = np.interp(average, *_hull(messages, values))
        most = -np.interp(average, *_hull(messages, -values))
        solved = np.interp(average, messages, values)
        # Between grid points h is straight to second order.
        return float(max(most - solved, solved - least)) + 1e-5 * span


def agnostic_mean(
    average: float, variance: float, channel: Channel, *, spread: float | None
) -> MeanEstimate:
    """Estimates a mean from messages whose levels are not known.

    Args:
        average: Of the decoded messages.
        variance: Of the decoded messages.
        channel: What they tell.
        spread: Standard deviation of the values, if known.
    """
    n = channel.num_users
    value = channel.solve(average)
    error = channel.variance(value, spread or 0.0)
    # Messages of a random sample of people are a random sample of messages; only what the
    # fixed numbers of people per level take away from their variance is known.
    means, _ = channel.moments(
        channel.epsilons, np.array([np.clip(value, channel.low, channel.high)])
    )
    between = float(channel.counts @ (means[:, 0] - average) ** 2) / n
    sampled = max(variance - between, 0.0) / (n * channel.slope(value) ** 2)
    return MeanEstimate(
        value=value,
        standard_error=error**0.5,
        population_error=max(sampled, error) ** 0.5,
        bias_limit=channel.bias_limit(average),
        num_users=n,
        mode="agnostic",
    )


def stratified_mean(
    averages: Floats, variances: Floats, channel: Channel, *, spread: float | None
) -> MeanEstimate:
    """Estimates a mean from messages that carry their level.

    Args:
        averages: Of the decoded messages of each level, shape (levels,).
        variances: Of the decoded messages of each level, shape (levels,).
        channel: What they tell.
        spread: Standard deviation of the values of each level's people, if known.
    """
    n = channel.num_users
    parts = [
        agnostic_mean(average, variance, channel.level(index), spread=spread)
        for index, (average, variance) in enumerate(
            zip(averages.tolist(), variances.tolist(), strict=True)
        )
    ]
    share = (channel.counts / n).tolist()
    pairs = list(zip(share, parts, strict=True))
    return MeanEstimate(
        value=sum(weight * part.value for weight, part in pairs),
        standard_error=sum((w * part.standard_error) ** 2 for w, part in pairs) ** 0.5,
        population_error=sum((w * p.population_error) ** 2 for w, p in pairs) ** 0.5,
        bias_limit=sum(weight * part.bias_limit for weight, part in pairs),
        num_users=n,
        mode="stratified",
    )


def _hull(at: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Returns the corners of the largest convex function below some points, in order."""
    kept: list[int] = []
    for index in range(at.size):
        while len(kept) > 1:
            left, middle = kept[-2], kept[-1]
            rise = (values[index] - values[left]) * (at[middle] - at[left])
            if (values[middle] - values[left]) * (at[index] - at[left]) < rise:
                break
            kept.pop()
        kept.append(index)
    return at[kept], values[kept]
