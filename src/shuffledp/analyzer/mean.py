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

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import brentq

from shuffledp.analyzer.interval import reach
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Mode

# (levels, values) -> means and variances of messages, both of shape (levels, values).
Moments: TypeAlias = Callable[[Floats, Floats], tuple[Floats, Floats]]
About: TypeAlias = Literal["participants", "population"]

# Values at which the bias of a curved h is looked at.
_GRID = 257
# Levels looked at together, to bound the memory of temporaries.
_BATCH = 1 << 14


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

    def in_units(self, middle: float, half: float) -> "MeanEstimate":
        """Returns the estimate for another range, where this one's is [-1, 1].

        Args:
            middle: Of the other range.
            half: Half its length.

        Raises:
            InvalidInputError: If it is beyond the largest number.
        """
        moved = replace(
            self,
            value=middle + half * self.value,
            standard_error=half * self.standard_error,
            population_error=half * self.population_error,
            bias_limit=half * self.bias_limit,
        )
        if not math.isfinite(moved.value + moved.standard_error + moved.bias_limit):
            raise InvalidInputError(
                "Expected a range of values well below the largest number: the estimate "
                "is beyond."
            )
        return moved


@dataclass(frozen=True, eq=False)
class Channel:
    """What messages tell about values.

    Attributes:
        moments: Of the randomizer.
        epsilons: The levels, shape (levels,).
        counts: People at each, shape (levels,).
        low: Smallest possible value.
        high: Largest possible value.
        linear: Whether every level's average message is a linear function of the value.
    """

    moments: Moments
    epsilons: Floats
    counts: Floats
    low: float
    high: float
    linear: bool

    def level(self, index: int) -> "Channel":
        """Returns the people of one level alone."""
        one = slice(index, index + 1)
        return replace(self, epsilons=self.epsilons[one], counts=self.counts[one])

    @property
    def num_users(self) -> int:
        """How many people there are."""
        return int(self.counts.sum())

    def average(self, values: Floats) -> Floats:
        """Returns h, shape (values,)."""
        total = np.zeros(values.size)
        for start in range(0, self.epsilons.size, _BATCH):
            part = slice(start, start + _BATCH)
            mean, _ = self.moments(self.epsilons[part], values)
            total += self.counts[part] @ mean
        averaged: Floats = total / self.counts.sum()
        return averaged

    def slopes(self, value: float) -> Floats:
        """Returns the derivative of every level's m at a value, shape (levels,)."""
        # Halves, as the length of the range may exceed the largest number.
        step = 2e-4 * (self.high / 2.0 - self.low / 2.0)
        at = min(max(value, self.low + step), self.high - step)
        mean, _ = self.moments(self.epsilons, np.array([at - step, at + step]))
        slopes: Floats = (mean[:, 1] - mean[:, 0]) / (2.0 * step)
        return slopes

    def slope(self) -> float:
        """Returns the slope of h from one end of the range to the other.

        Raises:
            InvalidInputError: If it is next to nothing: messages carry no information.
        """
        ends = self.average(np.array([self.low, self.high]))
        slope = float(ends[1] - ends[0]) / 2.0 / (self.high / 2.0 - self.low / 2.0)
        # Below this, the rounding of the devices' coins is as large as the signal.
        if not slope > 1e-9:
            raise InvalidInputError(
                "Expected privacy budgets well above 0: messages at level 0 are nothing "
                "but noise and cannot be analyzed on their own."
            )
        return slope

    def solve(self, average: float) -> float:
        """Returns the x with h(x) = average; beyond the range h goes on straight.

        It does so with its slope across the range: Clip-Laplace's has none at the ends,
        and the least noise would carry the estimate away.
        """
        ends = self.average(np.array([self.low, self.high]))
        for end, value in zip((self.low, self.high), ends.tolist(), strict=True):
            if (average - value) * (1.0 if end == self.high else -1.0) >= 0.0:
                return float(end + (average - value) / self.slope())
        if self.linear:
            return float(np.interp(average, ends, [self.low, self.high]))

        def excess(tried: float) -> float:
            return float(self.average(np.array([tried]))[0]) - average

        return float(brentq(excess, self.low, self.high, xtol=1e-14, rtol=1e-14))

    def variance(
        self, value: float, spread: float | None, *, solved: bool = True
    ) -> float:
        """Returns the variance of an estimate by `solve`, given the values.

        Args:
            value: Their mean.
            spread: Their standard deviation, or None for whatever makes it largest.
            solved: Whether the mean comes from `solve`, or is the true one, next to which
                the solution may lie.
        """
        if spread is None:
            # Where messages do not follow values straight, either end may be it.
            most = self.high / 2.0 - self.low / 2.0
            return max(self.variance(value, 0.0), self.variance(value, most))
        n = self.num_users
        held, parts = _two_values(value, spread, self.low, self.high)
        mean, noise = self.moments(self.epsilons, held)
        share = self.counts / n
        drawn = float(share @ noise @ parts)
        # Who happens to have chosen which level: a random matching of slopes and values.
        tilt = (mean[:, 1] - mean[:, 0]) * float(parts.prod()) ** 0.5
        tilt = tilt - share @ tilt
        matching = float(share @ tilt**2) * n / max(n - 1, 1)
        if not (solved or self.linear):
            value = self.solve(float(share @ mean @ parts))
        return self.deviation(value, ((drawn + matching) / n) ** 0.5) ** 2

    def deviation(self, value: float, noise: float) -> float:
        """Returns by how much noise of the average message moves the solution.

        Args:
            value: Where the solution is.
            noise: Standard deviation of the average message.
        """
        slope = self.slope()
        if self.linear:
            return noise / slope
        # Not by the slope at the value, which may change within the noise.
        inside = min(max(value, self.low), self.high)
        centre = float(self.average(np.array([inside]))[0]) + slope * (value - inside)
        return (self.solve(centre + noise) - self.solve(centre - noise)) / 2.0

    def bias_limit(self, average: float) -> float:
        """Returns how far the average estimate can be from the mean of the values.

        Values whose average message is a given one have their mean between the convex and
        the concave envelope of the inverse of h, at that average.
        """
        if self.linear:
            return 0.0
        values = np.linspace(self.low, self.high, _GRID)
        messages = self.average(values)
        span = self.high - self.low
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
    error = channel.variance(value, spread)
    # Messages of a random sample of people are a random sample of messages; only what the
    # fixed numbers of people per level take away from their variance is known.
    means, _ = channel.moments(
        channel.epsilons, np.array([np.clip(value, channel.low, channel.high)])
    )
    share = channel.counts / n
    between = float(share @ (means[:, 0] - share @ means[:, 0]) ** 2)
    sampled = channel.deviation(value, (max(variance - between, 0.0) / n) ** 0.5) ** 2
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


def _two_values(
    mean: float, spread: float, low: float, high: float
) -> tuple[Floats, Floats]:
    """Returns two values of that mean and standard deviation, and the share of each.

    They are as far from the mean as the range allows, where it does not allow both to be
    `spread` away; a spread that no values of this mean can have is cut down.
    """
    below, above = max(mean - low, 0.0), max(high - mean, 0.0)
    if not (below and above and spread):
        at = min(max(mean, low), high)
        return np.array([at, at]), np.array([0.5, 0.5])
    spread = min(spread, below**0.5 * above**0.5)
    down = up = spread
    if down > below:
        down, up = below, min(spread * (spread / below), above)
    elif up > above:
        down, up = min(spread * (spread / above), below), above
    shares = np.array([up, down]) / (down + up)
    return np.array([mean - down, mean + up]), shares


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
