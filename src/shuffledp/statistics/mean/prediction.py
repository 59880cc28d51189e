"""Errors of a mean to expect before anything is collected, for values from -1 to 1."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.analyzer.channel import Channel
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.number_range import half_range
from shuffledp.types import Floats, Mode


@dataclass(frozen=True, eq=False)
class MeanPrediction:
    """Errors to expect of one population's mean, at any values.

    Attributes:
        channel: How messages depend on values from -1 to 1.
        mode: Of the collection.
    """

    channel: Channel
    mode: Mode

    def error(self, value: float, spread: float) -> float:
        """Returns the standard error to expect.

        Args:
            value: Mean of the values.
            spread: Their standard deviation.

        Raises:
            InvalidInputError: If no values of this mean have this spread.
        """
        # Rounding aside, a mean near an end leaves no room for a large spread.
        if spread**2 > (1.0 - value) * (1.0 + value) + 1e-9:
            raise InvalidInputError(
                "Expected a spread that values of this mean can have in the range."
            )
        # From the true mean: the solution of a curved channel differs from it.
        variances = [
            channel.variance(value, spread, solved=False) for channel in self._channels
        ]
        return float((self._shares**2 @ np.array(variances)) ** 0.5)

    def bias(self, value: float) -> float:
        """Returns the bias limit to expect if all values equal this one; 0 if unbiased."""
        values = np.array([value])
        limits = [
            channel.bias_limit(float(channel.average(values)[0]))
            for channel in self._channels
        ]
        return float(self._shares @ np.array(limits))

    @functools.cached_property
    def _channels(self) -> Sequence[Channel]:
        """What is solved: if stratified, each level apart, weighted by its share."""
        if self.mode == "agnostic":
            return [self.channel]
        return [self.channel.level(index) for index in range(self.channel.counts.size)]

    @functools.cached_property
    def _shares(self) -> Floats:
        people = np.array([float(channel.num_users) for channel in self._channels])
        return people / float(self.channel.num_users)


def check_spread(spread: float | None, low: float, high: float) -> float | None:
    """Returns the spread, which cannot exceed half the range."""
    if spread is None:
        return None
    spread_value = as_number(spread, "spread")
    if not 0.0 <= spread_value <= half_range(low, high):
        raise InvalidInputError(
            f"Expected a spread from 0 to {half_range(low, high):g}, half the range of "
            f"the values; got {spread_value:g}."
        )
    return spread_value
