"""The channel of messages about numbers: their average as a function of a common value.

The average message of people who all hold x is

    h(x) = sum_j share_j m_j(x),

m_j the mean of a message at level j. An estimate solves h(x) = average; its variance
follows from those of the messages and the slope of h, and where h is curved, it is biased.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats

# (levels, values) -> means and variances of messages, both of shape (levels, values).
Moments: TypeAlias = Callable[[Floats, Floats], tuple[Floats, Floats]]

# Number of values at which a curved h is evaluated for its bias, and to begin solutions.
_GRID = 257
# Levels per batch, to bound the memory of temporaries.
_BATCH = 1 << 14


@dataclass(frozen=True, eq=False)
class Channel:
    """Moments of messages at all levels, and estimates of values from them.

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
        level = slice(index, index + 1)
        return replace(self, epsilons=self.epsilons[level], counts=self.counts[level])

    @property
    def num_users(self) -> int:
        """The number of people."""
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
        # A central difference inside the range. Halves, as the length of the range may
        # exceed the largest number.
        step = 2e-4 * (self.high / 2.0 - self.low / 2.0)
        middle_value = min(max(value, self.low + step), self.high - step)
        mean, _ = self.moments(
            self.epsilons, np.array([middle_value - step, middle_value + step])
        )
        slopes: Floats = (mean[:, 1] - mean[:, 0]) / (2.0 * step)
        return slopes

    def slope(self) -> float:
        """Returns the slope of h from one end of the range to the other.

        Raises:
            InvalidInputError: If it is below 1e-9: messages carry no information.
        """
        ends = self._ends
        slope = float(ends[1] - ends[0]) / 2.0 / (self.high / 2.0 - self.low / 2.0)
        # Below this, rounding of devices' probabilities is as large as the signal.
        if not slope > 1e-9:
            raise InvalidInputError(
                "Expected privacy budgets well above 0: messages at level 0 are nothing "
                "but noise and cannot be analyzed on their own."
            )
        return slope

    def solve(self, average: float) -> float:
        """Returns the x with h(x) = average; h is extrapolated linearly."""
        # With the slope across the whole range: the derivative of Clip-Laplace's h is 0 at
        # the ends, and the least noise would carry the estimate away.
        ends = self._ends
        for end, value in zip((self.low, self.high), ends.tolist(), strict=True):
            if (average - value) * (1.0 if end == self.high else -1.0) >= 0.0:
                return float(end + (average - value) / self.slope())
        if self.linear:
            return float(np.interp(average, ends, [self.low, self.high]))

        # Imported on use: optimization takes long to load.
        from scipy.optimize import brentq

        values, messages = np.array([self.low, self.high]), ends
        if self.epsilons.size <= _BATCH:
            values, messages = self._grid
        above = min(max(int(np.searchsorted(messages, average)), 1), values.size - 1)
        # Of one number an average may be rounded otherwise than of many together, and the
        # ends would no longer lie on both sides.
        start, end = values[above - 1 : above + 1].tolist()
        known = {start: float(messages[above - 1]), end: float(messages[above])}

        def excess(tried: float) -> float:
            if tried in known:
                return known[tried] - average
            return float(self.average(np.array([tried]))[0]) - average

        return float(brentq(excess, start, end, xtol=1e-14, rtol=1e-14))

    @functools.cached_property
    def _ends(self) -> Floats:
        """Averages at both ends of the range, shape (2,)."""
        return self.average(np.array([self.low, self.high]))

    @functools.cached_property
    def _grid(self) -> tuple[Floats, Floats]:
        """Values across the range, and the averages there."""
        values = np.linspace(self.low, self.high, _GRID)
        messages = self.average(values)
        messages[[0, -1]] = self._ends
        return values, messages

    def variance(
        self, value: float, spread: float | None, *, solved: bool = True
    ) -> float:
        """Returns the variance of an estimate by `solve`, given the values.

        Args:
            value: Their mean.
            spread: Their standard deviation, or None for the one of largest variance.
            solved: Whether the mean comes from `solve`, or is the true one, from which
                the solution may differ.
        """
        if spread is None:
            # Of a curved h, either end may have the larger variance.
            maximum = self.high / 2.0 - self.low / 2.0
            return max(self.variance(value, 0.0), self.variance(value, maximum))
        n = self.num_users
        # Of all values with this mean and spread, two stand for the distribution.
        values, parts = _two_values(value, spread, self.low, self.high)
        mean, noise = self.moments(self.epsilons, values)
        share = self.counts / n
        drawn = float(share @ noise @ parts)
        # Levels are a random matching with values: its variance is that of the slopes.
        tilt = (mean[:, 1] - mean[:, 0]) * float(parts.prod()) ** 0.5
        tilt = tilt - share @ tilt
        matching = float(share @ tilt**2) * n / max(n - 1, 1)
        if not (solved or self.linear):
            value = self.solve(float(share @ mean @ parts))
        return self.deviation(value, ((drawn + matching) / n) ** 0.5) ** 2

    def deviation(self, value: float, noise: float) -> float:
        """Returns the standard deviation of the solution.

        Args:
            value: The solution.
            noise: Standard deviation of the average message.
        """
        slope = self.slope()
        if self.linear:
            return noise / slope
        # Not by the derivative at the value, which may change within the noise.
        inside = min(max(value, self.low), self.high)
        center = float(self.average(np.array([inside]))[0]) + slope * (value - inside)
        return (self.solve(center + noise) - self.solve(center - noise)) / 2.0

    def bias_limit(self, average: float) -> float:
        """Returns an upper bound of the bias: |average estimate - mean of the values|."""
        # Values of a given average message have their mean between the convex and the
        # concave envelope of the inverse of h, at that average.
        if self.linear:
            return 0.0
        values, messages = self._grid
        span = self.high - self.low
        minimum = np.interp(average, *_hull(messages, values))
        maximum = -np.interp(average, *_hull(messages, -values))
        solved = np.interp(average, messages, values)
        # Margin for interpolation: between grid points h is linear to second order.
        return float(max(maximum - solved, solved - minimum)) + 1e-5 * span


def _two_values(
    mean: float, spread: float, low: float, high: float
) -> tuple[Floats, Floats]:
    """Returns two values of that mean and standard deviation, and the share of each."""
    below, above = max(mean - low, 0.0), max(high - mean, 0.0)
    if not (below and above and spread):
        clipped_mean = min(max(mean, low), high)
        return np.array([clipped_mean, clipped_mean]), np.array([0.5, 0.5])
    # The largest deviation that values in the range can have at this mean.
    spread = min(spread, below**0.5 * above**0.5)
    # Both are `spread` away from the mean, unless an end of the range is nearer.
    down = up = spread
    if down > below:
        down, up = below, min(spread * (spread / below), above)
    elif up > above:
        down, up = min(spread * (spread / above), below), above
    shares = np.array([up, down]) / (down + up)
    return np.array([mean - down, mean + up]), shares


def _hull(at: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Returns the corners of the lower convex hull of points in ascending order."""
    # Andrew's monotone chain: a corner above the line of its neighbors is dropped.
    corners: list[int] = []
    for index in range(at.size):
        while len(corners) > 1:
            corner, middle = corners[-2], corners[-1]
            rise = (values[index] - values[corner]) * (at[middle] - at[corner])
            if (values[middle] - values[corner]) * (at[index] - at[corner]) < rise:
                break
            corners.pop()
        corners.append(index)
    return at[corners], values[corners]
