"""Errors of a mean to expect before anything is collected, for values from -1 to 1."""

import numpy as np

from shuffledp.analyzer.channel import Channel
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.number_range import half_range
from shuffledp.types import Mode


def expected_error(channel: Channel, mode: Mode, value: float, spread: float) -> float:
    """Returns the standard error to expect.

    Args:
        channel: How messages depend on values from -1 to 1.
        mode: Of the collection.
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
    if mode == "agnostic":
        # From the true mean: the solution of a curved channel differs from it.
        return float(channel.variance(value, spread, solved=False) ** 0.5)
    # Stratified: levels are estimated apart and weighted by their shares of people.
    share = channel.counts / channel.num_users
    parts = [
        channel.level(index).variance(value, spread, solved=False)
        for index in range(channel.counts.size)
    ]
    return float((share**2 @ np.array(parts)) ** 0.5)


def expected_bias(channel: Channel, mode: Mode, value: float) -> float:
    """Returns the bias limit to expect if all values equal this one; 0 if unbiased."""
    value_array = np.array([value])
    if mode == "agnostic":
        return channel.bias_limit(float(channel.average(value_array)[0]))
    limits = [
        level.bias_limit(float(level.average(value_array)[0]))
        for level in map(channel.level, range(channel.counts.size))
    ]
    return float(channel.counts @ np.array(limits)) / channel.num_users


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
